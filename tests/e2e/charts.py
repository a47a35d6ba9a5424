"""Charts that are rendered by Helm's own library, with the values of the Releases that we compose.

A chart can be had where its project keeps it in a Go module that is built here anyway. What the project's release
script does to the chart before it is published is done here as well: the version, and the variables in its values.
"""

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from function.gateways.traefik import charts as traefik
from function.vocabulary import charts
from function.vocabulary.charts import Chart
from tests.e2e import builds, pins
from tests.e2e.kube import Api, Object
from tests.e2e.programs import Site
from tests.support.chartvalues import Place, Values
from tests.support.releases import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a chart is, and what its release script makes of it."""

    chart: Chart
    module: pins.Module
    template: str = ""
    """The file that becomes values.yaml."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """What the release script puts into it."""
    passed_on: tuple[Place, ...] = ()
    """Values that the chart writes into a configuration as they are, whose reader knows their keys."""

    @property
    def version(self) -> str:
        """The module's version, as the chart is numbered."""
        return self.module.version if self.chart.version.startswith("v") else self.module.version.removeprefix("v")


SOURCES = {
    one.chart.name: one
    for one in (
        Source(chart=charts.LEADERWORKERSET, module=pins.LEADER_WORKER_SET),
        Source(
            chart=charts.ENVOY_GATEWAY,
            module=pins.ENVOY_GATEWAY,
            template="values.tmpl.yaml",
            variables={
                "GatewayImage": f"docker.io/envoyproxy/gateway:{pins.ENVOY_GATEWAY.version}",
                "GatewayImagePullPolicy": "IfNotPresent",
            },
            passed_on=(("config", "envoyGateway"),),
        ),
        Source(chart=traefik.METALLB, module=pins.METALLB),
    )
}


@dataclass(frozen=True, slots=True)
class Rendered:
    """What Helm would install."""

    defaults: Values
    """The chart's own values, with those of its subcharts."""
    objects: tuple[Object, ...]


@dataclass(frozen=True, slots=True)
class Helm:
    """Helm's library, for charts as they are published, and a cluster that serves some kinds."""

    program: Path
    folders: Mapping[str, Path]
    served: list[str]

    def render(self, release: Release, values: Values | None = None) -> Rendered:
        """What is installed. Raises Unrenderable when Helm would refuse."""
        found = self.ask(
            folder=str(self.folders[release.chart]),
            release=release.name,
            namespace=release.namespace,
            version=SOURCES[release.chart].version,
            kubernetes=pins.KUBERNETES,
            served=self.served,
            values=release.values if values is None else values,
        )
        return Rendered(found["defaults"], tuple(found["objects"]))

    def read_configuration(self, text: str) -> None:
        """Raises Unrenderable for a configuration that Envoy Gateway refuses, or of which it would drop a field."""
        self.ask(configuration=text)

    def ask(self, **question: Any) -> dict[str, Any]:
        line = json.dumps(question) + "\n"
        done = subprocess.run([str(self.program)], input=line, text=True, capture_output=True, check=True)
        found = dict(json.loads(done.stdout))
        if "problem" in found:
            raise Unrenderable(found["problem"])
        return found


class Unrenderable(Exception):
    """Helm, or who reads what it rendered, refused."""


def helm(site: Site, api: Api) -> Helm:
    folders = {name: publish(site, source) for name, source in SOURCES.items()}
    return Helm(site.program(pins.HELM), folders, served(api))


def publish(site: Site, source: Source) -> Path:
    """A chart in a folder, as its release script packages it."""
    folder = site.folder / "charts" / source.chart.name
    builds.copy(site.build(source.module).files("chart"), folder)
    if source.template:
        text = (folder / source.template).read_text()
        text = re.sub(r"\$\{(\w+)\}", lambda found: source.variables[found[1]], text)
        (folder / "values.yaml").write_text(text)
    return folder


def served(api: Api) -> list[str]:
    """What the cluster says that it serves, as Helm asks for it: versions, and kinds of versions."""
    groups = api.send("GET", "/apis")["groups"]
    versions = ["v1", *(one["groupVersion"] for group in groups for one in group["versions"])]
    for version in versions:
        api.discover(version)
    return sorted([*versions, *("/".join(known) for known in api.known)])
