"""The source of a live cache is switched, told on the embedded control plane: whoever serves keeps a mount."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import NamespacedName, condition, dig
from function.planning.control_plane import ControlPlane
from function.vocabulary import names
from tests.world.test_fleet_stories import cache, deployment, edit, found, made, named, remote, serving

CACHE = named("ModelCache", "qwen", "ml-team")
HUB = cache()["spec"]
ONE_GGUF = {**HUB, "huggingFace": {**HUB["huggingFace"], "include": ["*-Q4_K_M.gguf"]}}
BUCKET = {"source": "S3", "s3": {"bucket": "models", "prefix": "qwen", "sizeGiB": 50}}
CLAIMS = {
    "source": "PersistentVolumeClaim",
    "persistentVolumeClaim": {"claims": [{"claimName": "weights", "subPath": "qwen"}], "servedModelName": "qwen"},
}
SOURCES = {"hub": HUB, "one file": ONE_GGUF, "bucket": BUCKET, "claims": CLAIMS}


def mounted(control: ControlPlane) -> tuple[str, str | None]:
    """The claim and the directory that the engine's pods mount."""
    [spec] = [
        dig(thing.manifest, "spec", "template", "spec")
        for things in control.clusters.things.values()
        for ref, thing in things.items()
        if ref.kind == "Deployment" and ref.namespace == "ml-team"
    ]
    [volume] = [v for v in spec["volumes"] if "persistentVolumeClaim" in v]
    [mount] = [m for m in spec["containers"][0]["volumeMounts"] if m["name"] == volume["name"]]
    return volume["persistentVolumeClaim"]["claimName"], mount.get("subPath")


def switch(control: ControlPlane, spec: dict[str, Any]) -> None:
    edit(control, CACHE, lambda m: m.update(spec={**spec, "crossplane": m["spec"]["crossplane"]}))


@pytest.mark.slow
@pytest.mark.parametrize("after", SOURCES)
@pytest.mark.parametrize("before", SOURCES)
def test_a_replica_follows_the_source_of_its_cache_and_serves(before: str, after: str) -> None:
    control = made({**cache(), "spec": SOURCES[before]}, deployment())
    [home] = serving(control)
    first = mounted(control)

    switch(control, SOURCES[after])

    assert serving(control) == [home]
    assert (mounted(control) == first) is (before == after)
    assert ("PersistentVolumeClaim", mounted(control)[0]) in remote(control, home)
    assert dig(condition(found(control, CACHE), "ArtifactReady"), "status") == "True"


@pytest.mark.parametrize("before", ["hub", "bucket", "claims"])
def test_a_source_that_cannot_be_staged_leaves_what_is_mounted(before: str) -> None:
    control = made({**cache(), "spec": SOURCES[before]}, deployment())
    [home] = serving(control)
    first = mounted(control)
    control.faults.failed_hydrations[home] = 14

    switch(control, ONE_GGUF)

    assert (serving(control), mounted(control)) == ([home], first)
    assert dig(condition(found(control, CACHE), "ArtifactReady"), "status") == "False"


def test_a_volume_that_was_filled_goes_once_nobody_is_on_its_cluster() -> None:
    control = made({**cache(), "spec": HUB}, deployment())
    [home] = serving(control)
    [other] = {"east", "west"} - {home}
    own = {
        name: ("PersistentVolumeClaim", names.cache_claim(NamespacedName("ml-team", "qwen"), name))
        for name in (home, other)
    }

    switch(control, CLAIMS)
    while_it_serves = own[home] in remote(control, home), own[other] in remote(control, other)
    control.store.delete(named("ModelDeployment", "chat", "ml-team"))
    control.loop.settle()

    assert while_it_serves == (True, False)
    assert own[home] not in remote(control, home)
    assert ("PersistentVolumeClaim", "weights") in remote(control, home)


def test_an_entry_that_goes_leaves_its_replica_where_it_is() -> None:
    control = made({**cache(), "spec": CLAIMS}, deployment())
    [home] = serving(control)
    first = mounted(control)
    entry = {"claimName": "others", "clusterSelector": {"matchLabels": {"tier": "none"}}}

    switch(control, {"source": "PersistentVolumeClaim", "persistentVolumeClaim": {"claims": [entry]}})

    assert (serving(control), mounted(control)) == ([home], first)
    said = dig(condition(found(control, CACHE), "ArtifactReady"), "message")
    assert said == (
        f"{home}: Pending (The cache no longer selects the cluster; its replicas keep PersistentVolumeClaim weights)"
    )
