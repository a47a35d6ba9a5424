"""No route leads to what is gone, in whatever order things are reconciled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from function.cli import files
from function.core import Manifest, Request, Result, dig, is_ready
from function.planning import stubs
from function.planning.control_plane import ControlPlane, in_process
from function.sandbox.store import Ref
from function.vocabulary import versions

TOUR = Path(__file__).parents[2] / "examples" / "tour"
DEPLOYMENT = Ref(versions.MODELPLANE, "ModelDeployment", "ml-team", "qwen3-32b")
SERVICE = Ref(versions.MODELPLANE, "ModelService", "ml-team", "qwen")


class Watched:
    """Our function, and a look at all routes before every answer."""

    def __init__(self) -> None:
        self.control: ControlPlane | None = None
        self.dangling: list[str] = []

    def __call__(self, request: Request) -> Result:
        if self.control:
            self.dangling += [name for route in self._routes() for name in self._missing(route)]
        return in_process(request)

    def _routes(self) -> tuple[Manifest, ...]:
        assert self.control
        return self.control.store.of_kind(versions.GATEWAY, "HTTPRoute")

    def _missing(self, route: Manifest) -> list[str]:
        """The Services of a route that are not there, or whose endpoint has no replica behind it any more."""
        assert self.control
        store, namespace = self.control.store, route["metadata"]["namespace"]
        backends = [ref["name"] for rule in route["spec"]["rules"] for ref in rule["backendRefs"]]
        there = {
            dig(endpoint, "status", "routing", "backendName"): endpoint["metadata"]["name"]
            for endpoint in store.of_kind(versions.MODELPLANE, "ModelEndpoint")
        }
        gone = [name for name in backends if store.get(Ref(versions.CORE, "Service", namespace, name)) is None]
        empty = [
            there[name]
            for name in backends
            if name in there and store.get(Ref(versions.MODELPLANE, "ModelReplica", namespace, there[name])) is None
        ]
        return gone + empty


def settled(seed: int) -> tuple[ControlPlane, Watched]:
    """The deployment of two regions behind its service, at rest and watched from now on."""
    watched = Watched()
    control = ControlPlane(function=watched, seed=seed)
    names = ("classes", "clusters", "two-regions", "service")
    manifests = [one.manifest for one in files.load([TOUR / f"{name}.yaml" for name in names])]
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    watched.control = control
    return control, watched


def edit(control: ControlPlane, **spec: Any) -> None:
    control.store.update(DEPLOYMENT, lambda manifest: manifest["spec"].update(spec))
    control.loop.settle()


def routed(control: ControlPlane) -> list[str]:
    found: list[str] = dig(control.store.get(SERVICE), "status", "routed") or []
    return found


def replicas(control: ControlPlane) -> list[str]:
    found = control.store.of_kind(versions.MODELPLANE, "ModelReplica")
    return sorted(one["metadata"]["name"] for one in found)


@pytest.mark.parametrize("seed", range(5))
def test_a_replica_that_is_scaled_away_is_led_to_by_nobody(seed: int) -> None:
    control, watched = settled(seed)
    assert len(routed(control)) == 2

    edit(control, replicas=1)
    one = replicas(control), routed(control)
    edit(control, replicas=0)

    assert (one[0], len(one[0]), replicas(control), routed(control)) == (one[1], 1, [], [])
    assert watched.dangling == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_replica_that_moves_is_led_to_by_nobody_once_it_is_gone(seed: int) -> None:
    control, watched = settled(seed)
    edit(control, replicas=1)
    [before] = replicas(control)
    region = dig(control.store.get(Ref(versions.MODELPLANE, "ModelReplica", "ml-team", before)), "spec", "clusterName")
    [other] = {"europe", "virginia"} - {region}
    found = control.store.get(Ref(versions.MODELPLANE, "InferenceCluster", "", other))
    labels = {"modelplane.ai/region": dig(found, "metadata", "labels", "modelplane.ai/region")}

    edit(control, clusterSelector={"matchLabels": labels})

    [after] = replicas(control)
    service = control.store.get(SERVICE)
    assert (after != before, routed(control), service is not None and is_ready(service)) == (True, [after], True)
    assert watched.dangling == []
