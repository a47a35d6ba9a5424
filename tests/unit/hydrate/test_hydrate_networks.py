"""From a closed network: through proxies, and with certificates of an authority of one's own."""

from __future__ import annotations

import base64
import os
import re
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme

from function.hydrate.secrets import redactor
from function.vocabulary.exit_codes import ExitCode
from tests.support import hub_standin, s3_standin
from tests.support.proxy_standin import Proxy, proxying

WEIGHTS = {"config.json": b"{}", "model.safetensors": b"\1" * 300_000}
HOST = "weights.example.test"
AUTHORITY = trustme.CA()


def tls() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    AUTHORITY.issue_cert(HOST, "127.0.0.1").configure_cert(context)
    return context


@contextmanager
def hub(*, is_secure: bool) -> Iterator[tuple[str, list[str], str]]:
    """The URL of a hub, the arguments that name it, and the variable of its endpoint."""
    with hub_standin.serving(hub_standin.Hub(dict(WEIGHTS)), tls() if is_secure else None) as served:
        yield served.url, [f"--repo={hub_standin.REPO}"], "HF_ENDPOINT"


@contextmanager
def store(*, is_secure: bool) -> Iterator[tuple[str, list[str], str]]:
    with s3_standin.serving(s3_standin.Store(dict(WEIGHTS)), tls() if is_secure else None) as served:
        yield served.url, [f"--bucket={s3_standin.BUCKET}"], "AWS_ENDPOINT_URL_S3"


ORIGINS = pytest.mark.parametrize("origin", [hub, store])


def hydrate(home: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "modelplane"
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "HF_HOME": str(home / "hf"), **environment}
    return subprocess.run(
        [str(program), "hydrate", *args, f"--to={home / 'to'}"],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def staged(home: Path) -> dict[str, bytes]:
    return {path: (home / "to" / path).read_bytes() for path in WEIGHTS}


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    path = tmp_path / "ca.crt"
    AUTHORITY.cert_pem.write_to_path(str(path))
    return str(path)


@pytest.mark.slow
@ORIGINS
@pytest.mark.parametrize("is_secure", [False, True])
def test_everything_goes_through_the_proxy_with_its_password(
    tmp_path: Path, bundle: str, origin: type[hub], *, is_secure: bool
) -> None:
    with origin(is_secure=is_secure) as (url, args, variable), proxying(Proxy(url)) as proxy:
        scheme = "https" if is_secure else "http"
        through = proxy.url.replace("//", "//user:p%40ssword@")
        given = {f"{scheme.upper()}_PROXY": f"{through}\n", variable: f"{scheme}://{HOST}"}
        ended = hydrate(tmp_path, *args, f"--ca-bundle={bundle}", **given)

    assert ended.returncode == ExitCode.STAGED, ended.stderr
    assert staged(tmp_path) == WEIGHTS
    assert {asked.partition(" ")[2] for asked in proxy.asked} == {HOST}
    assert proxy.authorized == {f"Basic {base64.b64encode(b'user:p@ssword').decode()}"}
    assert "ssword" not in ended.stdout + ended.stderr


@pytest.mark.slow
@ORIGINS
@pytest.mark.parametrize("is_secure", [False, True])
def test_a_proxy_that_refuses_is_final_and_told_without_its_password(
    tmp_path: Path, bundle: str, origin: type[hub], *, is_secure: bool
) -> None:
    with origin(is_secure=is_secure) as (url, args, variable), proxying(Proxy(url, refuses=True)) as proxy:
        scheme = "https" if is_secure else "http"
        given = {f"{scheme.upper()}_PROXY": proxy.url.replace("//", "//user:wrongword@")}
        ended = hydrate(tmp_path, *args, f"--ca-bundle={bundle}", **given, **{variable: f"{scheme}://{HOST}"})

    assert ended.returncode == ExitCode.PROXY_REFUSED, ended.stderr
    assert "the proxy refuses the connection" in ended.stderr
    assert "wrongword" not in ended.stdout + ended.stderr


@pytest.mark.slow
@ORIGINS
def test_hosts_without_a_proxy_are_reached_directly(tmp_path: Path, origin: type[hub]) -> None:
    with origin(is_secure=False) as (url, args, variable), proxying(Proxy(url, refuses=True)) as proxy:
        given = {"HTTP_PROXY": proxy.url, "NO_PROXY": "other.example.test,127.0.0.1", variable: url}
        ended = hydrate(tmp_path, *args, **given)

    assert ended.returncode == ExitCode.STAGED, ended.stderr
    assert not proxy.asked


@pytest.mark.slow
@ORIGINS
def test_an_authority_that_nobody_knows_is_final_and_told(tmp_path: Path, origin: type[hub]) -> None:
    with origin(is_secure=True) as (url, args, variable):
        ended = hydrate(tmp_path, *args, **{variable: url})

    assert ended.returncode == ExitCode.UNTRUSTED, ended.stderr
    assert "caBundle" in ended.stderr


@pytest.mark.slow
@ORIGINS
def test_an_authority_of_the_bundle_is_trusted(tmp_path: Path, bundle: str, origin: type[hub]) -> None:
    with origin(is_secure=True) as (url, args, variable):
        ended = hydrate(tmp_path, *args, f"--ca-bundle={bundle}", **{variable: url})

    assert ended.returncode == ExitCode.STAGED, ended.stderr


@pytest.mark.slow
def test_the_public_authorities_stay_trusted_beside_the_bundle(tmp_path: Path, bundle: str) -> None:
    """The system's own file is AUTHORITY's here, and the bundle is another's."""
    other = tmp_path / "other.crt"
    trustme.CA().cert_pem.write_to_path(str(other))
    with hub(is_secure=True) as (url, args, variable):
        ended = hydrate(tmp_path, *args, f"--ca-bundle={other}", SSL_CERT_FILE=bundle, **{variable: url})

    assert ended.returncode == ExitCode.STAGED, ended.stderr


@pytest.mark.parametrize(
    "text", ["", "not a certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"]
)
def test_a_bundle_that_holds_no_certificate_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "ca.crt").write_text(text)

    ended = hydrate(tmp_path, "--repo=org/model", f"--ca-bundle={tmp_path / 'ca.crt'}")

    assert ended.returncode == ExitCode.INVALID
    assert "holds no certificates in PEM" in ended.stderr


