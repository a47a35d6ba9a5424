"""The pods of a member: the user's template, and the few things that its engine needs around it.

The template is passed on as it is. Modelplane adds the node selector and tolerations of the pool, the device claim,
shared memory, the weights, annotations that keep autoscalers from its node unless the template sets them itself, an
affinity to the other pods of a pool whose nodes are shared, and, for the engine's container only, variables, arguments,
probes and a delayed end.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function import podspec
from function.api.modelreplica import Member
from function.core import NamespacedName
from function.engines import injection, offline
from function.engines.injection import Injection
from function.engines.ports import TRAFFIC
from function.kinds.modelreplica import carried, disaggregation, variables
from function.kinds.modelreplica.engine import EnginePlan, engine_container
from function.kinds.modelreplica.inputs import Site, Weights
from function.manifests import pods
from function.manifests.metadata import pod_metadata
from function.podspec import container_names, reserved
from function.scheduling import Taint
from function.vocabulary import labels, names

SERVING_PORT = TRAFFIC
"""Name of the port for traffic."""
MODELS = injection.WEIGHTS
"""Mount path of the weights."""
SHARED_MEMORY = "/dev/shm"  # noqa: S108 (not a file of ours: the pod's shared memory)
"""Mount path of the memory that the processes of an engine share."""
_HEALTH = "/health"
"""Path of the probes of an engine that is not recognised."""
STARTUP_SECONDS = 7200
"""Allows for weights on shared storage at a few hundred MB a second."""
DRAIN_SECONDS = 10
"""A terminating pod keeps serving this long, until gateways know that it terminates."""
_PROBE_TIMEOUT = 30
"""Seconds. SGLang's /health generates a token, which takes up to 20 seconds (sglang 0.5.23)."""
_SHM, _WEIGHTS = "shm", "models"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """A member of an engine, and its site."""

    replica: NamespacedName
    plan: EnginePlan
    member: Member
    site: Site
    claim: str | None
    """The member's ResourceClaimTemplate."""

    @property
    def container(self) -> Mapping[str, Any]:
        """The engine's container, as its user wrote it."""
        return engine_container(self.member)

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod's spec, as its user wrote it."""
        spec: Mapping[str, Any] = self.member.template["spec"]
        return spec

    @property
    def serves(self) -> bool:
        return self.member.serves


def template(of: Pods) -> dict[str, Any]:
    users = podspec.renamed(of.member.template, lambda kind, name: _called(of, kind, name))
    if of.container["name"] != podspec.ENGINE:
        container_names.rename(users, of.container["name"], podspec.ENGINE)
    spec: dict[str, Any] = users["spec"]
    sidecars = [disaggregation.sidecar(of.plan)] if of.serves and of.plan.has_sidecar else []
    claims = [*([_pod_claim(of.claim)] if of.claim else []), *spec.pop("resourceClaims", [])]
    init = [*sidecars, *spec.pop("initContainers", [])]
    containers, volumes = spec.pop("containers"), spec.pop("volumes", [])
    return {
        "metadata": _metadata(of, users.get("metadata", {})),
        "spec": {
            "nodeSelector": {labels.POOL: of.member.nodePoolName},
            "tolerations": _tolerations(of.site.taints[of.member.nodePoolName], spec.pop("tolerations", [])),
            "enableServiceLinks": False,  # a Service called vllm would set VLLM_PORT, an option of vLLM
            "terminationGracePeriodSeconds": podspec.GRACE_SECONDS,
            **spec,
            **_affinity(of, spec.get("affinity", {})),
            **({"initContainers": init} if init else {}),
            "containers": [_engine(of, c) if c["name"] == podspec.ENGINE else c for c in containers],
            **({"resourceClaims": claims} if claims else {}),
            "volumes": [*_volumes(of), *volumes],
        },
    }


def serving_selector(replica: NamespacedName) -> dict[str, str]:
    """Return the labels of the pods that serve a replica, which no other pod of their namespace has."""
    return {labels.SERVING: names.label_value(replica.name)}


