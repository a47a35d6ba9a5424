"""Compose the Objects that hold a replica's manifests for its cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.api.leader_worker_set import LeaderWorkerSet
from function.api.modelreplica import Member, Spec
from function.core import InvalidSpec, NamespacedName
from function.kinds.modelreplica import carried, disaggregation, engine, pods, readiness, templates
from function.kinds.modelreplica import remarks as remarks_
from function.kinds.modelreplica.engine import EnginePlan
from function.kinds.modelreplica.inputs import Site
from function.manifests import claims, copies, picker, provider, routing, workloads
from function.podspec import security
from function.vocabulary import conditions as c
from function.vocabulary import labels, names
from function.vocabulary.pod_security import RESTRICTED

_CLAIMS = "claims-"
_GATEWAY = (names.SYSTEM_NAMESPACE, names.CLUSTER_GATEWAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """Everything that was read and decided about a replica."""

    identity: NamespacedName
    spec: Spec
    site: Site
    plans: tuple[EnginePlan, ...]
    owned: dict[str, str]
    """Labels that mark everything as part of this replica."""

    @property
    def is_split(self) -> bool:
        return self.spec.serving.mode == "PrefillDecode"


def objects(of: Replica) -> dict[str, dict[str, Any]]:
    """Return the Objects by composition key. Raises InvalidSpec if the engines have no port in common."""
    namespace = copies.namespace(name=of.identity.namespace)
    engines = _engines(of)
    remote = {**_carried(of), **engines, **_serving(of, engines)}
    return {"namespace": _shared(of, namespace), **{key: object_(of, manifest) for key, manifest in remote.items()}}


def is_claim(key: str) -> bool:
    """Whether an Object with a key holds a claim template."""
    return key.startswith(_CLAIMS)


def remarks(of: Replica) -> str:
    """Return what the user should know of the composed pods, for the condition's message."""
    told = (
        *remarks_.engines(of.plans, of.site),
        *(disaggregation.remarks(_decode_first(of)) if of.is_split else ()),
        *templates.remarks(of.spec),
    )
    return "".join(f"; {remark}" for remark in told)


def _carried(of: Replica) -> dict[str, dict[str, Any]]:
    manifests = [carried.manifest(of.identity, source, of.owned) for source in of.site.sources]
    return {f"{manifest['kind'].lower()}-{manifest['metadata']['name']}": manifest for manifest in manifests}


def _engines(of: Replica) -> dict[str, dict[str, Any]]:
    composed: dict[str, dict[str, Any]] = {}
    for plan in of.plans:
        templates = {member.role: _claim(of, plan, member) for member in plan.engine.members if member.deviceRequests}
        for role, template in templates.items():
            composed[f"{_CLAIMS}{plan.name}-{role.lower()}-{template['metadata']['name'][-8:]}"] = template
        workload = _workload(of, plan, {role: template["metadata"]["name"] for role, template in templates.items()})
        composed[readiness.workload_key(workload["kind"], plan.name)] = workload
    return composed


def _kind(plan: EnginePlan) -> str:
    return "LeaderWorkerSet" if plan.is_gang else "Deployment"


def _claim(of: Replica, plan: EnginePlan, member: Member) -> dict[str, Any]:
    """Return a claim template. It is immutable, so its name and key contain a hash of its content."""
    requests = [
        claims.device_request(
            name=request.name,
            device_class=request.deviceClassName,
            count=request.count,
            selectors=[selector.cel for selector in request.selectors],
        )
        for request in member.deviceRequests
    ]
    name = names.part(of.identity, plan.name, member.role.lower(), content=requests)
    return claims.resource_claim_template(
        name=name, namespace=of.identity.namespace, requests=requests, labels=of.owned
    )


def _workload(of: Replica, plan: EnginePlan, claimed: Mapping[str, str]) -> dict[str, Any]:
    templates = {member.role: _pod(of, plan, member, claimed.get(member.role)) for member in plan.engine.members}
    return _gang(of, plan, templates) if plan.is_gang else _alone(of, plan, templates["Standalone"])


def _pod(of: Replica, plan: EnginePlan, member: Member, claim: str | None) -> dict[str, Any]:
    own = engine.of_member(plan, member)
    template = pods.template(pods.Pods(replica=of.identity, plan=own, member=member, site=of.site, claim=claim))
    return security.hardened(template) if of.spec.podSecurity == RESTRICTED else template


def _alone(of: Replica, plan: EnginePlan, template: dict[str, Any]) -> dict[str, Any]:
    return workloads.deployment(
        name=plan.workload,
        namespace=of.identity.namespace,
        copies=plan.engine.copies,
        selector={labels.WORKLOAD: plan.workload},
        strategy=workloads.WITHOUT_SURGE,
        pod=template,
        labels=of.owned,
        progress_deadline_seconds=pods.STARTUP_SECONDS + 600,
    )