@pytest.mark.parametrize(
    ("args", "environment", "want"),
    [
        ((), {}, "Set either --repo or --bucket."),
        (("--repo=org/model", "--bucket=models"), {}, "Set either --repo or --bucket."),
        (("--bucket=models",), {"AWS_ACCESS_KEY_ID": "AKIA"}, "Set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_a_command_that_contradicts_itself_is_refused(
    tmp_path: Path, args: tuple[str, ...], environment: dict[str, str], want: str
) -> None:
    ended = hydrate(tmp_path, *args, **environment)

    assert ended.returncode == ExitCode.INVALID
    assert want in ended.stderr


def test_every_exit_code_is_explained(tmp_path: Path) -> None:
    told = hydrate(tmp_path, "--help").stdout

    assert [int(code) for code in ExitCode if not re.search(rf"^ *{int(code)} +\w", told, re.MULTILINE)] == []


def test_secret_values_are_replaced_wherever_they_are_told() -> None:
    told = redactor(
        {
            "HF_TOKEN": "hf_secret",
            "AWS_SECRET_ACCESS_KEY": "a+b/c=",
            "HTTPS_PROXY": "http://user:p%40ss@proxy:3128",
            "HTTP_PROXY": "http://[broken",
            "AWS_SESSION_TOKEN": "abc",
        }
    )

    assert told("hf_secret a+b/c= p%40ss p@ss abc") == "*** *** *** *** abc"
    assert redactor({})("hf_secret") == "hf_secret"


@pytest.mark.parametrize(
    "url",
    [
        "http://user:hunter22@proxy:3128",
        "user:hunter22@proxy:3128",
        "http://hunter22@proxy:3128",
        "http://user:hunter22/more@proxy:3128",
        "http://user:hunter22[more@proxy:3128",
        "http://user:hunter22@more@proxy:3128",
    ],
)
def test_a_password_of_a_proxy_is_not_told_however_it_is_written(url: str) -> None:
    """A client that cannot read a URL may quote the part of it before a slash or a bracket."""
    told = redactor({"HTTPS_PROXY": url})

    assert "hunter" not in told(f"{url}: 'user:hunter22' is no host")
    assert told("a proxy for a user") == "a proxy for a user"
