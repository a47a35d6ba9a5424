"""In a pod, the observer is its service account: the cluster's authority, and a token that the kubelet replaces."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from function.apiserver import client as clients
from function.apiserver import credentials
from function.observe import kinds, once
from tests.support.api_server_standin import CORE, DRA, ApiServer, serving
from tests.support.observed import node


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """An API server, and the files and variables that its pods have."""
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.crt")
    with serving(ApiServer(), context) as server:
        server.serve(f"{CORE}/nodes", node("a"))
        for path in (f"{CORE}/pods", f"{DRA}/resourceslices", f"{DRA}/resourceclaims", f"{DRA}/deviceclasses"):
            server.serve(path)
        (tmp_path / "token").write_text(f"{server.token}\n")
        (tmp_path / "namespace").write_text("modelplane-system")
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", server.url.rpartition(":")[2])
        yield server


def test_a_pod_reads_with_its_token_and_its_clusters_authority(api: ApiServer, tmp_path: Path) -> None:
    async def story() -> None:
        async with credentials.in_cluster(str(tmp_path)).client as client:
            seen = await once.see(client)
            assert ([one.name for one in seen.snapshot.nodes], seen.missing) == (["a"], ())

    asyncio.run(story())


def test_a_token_that_is_replaced_is_read_again(api: ApiServer, tmp_path: Path) -> None:
    async def story() -> None:
        async with credentials.in_cluster(str(tmp_path)).client as client:
            await clients.get(client, kinds.NODES, {})
            api.token = "the next token"
            (tmp_path / "token").write_text(api.token)
            await clients.get(client, kinds.NODES, {})

    asyncio.run(story())


def test_a_server_of_another_authority_is_not_trusted(api: ApiServer, tmp_path: Path) -> None:
    trustme.CA().cert_pem.write_to_path(tmp_path / "ca.crt")

    async def story() -> None:
        async with credentials.in_cluster(str(tmp_path)).client as client:
            with pytest.raises(clients.NoAnswer, match="CERTIFICATE_VERIFY_FAILED"):
                await clients.get(client, kinds.NODES, {})

    asyncio.run(story())


@pytest.mark.parametrize("missing", ["token", "namespace", "ca.crt"])
def test_a_pod_without_a_service_account_says_so(api: ApiServer, tmp_path: Path, missing: str) -> None:
    (tmp_path / missing).unlink()

    with pytest.raises(credentials.UnusableCredentials, match="no pod with a service account"):
        credentials.in_cluster(str(tmp_path))
