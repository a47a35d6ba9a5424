"""The control cluster: Crossplane, its provider and our function, on a real API server."""

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.e2e import cloud_kinds, objects, pins, programs
from tests.e2e.inference import install
from tests.e2e.kube import CROSSPLANE, TOKENS, Api, Object, says
from tests.e2e.processes import Process, ports
from tests.e2e.programs import Site
from tests.e2e.waiting import until

REPOSITORY = Path(__file__).parents[2]
FUNCTION = "function-modelplane"
CONTROLLERS = (
    "garbage-collector-controller",
    "namespace-controller",
    "clusterrole-aggregation-controller",
    "horizontal-pod-autoscaler-controller",
    "validatingadmissionpolicy-status-controller",  # checks the types in policies
)


@dataclass(slots=True)
class Control:
    """A control cluster that runs."""

    site: Site
    name: str
    crossplane: str  # which release of its core
    api: Api
    metrics: int  # the port of Crossplane's own
    serve: Callable[[], Process]
    function: Process

    @property
    def watches(self) -> bool:
        """Whether it watches what a function requires: a change is seen at once, else with the next call."""
        return self.crossplane >= "v2.4"

    @property
    def as_crossplane(self) -> Api:
        """The same API server for Crossplane, which alone may write what it composes."""
        return self.api.as_user(TOKENS[CROSSPLANE])

    def kubectl(self, *arguments: str, stdin: str = "") -> str:
        """What kubectl prints, as an administrator."""
        return programs.kubectl(self.site, self.name, *arguments, stdin=stdin)

    def calls(self, kind: str, name: str) -> int:
        """How often the function that runs has answered for an object, `namespace/name`."""
        lines = (line for line in self.function.log.read_text().splitlines() if line.startswith("{"))
        answers = [json.loads(line) for line in lines]
        return sum(one.get("msg") == "Answered" and (one["kind"], one["name"]) == (kind, name) for one in answers)

    def stop_function(self) -> None:
        self.site.processes.stop(self.function)

    def start_function(self) -> None:
        """Start our server again, at the same address."""
        self.function = self.serve()


def start(site: Site, store: int, version: str) -> Control:
    """Start it with a release of Crossplane, and wait until it serves our kinds."""
    control = without_provider(site, store, version, f"control-{version}")
    programs.provider_kubernetes(site, control.name)
    return control


def without_provider(
    site: Site, store: int, version: str, name: str, through: Callable[[int], int] = lambda port: port
) -> Control:
    """Start it without the provider that reaches clusters.

    `through` may put something between Crossplane and the function: it takes the function's port, and gives the one
    that Crossplane is to call.
    """
    api = programs.api_server(site, name, store)
    metrics = programs.crossplane(site, name, version, api)
    install(api, site, pins.PROVIDER_KUBERNETES, "kubernetes.m.*.yaml")  # the others need its webhook (v1.2.1)
    install(api, site, pins.PROVIDER_HELM, "helm.m.*.yaml")
    for module in (pins.GATEWAY_API, pins.METALLB):  # what an InferenceGateway composes
        install(api, site, module)
    cloud_kinds.define(api)
    (port,) = ports(1)
    serve = functools.partial(programs.function, site, name, port)
    function = serve()
    register(api, f"127.0.0.1:{through(port)}")
    define(api)
    guard(api)
    # Last, since its garbage collector learns of new kinds only every 30 s.
    programs.controller_manager(site, name, *CONTROLLERS)
    return Control(site, name, version, api, metrics, serve, function)


def register(api: Api, address: str) -> None:
    """Tell Crossplane where the function serves; paused, so that the package manager does not look for its image."""
    revision = {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "FunctionRevision",
        "metadata": {
            "name": f"{FUNCTION}-local",
            "labels": {"pkg.crossplane.io/package": FUNCTION},
            "annotations": {"crossplane.io/paused": "true"},
        },
        "spec": {"desiredState": "Active", "image": f"127.0.0.1:5000/local/{FUNCTION}:v0.0.0", "revision": 1},
    }
    api.apply(revision)
    api.patch(revision, {"status": {"endpoint": address, "capabilities": ["composition"]}}, "status")


def define(api: Api) -> None:
    """Apply our XRDs and Compositions, as a user's package would, and wait until Crossplane accepts them."""
    definitions, compositions = manifests("xrds"), manifests("compositions")
    api.apply(*definitions, *compositions)
    for one in definitions:
        name = one["metadata"]["name"]
        until(functools.partial(api.current, one), f"{name} to be established", holds=established)
    until(lambda: len(valid_pipelines(api)) == len(compositions), "every Composition to have a valid pipeline")


def guard(api: Api) -> None:
    """Apply our roles and admission policies as they are, and a namespace for a team."""
    api.apply(objects.namespace(objects.TEAM))
    for name in ("roles", "admission"):
        api.apply(*(one for one in yaml.safe_load_all((REPOSITORY / f"package/{name}.yaml").read_text())))


def established(definition: Object | None) -> bool:
    return says(definition, "Established")


def valid_pipelines(api: Api) -> list[Object]:
    """The revisions of Compositions that Crossplane would use."""
    revisions = api.list("apiextensions.crossplane.io/v1", "CompositionRevision")
    return [one for one in revisions if says(one, "ValidPipeline")]


def manifests(folder: str) -> list[dict[str, Any]]:
    """Every object in a folder of the repository."""
    files = sorted((REPOSITORY / folder).rglob("*.yaml"))
    return [one for path in files for one in yaml.safe_load_all(path.read_text()) if one]
