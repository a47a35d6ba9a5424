"""Services in front of converted pods, as ModelServices, and what they tell about ports.

A Service selects pods by their labels. The one in front of a workload becomes a ModelService over its ModelDeployment.
One in front of several gets an entry for each, weighted by their pods, since a Service spreads connections over pods.

A Service also tells on which port the engine serves: the container's port that it leads to is named `http`, which is
where Modelplane looks first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.conversion import deployment, pods
from function.conversion.notes import NotConvertible, Notes, Path, items, mapping, others, texts

_HTTP = "http"
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
    if why := _unconverted(source, behind):
        return why
    ports = _target_ports(source)
    engines = {port for one in behind for port in _name_port(one, list(ports.values()), source["metadata"]["name"])}
    for index, port in ports.items() if engines.intersection(ports.values()) else ():
        if port not in engines:
            notes.lost(
                ("spec", "ports", index), f"leads to port {port}; a ModelService leads to the engine's port alone"
            )
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


def _unconverted(source: Mapping[str, Any], behind: Sequence[Workload]) -> str:
    """Return why a Service has no ModelService; empty if it has one."""
    spec = mapping(source, "spec")
    if spec.get("type") == "ExternalName":
        return "names a server elsewhere: write a ModelEndpoint with its base URL, which a ModelService can select"
    if not behind:
        return "is in front of no pods that are converted"
    if spec.get("clusterIP") == "None":
        return "is headless, for pods that find each other: the pods of a gang have a Service of their own"
    return ""


def _target_ports(source: Mapping[str, Any]) -> dict[int, int | str]:
    """Return the ports of pods that a Service leads to, by number or name, each once.

    The keys are their indexes in the Service. Raises NotConvertible.
    """
    found: dict[int, int | str] = {}
    for index, port in enumerate(items(source, "spec", "ports")):
        if not isinstance(port, dict):
            raise NotConvertible(("spec", "ports", index), "must be a map of fields")
        target = port.get("targetPort", port.get("port"))
        target = int(target) if isinstance(target, str) and re.fullmatch("[0-9]{1,5}", target) else target
        if isinstance(target, bool) or port.get("protocol", "TCP") != "TCP":
            continue
        if isinstance(target, int | str) and target not in found.values():
            found[index] = target
    return found


def _name_port(workload: Workload, targets: Sequence[int | str], service: str) -> set[int | str]:
    """Name the engine's port that a Service leads to `http`, if that is clear.

    A Service may have other ports, such as one for metrics, and may lead to a proxy in another container.

    Returns:
        The number and the name of that port, as they were. Empty if it is not clear.
    """
    member = workload.target["spec"]["engines"][0]["members"][0]
    spec = member["template"]["spec"]
    engine = pods.engine_of(member["template"])
    at: Path = ("spec", "engines", 0, "members", 0, "template", "spec", "containers", spec["containers"].index(engine))
    about = workload.notes.into(())
    ports: list[dict[str, Any]] = engine.get("ports", [])
    found = [port for port in ports if port["containerPort"] in targets or port.get("name") in targets]
    named = next((port for port in ports if port.get("name") == _HTTP), None)
    clear = [port for port in found if len(found) == 1 or port is named]
    known = {port[name] for port in clear for name in ("containerPort", "name") if name in port}
    if len(found) == 1 and named is None:
        if len(ports) > 1:
            _rename(engine, found[0])
            number = found[0]["containerPort"]
            about.changed((), (*at, "ports"), f"the port that Service {service} leads to, {number}, is named http")
    elif found and named not in found:
        about.left((), (*at, "ports"), f"which port that Service {service} leads to is for requests? Name it http")
    elif not found and targets:
        _add_port(engine, targets, _others(spec, engine), about.at((), (*at, "ports")), service)
    return known


def _others(spec: Mapping[str, Any], engine: Mapping[str, Any]) -> set[int | str]:
    """The ports of the other containers, by number and name."""
    containers = [*spec["containers"], *spec.get("initContainers", [])]
    ports = [port for container in containers if container is not engine for port in container.get("ports", [])]
    return {port["containerPort"] for port in ports} | {port["name"] for port in ports if "name" in port}


def _add_port(
    engine: dict[str, Any], targets: Sequence[int | str], others_: set[int | str], notes: Notes, service: str
) -> None:
    """Add the port that a Service leads to, if nothing else tells the engine's port."""
    number = targets[0]
    if others_.intersection(targets):
        notes.left((), (), f"Service {service} leads to another container; here, requests go to the engine itself")
    elif engine.get("ports") or len(targets) > 1 or not isinstance(number, int) or not 0 < number < _MOST_PORTS:
        notes.left((), (), f"Service {service} leads to a port that the engine's container does not declare")
    else:
        engine["ports"] = [{"name": _HTTP, "containerPort": number}]
        notes.changed((), (), f"port {number} is added, because Service {service} leads to it")


_MOST_PORTS = 65536


def _rename(engine: dict[str, Any], port: dict[str, Any]) -> None:
    before = port.get("name")
    port["name"] = _HTTP
    for probe in _PROBES:
        for handler in ("httpGet", "tcpSocket"):
            action = engine.get(probe, {}).get(handler, {})
            if before is not None and action.get("port") == before:
                action["port"] = _HTTP