def traffic_port_name(workload_pod: Mapping[str, Any], number: int) -> str | None:
    """Return the name by which a composed pod's port for traffic can be found, or None.

    A name that another port of the pod has as well finds either, so it counts as none.
    """
    ports = [
        port
        for field in ("initContainers", "containers")
        for container in workload_pod["spec"].get(field, ())
        for port in container.get("ports", ())
    ]
    name = next((port.get("name") for port in ports if port["containerPort"] == number), None)
    return name if [port.get("name") for port in ports].count(name) == 1 else None


def _metadata(of: Pods, users: Mapping[str, Any]) -> dict[str, Any]:
    ours = {
        labels.WORKLOAD: of.plan.workload,
        **(serving_selector(of.replica) if of.serves else {}),
        **({labels.LWS_ROLE: of.member.role.lower()} if of.plan.is_gang else {}),
        **_shared(of.member),
    }
    roles = disaggregation.pod_labels(of.plan) if of.serves else {}
    own = users.get("labels", {})
    annotations = {**pods.STAYS, **users.get("annotations", {})}
    return pod_metadata(labels=labels.merge({**roles, **own}, ours), annotations=annotations)


def _shared(member: Member) -> dict[str, str]:
    """Return the label of pods that share the nodes of their pool."""
    return {labels.SHARED_POOL: member.nodePoolName} if member.nodeSharing else {}


def _affinity(of: Pods, users: Mapping[str, Any]) -> dict[str, Any]:
    """Prefer nodes that are in use to empty ones, on a pool whose nodes are shared, besides what the user prefers."""
    label = _shared(of.member)
    if not label:
        return {}
    near = users.get("podAffinity", {})
    preferred = [*near.get(_PREFERRED, ()), pods.beside(label=label)]
    return {"affinity": {**users, "podAffinity": {**near, _PREFERRED: preferred}}}


