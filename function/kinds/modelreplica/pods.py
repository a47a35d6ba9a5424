"""The pods of a member: the user's container, and the few things it needs around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.api.modelreplica import Member
from function.api.pod_template import Container, EnvVar
from function.core import NamespacedName
from function.kinds.modelreplica import carried, disaggregation, flags
from function.kinds.modelreplica.engine import EnginePlan
from function.kinds.modelreplica.inputs import Site, Weights
from function.manifests import pods
from function.manifests.metadata import pod_metadata
from function.scheduling import Taint
from function.vocabulary import labels, names

ENGINE = "engine"
SERVING_PORT = "http"
"""Name of the port for traffic."""
DEVICES = "devices"
"""Name of the claim, in the pod and in the container."""
MODELS = "/mnt/models"
"""Mount path of the weights."""
HEALTH = "/health"
"""The path that vLLM, SGLang and TensorRT-LLM answer once they serve."""
STARTUP_SECONDS = 7200
"""Allows for weights on shared storage at a few hundred MB a second."""
GRACE_SECONDS = 120
"""Time for streams to end. An engine that finishes sooner exits sooner."""
DRAIN_SECONDS = 10
"""A terminating pod keeps serving this long, until gateways know that it terminates."""
_PROBE_TIMEOUT = 30
"""Seconds. SGLang's /health generates a token, which takes up to 20 seconds (sglang 0.5.23)."""
_SHM, _WEIGHTS = "shm", "models"


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
    def container(self) -> Container:
        return self.member.template.spec.containers[0]

    @property
    def serves(self) -> bool:
        return self.member.role != "Worker"


def template(of: Pods) -> dict[str, Any]:
    spec = of.member.template.spec
    secrets = [{"name": _called(of, "Secret", secret.name)} for secret in spec.imagePullSecrets]
    return {
        "metadata": _metadata(of),
        "spec": {
            "nodeSelector": {labels.POOL: of.member.nodePoolName},
            "tolerations": _tolerations(of.site.taints[of.member.nodePoolName]),
            **({"imagePullSecrets": secrets} if secrets else {}),
            **({"priorityClassName": spec.priorityClassName} if spec.priorityClassName else {}),
            **({"serviceAccountName": spec.serviceAccountName} if spec.serviceAccountName else {}),
            "enableServiceLinks": False,  # a Service called vllm would set VLLM_PORT, an option of vLLM
            "terminationGracePeriodSeconds": _grace(of),
            **({"initContainers": [disaggregation.sidecar(of.plan)]} if of.serves and of.plan.has_sidecar else {}),
            "containers": [_container(of)],
            **({"resourceClaims": [_pod_claim(of.claim)]} if of.claim else {}),
            "volumes": _volumes(of),
        },
    }


def serving_selector(replica: NamespacedName) -> dict[str, str]:
    """Return the labels of the pods that serve a replica, which no other pod of their namespace has."""
    return {labels.SERVING: names.label_value(replica.name)}


def _metadata(of: Pods) -> dict[str, Any]:
    users = of.member.template.metadata
    ours = {
        labels.WORKLOAD: of.plan.workload,
        **(serving_selector(of.replica) if of.serves else {}),
        **({labels.LWS_ROLE: of.member.role.lower()} if of.plan.is_gang else {}),
    }
    roles = disaggregation.pod_labels(of.plan) if of.serves else {}
    own = users.labels if users else {}
    return pod_metadata(labels=labels.merge({**roles, **own}, ours), annotations=users.annotations if users else None)


def _container(of: Pods) -> dict[str, Any]:
    given = _without_blanks(of.container.model_dump(mode="json", exclude_unset=True, exclude_none=True))
    args = [*of.container.args, *_injected_args(of)]
    resources = {**given.pop("resources", {}), **({"claims": [{"name": DEVICES}]} if of.claim else {})}
    return {
        **given,
        **({"args": args} if args else {}),
        "env": _env(of),
        **({"ports": [_port(of)], **_probes(of), **_lifecycle(of)} if of.serves else {}),
        **({"resources": resources} if resources else {}),
        "volumeMounts": _mounts(of),
    }


def _injected_args(of: Pods) -> Iterable[str]:
    """Yield args for a serving container that uses its image's entry point, unless the user's args set them."""
    if not of.serves or of.container.command:
        return
    line = of.plan.line
    if of.site.weights and not flags.names_model(line):
        yield f"--model={MODELS}"
        if of.site.weights.repo and flags.option(line, "served-model-name") is None:
            yield f"--served-model-name={of.site.weights.repo}"
    if of.plan.has_sidecar and flags.option(line, "port") is None:
        yield f"--port={of.plan.port}"


