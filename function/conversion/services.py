"""Services in front of converted pods, as ModelServices, and what they tell about ports.

A Service selects pods by their labels. The one in front of a workload becomes a ModelService over its ModelDeployment.
One in front of several gets an entry for each, weighted by their pods, since a Service spreads connections over pods.

A Service also tells on which port the engine serves: the container's port that it leads to is named `http`, which is
where Modelplane looks first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.conversion import deployment, pods
from function.conversion.notes import NotConvertible, Notes, Path, items, mapping, others, texts

_HTTP = "http"
_USUAL = (_HTTP, "https", "api", "http-serving", "serving", "openai")
"""Names of a Service's port for requests, if it has several ports."""
_KNOWN = {"selector", "ports", "type", "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "sessionAffinity"}
_FILLED_IN = {
    "internalTrafficPolicy": "Cluster",
    "externalTrafficPolicy": "Cluster",
    "allocateLoadBalancerNodePorts": True,
}
"""What the API server fills in."""
_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


@dataclass(frozen=True, slots=True)
class Workload:
    """A converted workload."""

    target: dict[str, Any]
    """Its ModelDeployment, which is changed where a Service tells its port."""
    labels: Mapping[str, str]
    """Labels of the pods that serve."""
    namespace: str | None
    notes: Notes
    """Notes about the workload."""

    @property
    def name(self) -> str:
        name: str = self.target["metadata"]["name"]
        return name


def converted(source: Mapping[str, Any], workloads: Sequence[Workload], notes: Notes) -> dict[str, Any] | str:
    """Return the ModelService for a Service, or why it has none. Raises NotConvertible."""
    selector = texts(source, "spec", "selector")
    namespace = source["metadata"].get("namespace")
    behind = [
        one for one in workloads if one.namespace == namespace and selector and selector.items() <= one.labels.items()
    ]
    if not behind:
        return "is in front of no pods that are converted"
    if mapping(source, "spec").get("clusterIP") == "None":
        return "is headless, for pods that find each other: the pods of a gang have a Service of their own"
    target_port = _target_port(source, notes)
    for workload in behind:
        if target_port is not None:
            name_port(workload, target_port, source["metadata"]["name"])
    weights = [(one.name, int(one.target["spec"]["replicas"])) for one in behind]
    names = ", ".join(name for name, _ in weights)
    notes.changed(("spec", "selector"), ("spec", "endpoints"), f"selects the endpoints of {names}")
    kind = mapping(source, "spec").get("type", "ClusterIP")
    notes.changed((), (), "clients use status.address of the ModelService, a URL of the fleet's gateway")
    if kind not in ("ClusterIP", None):
        notes.lost(("spec", "type"), f"is {kind}; the gateway is the way in")
    for name in others(mapping(source, "spec"), _KNOWN):
        if mapping(source, "spec")[name] not in (None, _FILLED_IN.get(name)):
            notes.lost(("spec", name), "has no counterpart")
    return deployment.model_service(source["metadata"]["name"], namespace, weights)


def _target_port(source: Mapping[str, Any], notes: Notes) -> int | str | None:
    """Return the port of pods that requests go to; None if it is unclear."""
    ports = items(source, "spec", "ports")
    for index, port in enumerate(ports):
        if not isinstance(port, dict):
            raise NotConvertible(("spec", "ports", index), "must be a map of fields")
    tcp = [port for port in ports if port.get("protocol", "TCP") == "TCP"]
    usual = [port for port in tcp if port.get("name") in _USUAL]
    chosen = tcp if len(tcp) == 1 else usual
    if len(chosen) != 1:
        notes.left(("spec", "ports"), None, "which port is for requests? Name the engine's container port http")
        return None
    found = chosen[0].get("targetPort", chosen[0].get("port"))
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def name_port(workload: Workload, port: int | str, service: str) -> None:
    """Name the engine's port that a Service leads to `http`."""
    member = workload.target["spec"]["engines"][0]["members"][0]
    engine = pods.engine_of(member["template"])
    ports: list[dict[str, Any]] = engine.get("ports", [])
    named = next((one for one in ports if one.get("name") == _HTTP), None)
    found = next((one for one in ports if port in (one["containerPort"], one.get("name"))), None)
    number = int(port) if isinstance(port, str) and port.isdigit() else port
    position = member["template"]["spec"]["containers"].index(engine)
    at: Path = ("spec", "engines", 0, "members", 0, "template", "spec", "containers", position, "ports")
    about = workload.notes.into(())
    if named is found and named is not None:
        return
    if named is not None:
        about.left((), at, f"Service {service} leads to port {port}, and the port named http is another")
    elif found is not None:
        if len(ports) > 1:
            _rename(engine, found)
            about.changed((), at, f"the port that Service {service} leads to, {found['containerPort']}, is named http")
    elif isinstance(number, int) and 0 < number < _MOST_PORTS:
        engine["ports"] = [*ports, {"name": _HTTP, "containerPort": number}]
        about.changed((), at, f"port {number} is added, because Service {service} leads to it")
    else:
        about.left((), at, f"Service {service} leads to a port that the engine's container does not declare")


_MOST_PORTS = 65536


def _rename(engine: dict[str, Any], port: dict[str, Any]) -> None:
    before = port.get("name")
    port["name"] = _HTTP
    for probe in _PROBES:
        for handler in ("httpGet", "tcpSocket"):
            action = engine.get(probe, {}).get(handler, {})
            if before is not None and action.get("port") == before:
                action["port"] = _HTTP