def _engine(of: Pods, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the engine's container, from the user's with its references renamed."""
    args = [*given.get("args", ()), *_injected_args(of)]
    claims = [*([{"name": reserved.CLAIM}] if of.claim else []), *given.get("resources", {}).get("claims", ())]
    resources = {**given.get("resources", {}), **({"claims": claims} if claims else {})}
    return {
        **{field: value for field, value in given.items() if field != "resources"},
        **({"args": args} if args else {}),
        "env": _env(of, given.get("env", ())),
        **({"ports": _ports(of, given.get("ports", ())), **_probes(of), **_lifecycle(of)} if of.serves else {}),
        **({"resources": resources} if resources else {}),
        "volumeMounts": [*_mounts(of), *given.get("volumeMounts", ())],
    }


def _injected_args(of: Pods) -> Iterable[str]:
    return injected(of.plan, of.site).args if of.serves else ()


def injected(plan: EnginePlan, site: Site) -> Injection:
    """Return the args that the serving container of an engine is given."""
    weights = site.weights
    name = weights.repo if weights else ""
    return injection.inject(plan.reading, weights=MODELS if weights else None, name=name, port=plan.port)


def _env(of: Pods, users: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the variables: ours first, so that the user's $(…) can refer to them, except those that the user sets."""
    taken = {variable["name"] for variable in users}
    return [*(variable for variable in _our_env(of) if variable["name"] not in taken), *users]


def _our_env(of: Pods) -> Iterable[dict[str, Any]]:
    if of.plan.is_gang:  # LeaderWorkerSet puts its own variables before all others (lws v0.8)
        yield pods.env(variables.LEADER_ADDRESS.name, "$(LWS_LEADER_ADDRESS)")
        yield pods.env(variables.RANK.name, "$(LWS_WORKER_INDEX)")
    yield pods.env(variables.PORT.name, str(of.plan.port))
    variable = offline.variable(of.plan.reading)
    if of.site.weights and variable and not of.plan.needs_hub:
        yield pods.env(variable, "1")
    yield from disaggregation.env(of.plan)


def _called(of: Pods, kind: str, name: str) -> str:
    """Return the name of a Secret or ConfigMap on the cluster."""
    source = next((s for s in of.site.sources if (s.kind, s.name) == (kind, name)), None)
    return carried.name(of.replica, source) if source else carried.absent(of.replica, kind, name)


def _ports(of: Pods, users: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the ports, with the one on which the engine listens.

    SERVING_PORT is the name of the traffic port, which is the sidecar's if there is one.
    """
    name = "engine" if of.plan.has_sidecar else SERVING_PORT
    is_free = all(port.get("name") != name for port in users)
    own = pods.port(name=name, number=of.plan.port) if is_free else {"containerPort": of.plan.port, "protocol": "TCP"}
    ports = [dict(port) for port in users]
    for port in ports:
        if port["containerPort"] == of.plan.port and port.get("protocol", "TCP") == "TCP":
            if is_free:
                port.setdefault("name", name)
            return ports
    return [own, *ports]


def _probes(of: Pods) -> dict[str, Any]:
    server = of.plan.reading.server
    health, live = (server.health, server.live_path) if server else (_HEALTH, _HEALTH)

    def probe(path: str, period: int, failures: int) -> dict[str, Any]:
        return pods.http_probe(
            path=path,
            port=of.plan.port,
            period=period,
            timeout=_PROBE_TIMEOUT,
            failures=failures,
            tls=bool(of.plan.tls),
        )

    ours = {
        "startupProbe": probe(health, 10, STARTUP_SECONDS // 10),
        "readinessProbe": probe(health, 10, 3),
        "livenessProbe": probe(live, 30, 5),
    }
    return {name: written for name, written in ours.items() if name not in of.container}


def _lifecycle(of: Pods) -> dict[str, Any]:
    """Delay termination: an engine stops listening at once, while requests are still on their way to it."""
    users = of.container.get("lifecycle", {})
    grace = of.spec.get("terminationGracePeriodSeconds", podspec.GRACE_SECONDS)
    if "preStop" in users or grace <= DRAIN_SECONDS:
        return {}
    return {"lifecycle": {**users, **pods.stop_later(seconds=DRAIN_SECONDS)}}


def _tolerations(taints: Sequence[Taint], users: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tolerate exactly the taints of the pool's nodes, and what the user tolerates besides."""
    pool = [
        pods.taint_toleration(key=taint.key, value=taint.value, effect=taint.effect)
        for taint in sorted(taints)
        if (taint.key, taint.effect) != (labels.GPU_TAINT, "NoSchedule")
    ]
    ours = [pods.toleration(key=labels.GPU_TAINT, value=None, effect="NoSchedule"), *pool]
    return [*ours, *(toleration for toleration in users if toleration not in ours)]


def _pod_claim(template_name: str) -> dict[str, Any]:
    return {"name": reserved.CLAIM, "resourceClaimTemplateName": template_name}


def _volumes(of: Pods) -> list[dict[str, Any]]:
    weights = of.site.weights
    return [
        *([pods.memory_volume(name=_volume(of, _SHM))] if _shares_memory(of) else []),
        *([_weights_volume(of, weights)] if weights else []),
    ]


def _weights_volume(of: Pods, weights: Weights) -> dict[str, Any]:
    return pods.claim_volume(name=_volume(of, _WEIGHTS), claim=weights.claim, read_only=not weights.is_own)


def _mounts(of: Pods) -> list[dict[str, Any]]:
    weights, shared = of.site.weights, []
    if _shares_memory(of):
        shared.append(pods.mount(volume=_volume(of, _SHM), path=SHARED_MEMORY))
    if weights:  # read-only: no engine may damage the weights that all share
        name = _volume(of, _WEIGHTS)
        shared.append(pods.mount(volume=name, path=MODELS, directory=weights.directory, read_only=True))
    return shared


def _shares_memory(of: Pods) -> bool:
    """Whether shared memory is ours to mount: the user has mounted nothing there."""
    return not any(is_mounted_at(mount, SHARED_MEMORY) for mount in of.container.get("volumeMounts", ()))


def is_mounted_at(mount: Mapping[str, Any], path: str) -> bool:
    """Whether a mount is at a path, however it is spelled: /dev/shm/ and //dev/./shm are /dev/shm."""
    return posixpath.normpath(f"/{mount['mountPath'].lstrip('/')}") == path


def _volume(of: Pods, name: str) -> str:
    """Return the name of a volume of ours, which no volume of the user has: theirs never begin with that prefix."""
    is_taken = any(volume["name"] == name for volume in of.spec.get("volumes", ()))
    return f"{reserved.PREFIX}{name}" if is_taken else name