def _env(of: Pods) -> list[dict[str, Any]]:
    """Return the variables: ours first, so that the user's $(…) can refer to them, except those that the user sets."""
    users = [_variable(of, variable) for variable in of.container.env]
    taken = {variable["name"] for variable in users}
    return [*(variable for variable in _our_env(of) if variable["name"] not in taken), *users]


def _our_env(of: Pods) -> Iterable[dict[str, Any]]:
    if of.plan.is_gang:  # LeaderWorkerSet puts its own variables before all others (lws v0.8)
        yield pods.env("MODELPLANE_LEADER_ADDRESS", "$(LWS_LEADER_ADDRESS)")
        yield pods.env("MODELPLANE_RANK", "$(LWS_WORKER_INDEX)")
    yield pods.env("MODELPLANE_PORT", str(of.plan.port))
    if of.site.weights:
        yield pods.env("HF_HUB_OFFLINE", "1")
    yield from disaggregation.env(of.plan)


def _variable(of: Pods, variable: EnvVar) -> dict[str, Any]:
    written = variable.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    for field, kind in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
        reference = written.get("valueFrom", {}).get(field)
        if reference:
            reference["name"] = _called(of, kind, reference["name"])
    return written


def _called(of: Pods, kind: str, name: str) -> str:
    """Return the name of a Secret or ConfigMap on the cluster."""
    source = next((s for s in of.site.sources if (s.kind, s.name) == (kind, name)), None)
    return carried.name(of.replica, source) if source else carried.absent(of.replica, kind, name)


def _port(of: Pods) -> dict[str, Any]:
    """Return the engine's port.

    SERVING_PORT is the name of the traffic port, which is the sidecar's if there is one.
    """
    return pods.port(name="engine" if of.plan.has_sidecar else SERVING_PORT, number=of.plan.port)


def _probes(of: Pods) -> dict[str, Any]:
    def probe(period: int, failures: int) -> dict[str, Any]:
        return pods.http_probe(path=HEALTH, port=of.plan.port, period=period, timeout=_PROBE_TIMEOUT, failures=failures)

    ours = {
        "startupProbe": probe(10, STARTUP_SECONDS // 10),
        "readinessProbe": probe(10, 3),
        "livenessProbe": probe(30, 5),
    }
    return {name: written for name, written in ours.items() if getattr(of.container, name) is None}


def _grace(of: Pods) -> int:
    users = of.member.template.spec.terminationGracePeriodSeconds
    return GRACE_SECONDS if users is None else users


def _lifecycle(of: Pods) -> dict[str, Any]:
    """Delay termination: an engine stops listening at once, while requests are still on their way to it."""
    return {"lifecycle": pods.stop_later(seconds=DRAIN_SECONDS)} if _grace(of) > DRAIN_SECONDS else {}


def _tolerations(taints: Sequence[Taint]) -> list[dict[str, Any]]:
    """Tolerate exactly the taints of the pool's nodes."""
    pool = [
        pods.toleration(key=taint.key, value=taint.value, effect=taint.effect)
        for taint in sorted(taints)
        if (taint.key, taint.effect) != (labels.GPU_TAINT, "NoSchedule")
    ]
    return [pods.toleration(key=labels.GPU_TAINT, value=None, effect="NoSchedule"), *pool]


def _pod_claim(template_name: str) -> dict[str, Any]:
    return {"name": DEVICES, "resourceClaimTemplateName": template_name}


def _volumes(of: Pods) -> list[dict[str, Any]]:
    weights = of.site.weights
    return [
        pods.memory_volume(name=_SHM),
        *([_weights_volume(weights)] if weights else []),
    ]


def _weights_volume(weights: Weights) -> dict[str, Any]:
    return pods.claim_volume(name=_WEIGHTS, claim=weights.claim, read_only=not weights.is_own)


def _mounts(of: Pods) -> list[dict[str, Any]]:
    weights = of.site.weights
    shared = [pods.mount(volume=_SHM, path="/dev/shm")]  # noqa: S108 (not a file of ours: the pod's shared memory)
    if weights:  # read-only: no engine may damage the weights that all share
        shared.append(pods.mount(volume=_WEIGHTS, path=MODELS, directory=weights.directory, read_only=True))
    return shared


def _without_blanks(written: Mapping[str, Any]) -> dict[str, Any]:
    """Drop empty blocks and lists, at any depth."""
    filled = {k: _without_blanks(v) if isinstance(v, Mapping) else v for k, v in written.items()}
    return {field: value for field, value in filled.items() if value not in ({}, [])}
