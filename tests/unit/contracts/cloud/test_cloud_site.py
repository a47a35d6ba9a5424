"""Names of a cloud's resources, and what was observed of them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.contracts.cloud.blocks import Credentials
from function.contracts.cloud.site import Site
from function.core import InvalidSpec, Request, dig
from function.manifests import provider
from function.vocabulary import crossplane
from function.vocabulary.charts import Chart
from tests.support import foreign
from tests.support.skycloud import NET, PROVIDER, made, xr

LABEL = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


def site(observed: dict[str, Any] | None = None, cluster: str = "prod", **metadata: Any) -> Site:
    composite = xr()
    composite["metadata"] |= metadata
    credentials = Credentials(type="ProviderConfig", name="ours")
    return Site(Request(xr=composite, observed=observed or {}), cluster, credentials)


def net(name: str = "prod-net-0", external: str | None = None, **parameters: Any) -> dict[str, Any]:
    annotations = {"annotations": {crossplane.EXTERNAL_NAME: external}} if external is not None else {}
    manifest = {"apiVersion": PROVIDER, "kind": "Net", "metadata": {"name": name, **annotations}}
    return made({**manifest, "spec": {"forProvider": parameters}}, at={"id": "n-1", "subnets": [{"id": "s-1"}]})


# Names


def test_a_name_depends_on_the_composite_its_uid_and_the_key() -> None:
    assert site().name("net") == site().name("net")
    others = [
        site().name("net-a"),
        site(uid="two").name("net"),
        site(uid=None).name("net"),
        site(name="prod-2").name("net"),
        site(namespace="other").name("net"),
        site(cluster="dev").name("net"),
    ]
    assert len({site().name("net"), *others}) == 1 + len(others)
    assert site().name("net").startswith("prod-net-")


def test_long_keys_that_begin_alike_have_names_of_their_own() -> None:
    keys = [f"{'k' * 60}-{end}" for end in ("a", "b")]

    assert len({site().name(key) for key in keys}) == len({site().cloud_name(key, longest=20) for key in keys}) == 2


def test_what_exists_keeps_its_name_under_another_uid() -> None:
    """As a restored composite has it: the objects that it composed are restored with it."""
    restored = site({"net": net("an-old-name")}, uid="another")

    assert (restored.name("net"), restored.secret("net"), restored.ref("net")) == (
        "an-old-name",
        "an-old-name",
        {"name": "an-old-name"},
    )
    assert restored.refs(["net", "two"]) == [{"name": "an-old-name"}, {"name": restored.name("two")}]


@given(
    cluster=st.from_regex(r"[a-z]([-a-z0-9.]{0,61}[a-z0-9])?", fullmatch=True),
    key=st.from_regex(r"[a-z]([-a-z0-9]{0,60}[a-z0-9])?", fullmatch=True),
    longest=st.integers(16, 63),
)
def test_names_are_labels_however_long_the_cluster_and_the_key_are(cluster: str, key: str, longest: int) -> None:
    names = site(cluster=cluster).name(key), site(cluster=cluster).cloud_name(key, longest=longest)

    assert all(LABEL.fullmatch(name) for name in names)
    assert len(names[1]) <= longest


def test_a_name_in_the_cloud_is_that_which_exists() -> None:
    assert site({"net": net(external="vpc-1")}).cloud_name("net", longest=20) == "vpc-1"
    assert site({"net": net()}).cloud_name("net", longest=20) == site().cloud_name("net", longest=20)


# What was observed


def test_what_is_not_observed_is_none() -> None:
    assert (site().external_name("net"), site().seen("net", "id"), site().written("net", "cidr")) == (None, None, None)


def test_what_is_observed_is_found() -> None:
    here = site({"net": net(external="vpc-1", cidr="10.0.0.0/16")})

    assert (here.external_name("net"), here.seen("net", "id"), here.written("net", "cidr")) == (
        "vpc-1",
        "n-1",
        "10.0.0.0/16",
    )
    assert (here.seen("net", "subnets", 0, "id"), here.seen("net", "subnets", 1, "id")) == ("s-1", None)
    assert site({"net": net(external="")}).external_name("net") is None


# Versions


def version(running: str | None, wanted: str | None) -> str:
    observed = {"net": net(version=running)} if running else {}
    return site(observed).kubernetes_version("net", wanted, "1.36", "version")


@pytest.mark.parametrize(
    ("running", "wanted", "want"),
    [
        (None, None, "1.36"),
        (None, "1.34", "1.34"),
        ("1.35", None, "1.35"),
        ("1.35", "1.35", "1.35"),
        ("1.35.4-gke.10", "1.35", "1.35.4-gke.10"),
        ("1.35.4-gke.10", "1.35.4", "1.35.4-gke.10"),
        ("1.35.4-gke.10", "1.36", "1.36"),
        ("1.35", "1.35.2", "1.35.2"),
        ("v1.36.1+3", "v1.36.2+1", "v1.36.2+1"),
        ("v1.36.1+3", "v1.36.1+4", "v1.36.1+4"),
        ("v1.36.9+3", "v1.37.0+1", "v1.37.0+1"),
        ("1.9", "1.10", "1.10"),
    ],
)
def test_a_cluster_has_the_wanted_version_and_keeps_its_own_otherwise(
    running: str | None, wanted: str | None, want: str
) -> None:
    assert version(running, wanted) == want


@pytest.mark.parametrize(
    ("running", "wanted"),
    [
        ("1.35", "1.37"),
        ("1.35", "1.34"),
        ("1.35.4", "1.35.3"),
        ("v1.36.1+3", "v1.36.1+2"),
        ("v1.36.1+3", "v1.35.9+9"),
    ],
)
def test_a_version_that_skips_one_or_goes_back_is_refused(running: str, wanted: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        version(running, wanted)

    assert str(refused.value.condition.message).startswith(
        f"spec.kubernetesVersion: the cluster runs {running}, which is upgraded one minor version at a time and never"
        f" back, not to {wanted}"
    )


# What is written


def written(**more: Any) -> dict[str, Any]:
    return dict(site().resource("net", NET, {"cidr": "a"}, **more).manifest or {})


def test_a_managed_resource_has_no_more_than_is_asked_for() -> None:
    assert written() == {
        "apiVersion": PROVIDER,
        "kind": "Net",
        "metadata": {
            "name": site().name("net"),
            "namespace": "modelplane-system",
            "labels": {"modelplane.ai/cluster": "prod"},
        },
        "spec": {"providerConfigRef": {"kind": "ProviderConfig", "name": "ours"}, "forProvider": {"cidr": "a"}},
    }


def test_what_is_only_initial_is_never_completed_by_the_provider() -> None:
    scaled = written(init_provider={"size": 1})["spec"]

    assert (scaled["initProvider"], scaled["managementPolicies"]) == (
        {"size": 1},
        ["Observe", "Create", "Update", "Delete"],
    )
    assert written(init_provider={})["spec"] == written()["spec"]


def test_what_gives_one_field_up_for_another_is_never_completed_by_the_provider() -> None:
    spec = written(late_initialization=False)["spec"]

    assert (spec["managementPolicies"], "initProvider" in spec) == (["Observe", "Create", "Update", "Delete"], False)


def test_texts_that_are_not_secret_are_in_a_secret_of_the_composites_namespace() -> None:
    resource = site().plain_secret("text", {"b": "x", "a": "ü"})

    assert resource.manifest is not None
    assert resource.manifest["data"] == {"a": "w7w=", "b": "eA=="}
    assert resource.manifest["metadata"]["namespace"] == "modelplane-system"
    assert (resource.kind, resource.is_ready_at_once) == (None, True)
    assert foreign.problems(dict(resource.manifest)) == []


def test_a_secret_and_a_name_of_the_cloud_are_asked_for() -> None:
    manifest = written(has_secret=True, external_name="theirs")

    assert manifest["spec"]["writeConnectionSecretToRef"] == {"name": site().secret("net")}
    assert manifest["metadata"]["annotations"] == {crossplane.EXTERNAL_NAME: "theirs"}


def test_what_is_on_the_cluster_is_never_deleted_there() -> None:
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
    chart = Chart(name="csi", repository="https://charts.example.org", version="1.0.0", namespace="a")
    object_ = site().object("ns", manifest, after=["cluster"], readiness_cel="true")
    release = site().release("csi", chart, {"a": 1}, after=["cluster", "ns"])

    for resource in (object_, release):
        assert resource.manifest is not None
        assert resource.manifest["spec"]["managementPolicies"] == list(provider.KEEP_REMOTE)
        assert "Delete" not in provider.KEEP_REMOTE
        assert foreign.problems(dict(resource.manifest)) == []
        assert dig(resource.manifest, "spec", "providerConfigRef", "name") != "ours"
    assert (object_.after, release.after, object_.kind) == (("cluster",), ("cluster", "ns"), None)


def test_what_waits_says_for_what() -> None:
    waiting = site().awaiting("cluster", NET, "the id of the network", after=["net"])

    assert (waiting.manifest, waiting.awaits, waiting.after, waiting.kind) == (
        None,
        "the id of the network",
        ("net",),
        NET,
    )


def test_tags_name_the_cluster() -> None:
    assert site().tags == {"modelplane-cluster": "prod"}
    assert len(site(cluster="a" * 63 + ".b").tags["modelplane-cluster"]) <= 63
