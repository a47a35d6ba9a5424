"""A plan stages what would be downloaded, and takes claims of others as there."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import Manifest, condition, dig
from function.planning import parts, stubs
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref
from function.vocabulary import names, versions
from tests.support import cache_cases
from tests.support.samples import CACHE, edited, of

CLUSTERS = [
    of(
        "InferenceCluster",
        {
            "cluster": {
                "source": "Existing",
                "existing": {"secretRef": {"name": name}, "cache": {"storageClassName": "nfs"}},
            },
            "nodePools": [{"name": "gpu", "className": "h100", "maxNodeCount": 1}],
        },
        name=name,
        namespace=None,
    )
    for name in ("east", "west")
]
EVERYWHERE = edited(CACHE, "spec.clusterSelector")
PROXIED = edited(EVERYWHERE, "spec.proxy", {"secretRef": {"name": "proxy"}})
SOURCES = {"hub": EVERYWHERE, "a proxy": PROXIED, "bucket": cache_cases.BUCKET, "claims": cache_cases.CLAIMS}


def planned(cache: dict[str, Any], **faults: int) -> ControlPlane:
    """What a cache becomes on a fleet, with stubs of all that it refers to."""
    control = ControlPlane()
    control.faults.failed_hydrations.update(faults)
    fleet = [edited(c, "metadata.labels", {"site": site}) for c, site in zip(CLUSTERS, "ab", strict=True)]
    control.loop.load([*fleet, cache, *stubs.objects([*fleet, cache])])
    control.loop.settle()
    return control


def found(control: ControlPlane) -> Manifest:
    cache = control.store.get(Ref(versions.MODELPLANE, "ModelCache", "ml-team", "sample"))
    assert cache is not None
    return cache


@pytest.mark.parametrize("cache", SOURCES.values(), ids=SOURCES)
def test_a_cache_of_every_source_becomes_ready(cache: dict[str, Any]) -> None:
    got = found(planned(cache))

    assert dig(condition(got, "ArtifactReady"), "message") == "2 of 2 clusters have the weights"
    assert {s["phase"] for s in dig(got, "status", "clusters")} == {"Ready"}


def test_only_what_is_staged_takes_room() -> None:
    sizes = {name: [w.gib for w in parts.read(planned(cache).store).weights] for name, cache in SOURCES.items()}

    assert sizes == {"hub": [20, 20], "a proxy": [20, 20], "bucket": [20, 20], "claims": []}


@pytest.mark.slow
def test_what_engines_would_mount_is_published() -> None:
    east, west = dig(found(planned(cache_cases.CLAIMS)), "status", "clusters")

    assert (east["claimName"], east["staged"]) == ("weights.a", "qwen3/8b")
    assert (west["claimName"], west.get("staged")) == ("weights", None)


def test_a_cluster_whose_job_would_fail_is_told_of_in_the_words_of_its_source() -> None:
    control = planned(cache_cases.BUCKET, east=10)

    east, west = dig(found(control), "status", "clusters")
    assert (east["phase"], east["message"]) == ("Failed", "There is no such bucket at the endpoint and in the region")
    assert west["phase"] == "Ready"


def test_no_claim_of_others_is_written() -> None:
    control = planned(cache_cases.CLAIMS)

    there = control.clusters.things[names.provider_config("east")]
    [claim] = [remote for ref, remote in there.items() if ref.kind == "PersistentVolumeClaim"]
    assert claim.owner is None
    assert claim.manifest["metadata"]["name"] == "weights.a"