def _gang(of: Replica, plan: EnginePlan, templates: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    worker = next(member.worker for member in plan.engine.members if member.role == "Worker")
    settings = plan.engine.leaderWorkerSet or LeaderWorkerSet()
    return workloads.leader_worker_set(
        name=plan.workload,
        namespace=of.identity.namespace,
        copies=plan.engine.copies,
        size=1 + (worker.nodes if worker else 1),
        leader=templates["Leader"],
        worker=templates["Worker"],
        labels=labels.merge(settings.labels, of.owned),
        annotations=settings.annotations,
        startup_policy=settings.startupPolicy or "LeaderCreated",
        restart_policy=settings.restartPolicy or "RecreateGroupOnPodRestart",
        sub_group_policy=settings.subGroupPolicy.model_dump() if settings.subGroupPolicy else None,
        network_config=settings.networkConfig.model_dump() if settings.networkConfig else None,
    )


def _serving(of: Replica, engines: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return _split(of) if of.is_split else _unified(of, engines)


def _unified(of: Replica, engines: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    name = names.part(of.identity, "serving")
    service = routing.service(
        name=name,
        namespace=of.identity.namespace,
        selector=pods.serving_selector(of.identity),
        port=routing.service_port(name=pods.SERVING_PORT, number=80, target=_target(of, engines)),
        labels=of.owned,
    )
    return {"service": service, "route": _route(of, routing.to_service(name=name, port=80))}


def _target(of: Replica, engines: Mapping[str, dict[str, Any]]) -> str | int:
    """Return the port for traffic that all pods have in common: its name, or else its number."""
    served = {key: manifest for key, manifest in engines.items() if readiness.is_workload(key)}
    fronts = {readiness.workload_key(_kind(plan), plan.name): plan.front for plan in of.plans}
    found = {pods.traffic_port_name(pod, port) for key, port in fronts.items() for pod in _serving_pods(served[key])}
    if found == {pods.SERVING_PORT}:
        return pods.SERVING_PORT
    numbers = {plan.name: plan.front for plan in of.plans}
    if len(set(numbers.values())) == 1:
        return of.plans[0].front
    listed = ", ".join(f"{name} on {number}" for name, number in numbers.items())
    problem = f"listen on different ports, {listed}; name the port of each container {pods.SERVING_PORT}, or use one"
    raise InvalidSpec(c.INVALID_REPLICA(field="spec.engines", problem=problem))


def _serving_pods(workload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the templates of a workload's pods that serve."""
    return [pod for pod in workloads.pod_templates(workload) if labels.SERVING in pod["metadata"]["labels"]]


def _split(of: Replica) -> dict[str, dict[str, Any]]:
    name = names.part(of.identity, "serving")
    parts = disaggregation.picker_parts(of.identity, _decode_first(of), pool=name, owned=of.owned)
    pool = routing.inference_pool(
        name=name,
        namespace=of.identity.namespace,
        selector=pods.serving_selector(of.identity),
        target_port=of.plans[0].front,
        picker=parts["picker-service"]["metadata"]["name"],
        picker_port=picker.GRPC_PORT,
        labels=of.owned,
    )
    return {**parts, "pool": pool, "route": _route(of, routing.to_pool(name=name))}


def _decode_first(of: Replica) -> Sequence[EnginePlan]:
    """Sort the decode engine first: what its pods have cached decides whether a prompt goes to a prefill pod."""
    return sorted(of.plans, key=lambda plan: plan.engine.phase or "")


def _route(of: Replica, backend: Mapping[str, Any]) -> dict[str, Any]:
    return routing.http_route(
        name=names.part(of.identity, "serving"),
        namespace=of.identity.namespace,
        gateway=_GATEWAY,
        prefix=f"/{of.identity.namespace}/{of.identity.name}/",
        backend=backend,
        labels=of.owned,
    )


def _shared(of: Replica, namespace: dict[str, Any]) -> dict[str, Any]:
    """Return this replica's own Object for the namespace.

    All replicas in it have one, and deleting an Object keeps it.
    """
    name = namespace["metadata"]["name"]
    return provider.object_(
        name=names.derived(name, "Namespace", of.site.cluster, *of.identity),
        namespace=of.identity.namespace,
        provider_config=of.site.provider_config,
        manifest=namespace,
        labels=of.owned,
        management_policies=provider.KEEP_REMOTE,
    )


def object_(of: Replica, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the Object that holds a manifest of the replica for its cluster."""
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    return provider.object_(
        name=names.remote_object(of.site.cluster, kind, of.identity.namespace, name),
        namespace=of.identity.namespace,
        provider_config=of.site.provider_config,
        manifest=readiness.stamped(manifest),
        labels=of.owned,
        readiness_cel=readiness.CEL.get(kind),
    )
