"""The metrics that there are, with their labels: those of the server, and those of kube-state-metrics."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families as parsed

from function import registry
from function.core import Request, Result
from function.probes import Question
from function.publish import state_metrics
from function.sandbox import remote
from function.sandbox.settle import settle
from function.server import metrics, process_metrics
from function.server.certificates import Certificates
from function.server.health import Health
from function.server.runner import Runner
from tests.support import certificates
from tests.support.cases import ROOT, load

OF_TARGETS = frozenset({"pod", "namespace", "job", "instance", "container", "endpoint"})
"""Labels that Prometheus adds to all that it scrapes."""
_OF_RESOURCES = frozenset({"customresource_group", "customresource_version", "customresource_kind"})
_CASES = (
    "modeldeployment/a-malformed-selector-keeps-what-runs",
    "modeldeployment/more-replicas-than-fit",
    "modeldeployment/replicas-spread-over-regions",
)
"""Together they make the server count something of everything."""


def reconciled(request: Request, objects: list[Any]) -> list[Request]:
    """The requests of a reconcile; the last is answered with what is carried out."""
    calls: list[Request] = []

    def compose(call: Request) -> Result:
        calls.append(call)
        return registry.compose(call)

    settle(compose, request, objects)
    return calls


@cache
def exposition() -> str:
    """What a server with TLS serves at /metrics after some calls."""
    runner = Runner(workers=1)
    for case in _CASES:
        for call in reconciled(*load(ROOT / case)):
            runner.answer(remote.encode(call).SerializeToString())
    runner.workers.problem()
    metrics.waited(0.0)
    with tempfile.TemporaryDirectory() as folder:
        mounted = Certificates(certificates.write(Path(folder)))
        with process_metrics.shown(Health(runner.workers, mounted, admission=runner.admission)):
            return metrics.page(Question({}, "")).body.decode()


def of_server() -> dict[str, set[str]]:
    """The labels of each series that the server exports, by its name."""
    found: dict[str, set[str]] = {}
    for family in parsed(exposition()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def of_objects() -> dict[str, set[str]]:
    """The labels of each series that kube-state-metrics exports, by its name."""
    found: dict[str, set[str]] = {}
    for resource in state_metrics.configuration()["spec"]["resources"]:
        common = {*resource["labelsFromPath"], *_OF_RESOURCES}
        for metric in resource["metrics"]:
            name = f"{resource['metricNamePrefix']}_{metric['name']}"
            found.setdefault(name, set()).update(common | _own(metric["each"]))
    return found


def _own(each: Mapping[str, Any]) -> set[str]:
    (shape,) = (value for key, value in each.items() if key != "type")
    return {*shape.get("labelsFromPath", ()), *([shape["labelName"]] if "labelName" in shape else [])}


def labels() -> dict[str, set[str]]:
    """The labels of each series that a query can ask for."""
    return {name: own | OF_TARGETS for name, own in (of_server() | of_objects()).items()}


def rows_of_server() -> list[str]:
    """The server's metrics as rows of a table: name, type, labels, meaning."""
    families = [family for family in parsed(exposition()) if family.name.startswith("modelplane_")]
    return [
        _row(
            f"{family.name}_total" if family.type == "counter" else family.name,
            family.type,
            {name for sample in family.samples for name in sample.labels} - {"le"},
            family.documentation,
        )
        for family in sorted(families, key=lambda family: family.name)
    ]


def rows_of_objects() -> list[str]:
    """Those of kube-state-metrics, without the labels that all have."""
    found = {}
    for resource in state_metrics.configuration()["spec"]["resources"]:
        for metric in resource["metrics"]:
            name = f"{resource['metricNamePrefix']}_{metric['name']}"
            found[name] = _row(name, metric["each"]["type"].lower(), _own(metric["each"]), metric["help"])
    return [found[name] for name in sorted(found)]


def _row(name: str, kind: str, labels: set[str], meaning: str) -> str:
    return f"| `{name}` | {kind} | {', '.join(f'`{label}`' for label in sorted(labels))} | {meaning} |"
