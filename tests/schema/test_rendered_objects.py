"""Every rendered object of every golden case, against the real schemas and the rules that no schema holds."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from function.core import dig, plain
from function.vocabulary import labels, names
from tests.support import foreign
from tests.support.cases import CASES, answer, documents, each_case
from tests.support.rendered import Manifest, containers, pod, remote, templates

DNS_1035 = re.compile("[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
OURS = ("modelplane.ai/", "infrastructure.modelplane.ai/")


# Schemas


@each_case
def test_its_api_server_takes_every_object(case: Path) -> None:
    """Of our own kinds the XRDs are checked elsewhere. What a case gives in part is restated in part."""
    composed = [plain(r.manifest) for r in answer(case).resources.values() if "spec" in r.manifest]
    foreign_ones = [m for m in composed if not m["apiVersion"].startswith(OURS)]
    found = {str(_who(m)): problems for m in foreign_ones if (problems := foreign.problems(m))}
    assert found == {}


@each_case
def test_its_cluster_takes_every_manifest(case: Path) -> None:
    found = {_who(m): problems for m in remote(answer(case).resources) if (problems := foreign.problems(m))}
    assert found == {}


@each_case
def test_every_member_of_a_gang_is_a_pod(case: Path) -> None:
    """Neither the CRD of LeaderWorkerSet nor its webhook reads the templates (lws v0.8, tried)."""
    found = {
        _who(manifest): problems
        for manifest in remote(answer(case).resources)
        for template in templates(manifest)
        if (problems := foreign.problems(pod(template)))
    }
    assert found == {}


BROKEN: dict[str, tuple[Manifest, str]] = {
    "unknown field": (
        {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "spec": {"replica": 1}},
        "replica",
    ),
    "unknown built-in field": (
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"port": 1}},
        "port",
    ),
    "broken rule": (
        {
            "apiVersion": "inference.networking.k8s.io/v1",
            "kind": "InferencePool",
            "spec": {
                "selector": {"matchLabels": {"a": "b"}},
                "targetPorts": [{"number": 1}],
                "endpointPickerRef": {"name": "x"},
            },
        },
        "port",
    ),
    "path with two slashes": (
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "spec": {"rules": [{"matches": [{"path": {"value": "/a//b"}}]}]},
        },
        "//",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_found(name: str) -> None:
    """The checks themselves."""
    manifest, said = BROKEN[name]
    assert said in " ".join(foreign.problems(manifest))


# Rules that no schema holds


@each_case
def test_names_are_what_their_kind_wants(case: Path) -> None:
    """RFC 1035 for Services and LeaderWorkerSets, and short enough for a gang's pods to come."""
    strict = [m for m in remote(answer(case).resources) if m["kind"] in ("Service", "LeaderWorkerSet")]
    longest = {"Service": names.DNS_LABEL, "LeaderWorkerSet": names.LEADERWORKERSET}
    bad = [
        m["metadata"]["name"]
        for m in strict
        if not DNS_1035.fullmatch(m["metadata"]["name"]) or len(m["metadata"]["name"]) > longest[m["kind"]]
    ]
    assert bad == []


@each_case
def test_selectors_find_their_own_pods(case: Path) -> None:
    for manifest in remote(answer(case).resources):
        if manifest["kind"] == "Deployment":
            pods = manifest["spec"]["template"]["metadata"]["labels"]
            assert manifest["spec"]["selector"]["matchLabels"].items() <= pods.items(), _who(manifest)


@each_case
def test_services_find_pods_that_listen(case: Path) -> None:
    """By the name of their port, or by a number that they declare."""
    manifests = remote(answer(case).resources)
    pods = [template for manifest in manifests for template in templates(manifest)]
    for service in (m for m in manifests if m["kind"] == "Service" and m.get("spec", {}).get("selector")):
        found = [p for p in pods if service["spec"]["selector"].items() <= p["metadata"]["labels"].items()]
        assert found, _who(service)
        for target in (port["targetPort"] for port in service["spec"]["ports"]):
            assert all(target in _listening(template) for template in found), _who(service)


