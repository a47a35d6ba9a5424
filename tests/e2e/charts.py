"""Charts that are rendered by Helm's own library, with the values of the Releases that we compose.

A chart can be had where its project keeps it in a Go module that is built here anyway. What the project's release
script does to the chart before it is published is done here as well: the version, and the variables in its values.
"""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from function.core import Manifest, plain
from function.gateways.traefik import charts as traefik
from function.vocabulary import charts
from function.vocabulary.charts import Chart
from tests.e2e import builds, pins
from tests.e2e.kube import Api, Object
from tests.e2e.programs import Site
from tests.support import stacks
from tests.support.cases import CASES, answer

Values = Mapping[str, Any]
Path_ = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a chart is, and what its release script makes of it."""

    chart: Chart
    module: pins.Module
    template: str = ""
    """The file that becomes values.yaml."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """What the release script puts into it."""
    passed_on: tuple[Path_, ...] = ()
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
class Release:
    """A chart with values, as we compose it."""

    title: str
    """Where it was composed."""
    name: str
    chart: str
    version: str
    namespace: str
    values: Values

    @property
    def source(self) -> Source:
        return SOURCES[self.chart]


@dataclass(frozen=True, slots=True)
class Rendered:
    """What Helm would install."""

    defaults: Values
    """The chart's own values, with those of its subcharts."""
    objects: tuple[Object, ...]


def releases() -> list[Release]:
    """The Releases of charts that can be had, in the versions that we install: one for each set of values."""
    found: dict[str, Release] = {}
    for release in map(parsed, composed()):
        if release.chart in SOURCES and release.version == release.source.chart.version:
            found.setdefault(json.dumps([release.chart, release.values], sort_keys=True), release)
    return list(found.values())


def composed() -> Iterator[tuple[str, Manifest]]:
    """Every Release of the golden cases, and those of a stack that has every component but the AI gateway."""
    for case in CASES:
        if case.parent.name in ("servingstack", "inferencegateway"):
            yield from ((case.name, one.manifest) for one in answer(case).resources.values())
    without = stacks.answer({"aiGateway": {"enabled": False}}, {"inferencepools": stacks.READY})
    yield from (("without the AI gateway", one.manifest) for one in without.resources.values())


def parsed(one: tuple[str, Manifest]) -> Release:
    title, manifest = one
    if manifest["kind"] != "Release" or "spec" not in manifest:
        return Release(title, "", "", "", "", {})
    asked = manifest["spec"]["forProvider"]
    chart, name = asked["chart"], manifest["metadata"]["annotations"]["crossplane.io/external-name"]
    return Release(title, name, chart["name"], chart["version"], asked["namespace"], plain(asked.get("values") or {}))


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
            version=release.source.version,
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


def leaves(values: Values, before: Path_ = ()) -> Iterator[Path_]:
    """The path of every value that is not a map."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*before, key))
        else:
            yield (*before, key)


def without(values: Values, path: Path_) -> Values:
    """The values, but for one."""
    head, *rest = path
    if rest:
        return {**values, head: without(values[head], tuple(rest))}
    return {key: value for key, value in values.items() if key != head}


def unknown(values: Values, rendered: Rendered, source: Source) -> list[str]:
    """The paths of values that the chart's own values do not have: Helm takes them without a word."""
    return [".".join(path) for path in leaves(values) if not knows(rendered.defaults, path, source)]


def knows(defaults: Values, path: Path_, source: Source) -> bool:
    """Whether a chart has a value. One that is null or an empty map by default takes anything below it."""
    here: Any = defaults
    for depth, key in enumerate(path):
        if path[:depth] in source.passed_on or here is None or here == {}:
            return True
        if not isinstance(here, Mapping) or key not in here:
            return False
        here = here[key]
    return True
