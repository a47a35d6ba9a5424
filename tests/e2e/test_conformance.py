"""Everything that we compose is accepted, strictly, by the API servers that it is meant for.

A dry run checks what no schema of ours knows: whole CRDs with their rules and costs, Kubernetes' own validation of pods
and claims, admission.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from function.core import Manifest, plain
from tests.e2e import objects
from tests.e2e.control import Control
from tests.e2e.kube import Api, Object, Refused
from tests.support.cases import answer, each_case, load

OBJECT = "Object"
CREATES = {"*", "Create"}  # without either, the provider only looks at what others made, or deletes it
LWS = "LeaderWorkerSet"
PRIORITY = "scheduling.k8s.io/v1"


@each_case
def test_what_goes_to_an_inference_cluster_is_accepted_there(cluster: Api, case: Path) -> None:
    manifests = [plain(one) for one in remote(case)]

    assert [refusal for one in manifests for refusal in refusals(cluster, one)] == []


@each_case
def test_what_is_composed_on_the_control_cluster_is_accepted_there(crossplane: Control, case: Path) -> None:
    manifests = [plain(one) for one in composed(case)]

    assert [refusal for one in manifests for refusal in refusals(crossplane.as_crossplane, one)] == []


def composed(case: Path) -> Iterator[Manifest]:
    """What a case composes, without what it only says again: observations may be abbreviated."""
    observed = load(case)[0].observed
    for key, resource in answer(case).resources.items():
        if plain(resource.manifest.get("spec")) != plain(observed.get(key, {}).get("spec")) or key not in observed:
            yield resource.manifest


def remote(case: Path) -> Iterator[Manifest]:
    """What a case's Objects hold, and each template of a LeaderWorkerSet as a pod: nothing else reads those."""
    for one in composed(case):
        if one["kind"] == OBJECT and CREATES & set(one["spec"].get("managementPolicies") or CREATES):
            manifest = one["spec"]["forProvider"]["manifest"]
            yield manifest
            if manifest["kind"] == LWS:
                yield from pods(manifest)


def pods(manifest: Manifest) -> Iterator[Manifest]:
    templates = manifest["spec"]["leaderWorkerTemplate"]
    for name in ("leaderTemplate", "workerTemplate"):
        if name in templates:
            metadata = plain(templates[name].get("metadata", {}))
            metadata |= {"name": "template", "namespace": manifest["metadata"]["namespace"]}
            yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": templates[name]["spec"]}


def refusals(api: Api, manifest: Object) -> Iterator[str]:
    """What the API server says against an object, warnings included."""
    prepare(api, manifest)
    title = f"{manifest['kind']} {manifest['metadata']['name']}"
    try:
        api.create(manifest, dryRun="All")
    except Refused as refused:
        if refused.status != ALREADY_THERE:
            yield f"{title}: {refused}"
            return
    yield from (f"{title}: {warning}" for warning in api.warnings if warning != NO_NEWER_WAY)


ALREADY_THERE = 409
# A load balancer that has only a host name: Kubernetes names no successor, and gateways take no ExternalName Service.
NO_NEWER_WAY = "spec.addressType: FQDN endpoints are deprecated"


def prepare(api: Api, manifest: Object) -> None:
    """What an object stands on, which a dry run leaves no trace of: its namespace, its pods' priority class."""
    namespace = manifest["metadata"].get("namespace")
    if namespace and not api.find("v1", "Namespace", namespace):
        api.apply(objects.namespace(namespace))
    if manifest["kind"] == "Pod" and (name := manifest["spec"].get("priorityClassName")):
        api.apply({"apiVersion": PRIORITY, "kind": "PriorityClass", "metadata": {"name": name}, "value": 1000})


@pytest.mark.parametrize("name", ["modelplane-system", "default"])
def test_the_dry_run_would_notice(cluster: Api, name: str) -> None:
    """A manifest with a misspelt field and a claim that no pod declares is refused: the check is not empty."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bad", "namespace": name},
        "spec": {
            "containers": [{"name": "engine", "image": "x", "resources": {"claims": [{"name": "devices"}]}, "arg": []}]
        },
    }
    [refusal] = refusals(cluster, pod)

    assert "unknown field" in refusal
