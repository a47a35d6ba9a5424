"""Whatever a replica is made of, its pods fit together in ways that no schema asks for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.core import dig
from function.vocabulary import labels
from tests.properties.test_names_of_replicas import dns_labels, specs, xr_names
from tests.support import replicas
from tests.support.rendered import containers, remote, templates

Manifest = dict[str, Any]


@pytest.mark.slow
@given(xr_names, dns_labels, specs(), st.booleans())
def test_pods_fit_together(name: str, namespace: str, spec: dict[str, Any], cached: bool) -> None:
    """What is mounted, claimed, probed and selected is there, and what is there is used."""
    weights = {"modelCacheRef": {"name": "weights"}} if cached else {}
    cache = replicas.cache(staged="9c925d64")
    cache["metadata"]["namespace"] = namespace
    xr = replicas.replica(name=name, namespace=namespace, **spec, **weights)
    result = replicas.compose(xr, *([cache] if cached else []))

    manifests = remote(result.resources)
    assert [fault for manifest in manifests for fault in _faults(manifest, manifests)] == []


def _faults(manifest: Manifest, there: list[Manifest]) -> Iterator[str]:
    who = f"{manifest['kind']} {manifest['metadata']['name']}"
    for template in templates(manifest):
        yield from (f"{who}: {fault}" for fault in _of_a_pod(template, there))
    chosen = dig(manifest, "spec", "selector", "matchLabels")
    if manifest["kind"] == "Deployment" and not chosen.items() <= _labels(manifest["spec"]["template"]).items():
        yield f"{who}: does not select its own pods"
    if manifest["kind"] == "Service":
        yield from _of_a_way(who, manifest["spec"]["selector"], manifest["spec"]["ports"][0]["targetPort"], there)
    if manifest["kind"] == "InferencePool":
        yield from _of_a_way(who, chosen, manifest["spec"]["targetPorts"][0]["number"], there)
    if manifest["kind"] == "LeaderWorkerSet":
        worker = manifest["spec"]["leaderWorkerTemplate"]["workerTemplate"]
        if labels.SERVING in _labels(worker) or any("ports" in one for one in containers(worker)):
            yield f"{who}: workers serve"


def _of_a_pod(template: Manifest, there: list[Manifest]) -> Iterator[str]:
    spec, every = template["spec"], containers(template)
    mounted = {mount["name"] for one in every for mount in one.get("volumeMounts", ())}
    if mounted != {volume["name"] for volume in spec.get("volumes", ())}:
        yield "mounts are not its volumes"
    claimed = {claim["name"] for one in every for claim in one.get("resources", {}).get("claims", ())}
    claims = spec.get("resourceClaims", ())
    if claimed != {claim["name"] for claim in claims}:
        yield "containers claim what the pod does not"
    made = {one["metadata"]["name"] for one in there if one["kind"] == "ResourceClaimTemplate"}
    if not {claim["resourceClaimTemplateName"] for claim in claims} <= made:
        yield "it claims by a template that is not there"
    for one in every:
        ports = {port["containerPort"] for port in one.get("ports", ())}
        if not {port for key, probe in one.items() if key.endswith("Probe") for port in _asked(probe)} <= ports:
            yield f"{one['name']} is probed where it does not listen"
        if max(Counter(variable["name"] for variable in one.get("env", ())).values(), default=1) > 1:
            yield f"{one['name']} has a variable twice"


def _of_a_way(who: str, selector: dict[str, str], target: str | int, there: list[Manifest]) -> Iterator[str]:
    pods = [template for one in there for template in templates(one) if selector.items() <= _labels(template).items()]
    if not pods:
        yield f"{who}: selects no pod"
    for pod in pods:
        ports = [port for one in containers(pod) for port in one.get("ports", ())]
        if sum(target in (port.get("name"), port["containerPort"]) for port in ports) != 1:
            yield f"{who}: a pod that it selects does not listen on {target}, or twice"


def _asked(probe: Manifest) -> Iterator[int]:
    yield from (probe[how]["port"] for how in ("httpGet", "tcpSocket", "grpc") if how in probe)


def _labels(template: Manifest) -> dict[str, str]:
    found: dict[str, str] = template["metadata"]["labels"]
    return found


BREAKS: dict[str, tuple[str, str]] = {
    "a volume of another name": ('"volumes": [{"name": "shm"', '"volumes": [{"name": "other"'),
    "a claim of another name": ('"resourceClaims": [{"name": "devices"', '"resourceClaims": [{"name": "other"'),
    "a template that is not there": ('"resourceClaimTemplateName": "', '"resourceClaimTemplateName": "not-'),
    "a probe of another port": ('"httpGet": {"path": "/health", "port": 8000}', '"tcpSocket": {"port": 1}'),
    "a service of another port": ('"targetPort": "http"', '"targetPort": "https"'),
    "pods that a service does not find": (f'"{labels.SERVING}": "qwen', f'"{labels.SERVING}": "other'),
    "pods that are not their own": (f'"labels": {{"{labels.WORKLOAD}": "', f'"labels": {{"{labels.WORKLOAD}": "other'),
    "a variable that is there twice": ('"env": [', '"env": [{"name": "MODELPLANE_PORT", "value": "1"}, '),
}


@pytest.mark.parametrize(("old", "new"), BREAKS.values(), ids=BREAKS)
def test_what_does_not_fit_is_found(old: str, new: str) -> None:
    """Otherwise the law above would say nothing."""
    sound = remote(replicas.compose(replicas.replica()).resources)
    text = json.dumps(sound)
    assert old in text
    broken = json.loads(text.replace(old, new, 1))
    assert [fault for one in sound for fault in _faults(one, sound)] == []
    assert [fault for one in broken for fault in _faults(one, broken)] != []