@each_case
def test_pools_find_pods_that_listen(case: Path) -> None:
    manifests = remote(answer(case).resources)
    pods = [template for manifest in manifests for template in templates(manifest)]
    for pool in (m for m in manifests if m["kind"] == "InferencePool"):
        chosen = pool["spec"]["selector"]["matchLabels"]
        found = [p for p in pods if chosen.items() <= p["metadata"]["labels"].items()]
        port = pool["spec"]["targetPorts"][0]["number"]
        assert {p["metadata"]["labels"][labels.LLMD_ROLE] for p in found} >= {"prefill"}, _who(pool)
        assert all(port in _listening(template) for template in found), _who(pool)


@each_case
def test_workers_serve_only_where_their_user_says_so(case: Path) -> None:
    [xr] = documents(case / "xr.yaml")
    engines = dig(xr, "spec", "engines") or ()
    members = [m for engine in engines if isinstance(engine, dict) for m in engine.get("members", ())]
    serve = any(dig(member, "worker", "serves") for member in members)
    for manifest in remote(answer(case).resources):
        if manifest["kind"] == "LeaderWorkerSet":
            worker = manifest["spec"]["leaderWorkerTemplate"]["workerTemplate"]
            assert (labels.SERVING in worker["metadata"]["labels"]) == serve
            assert bool([c for c in containers(worker) if "readinessProbe" in c or "ports" in c]) == serve


@each_case
def test_mounts_have_volumes_and_volumes_mounts(case: Path) -> None:
    for template in _templates(case):
        mounted = {m["name"] for c in containers(template) for m in c.get("volumeMounts", ())}
        assert mounted == {v["name"] for v in template["spec"].get("volumes", ())}


@each_case
def test_containers_claim_what_their_pod_claims_and_templates_say(case: Path) -> None:
    manifests = remote(answer(case).resources)
    there = {m["metadata"]["name"] for m in manifests if m["kind"] == "ResourceClaimTemplate"}
    for template in _templates(case):
        claimed = {c["name"] for k in containers(template) for c in k.get("resources", {}).get("claims", ())}
        pod_claims = template["spec"].get("resourceClaims", ())
        assert claimed == {c["name"] for c in pod_claims}
        assert {c["resourceClaimTemplateName"] for c in pod_claims} <= there


@each_case
def test_probes_ask_ports_that_are_declared(case: Path) -> None:
    for template in _templates(case):
        for container in containers(template):
            asked = {_probed(v) for k, v in container.items() if k.endswith("Probe")} - {None}
            assert asked <= {p["containerPort"] for p in container.get("ports", ())}, container["name"]


@each_case
def test_no_variable_is_set_twice(case: Path) -> None:
    for template in _templates(case):
        for container in containers(template):
            counted = Counter(v["name"] for v in container.get("env", ()))
            assert [name for name, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("case", [c for c in CASES if c.parent.name == "modelreplica"], ids=lambda path: path.name)
def test_no_two_objects_of_a_replica_hold_one_thing(case: Path) -> None:
    held = Counter(_who(m) for m in remote(answer(case).resources))
    assert [who for who, count in held.items() if count > 1] == []


def _templates(case: Path) -> list[Manifest]:
    return [template for manifest in remote(answer(case).resources) for template in templates(manifest)]


def _listening(template: Manifest) -> set[Any]:
    ports = [port for container in containers(template) for port in container.get("ports", ())]
    return {p.get("name") for p in ports} | {p["containerPort"] for p in ports}


def _probed(probe: Manifest) -> int | None:
    return next((probe[how]["port"] for how in ("httpGet", "tcpSocket", "grpc") if how in probe), None)


def _who(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    return f"{manifest['kind']} {metadata.get('namespace', '')}/{metadata['name']}"
