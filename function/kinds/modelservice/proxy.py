"""The manifests of a service's proxy: its configuration, its pods, their budget, and the Service before them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from function.api.modelservice import Retry, Spec
from function.core import Manifest, NamespacedName, Request, dig
from function.fleet import callers as fleet_callers
from function.fleet.upstreams import SecretKey
from function.kinds.modelservice import admitted, notes
from function.kinds.modelservice.admitted import Admitted
from function.kinds.modelservice.members import RECORD, Member, Members, record
from function.manifests import backends, copies, proxies, running
from function.manifests.envoy import addresses, front, places, service
from function.manifests.envoy.access import Access
from function.manifests.envoy.callers import Caller, Callers, Limit
from function.manifests.envoy.endpoint import Endpoint
from function.manifests.envoy.upstream import Upstream
from function.manifests.proxies import SecretFiles
from function.vocabulary import labels, names, settings
from function.vocabulary.egress import Policy

CONFIG = "proxy-config"
PODS = "proxy"
SERVICE = "proxy-service"
KEYS = (CONFIG, PODS, "proxy-budget", SERVICE)
MOST = 200
"""Endpoints of a proxy: their configuration fits into a ConfigMap."""
MOST_AUTHORITIES = 16
"""Secrets with certificates of endpoints' authorities. Envoy watches each with two inotify instances, beside three for
itself, and a user has 128 of them on a node (fs.inotify.max_user_instances). Three pods of a proxy may be on one node
while they are replaced."""
_MOST_BYTES = 1_000_000
"""Bytes of a ConfigMap's data. Kubernetes takes 1 MiB (k8s.io/api/core/v1, MaxSecretSize)."""
_LINGER_SECONDS = 120
"""How long a pod may use a configuration after it was replaced. The kubelet writes a changed ConfigMap within its sync
period of a minute, plus up to half of that as jitter (kubernetes.io, "ConfigMaps", and kubelet's syncFrequency)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a proxy is for: a service, who can call it, and what its endpoints may be."""

    who: NamespacedName
    spec: Spec
    policy: Policy
    """Where the endpoints' names may lead."""
    admitted: Admitted | None = None
    """None if everybody can call."""

    @property
    def secrets(self) -> tuple[SecretKey, ...]:
        """The keys of callers."""
        return self.admitted.secrets if self.admitted else ()


def manifests(
    request: Request, asked: Asked, members: Members, configured: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Return all manifests by key. `configured` is the `data` of the same members."""
    who = request.identity
    named: dict[str, Any] = {"name": names.proxy(who), "namespace": who.namespace, "labels": _labels(who)}
    bootstrap = service.bootstrap(str(who))
    return {
        CONFIG: copies.config_map(**named, data={**bootstrap, **configured}, annotations=_withdrawn(request, members)),
        PODS: proxies.deployment(
            **named,
            image=settings.EGRESS_IMAGE,
            config_map=named["name"],
            config_hash=names.content_hash(bootstrap),
            secrets=_volumes({*members.secrets, *asked.secrets}),
            arguments=service.ARGUMENTS,
            memory=service.MEMORY,
        ),
        "proxy-budget": proxies.disruption_budget(**named),
        SERVICE: backends.service(**named, selector=named["labels"], target_port=places.PORT),
    }


def data(asked: Asked, members: Members) -> dict[str, str]:
    """Return the part of the configuration that may change while the proxy runs."""
    recorded = {one.endpoint.name: one.published for one in members.members}
    known = {admitted.RECORD: _text(asked.admitted.record)} if asked.admitted else {}
    files = {**service.dynamic(_front(asked, members.members)), **addresses.rule_files(asked.policy)}
    return {**files, RECORD: _text(recorded), **known}


def _text(recorded: Mapping[str, Any]) -> str:
    return json.dumps(recorded, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def is_too_large(found: Mapping[str, str]) -> bool:
    """Return whether a configuration does not fit into a ConfigMap."""
    return sum(len(key) + len(text.encode()) for key, text in found.items()) > _MOST_BYTES


def _labels(who: NamespacedName) -> dict[str, str]:
    return {labels.SERVICE: names.label_value(who.name)}


def _front(asked: Asked, members: Iterable[Member]) -> front.Front:
    spec = asked.spec
    has_tiers = any(entry.priority for entry in spec.endpoints)
    return front.Front(
        service=asked.who.name,
        endpoints=tuple(_endpoint(spec, one, _checked(asked, one)) for one in members),
        retry=_retry(spec.retry or (Retry() if has_tiers else None)),
        ejection=_ejection(spec, has_tiers=has_tiers),
        access=_access(asked),
    )


def _access(asked: Asked) -> Access:
    required, usage = asked.spec.callers and asked.spec.callers.required, asked.spec.usage
    known = Callers(
        namespace=asked.who.namespace,
        required=required is not False,
        callers=tuple(map(_caller, asked.admitted.callers)) if asked.admitted else (),
    )
    return Access(
        callers=known if asked.admitted else None,
        server=settings.rate_limit_server(),
        logged=str(asked.who) if usage and usage.log else None,
    )


def _caller(known: fleet_callers.Caller) -> Caller:
    return Caller(
        name=known.name,
        files=tuple(SecretKey(key.secret, key.key).mounted.path for key in known.keys),
        limits=tuple(Limit(one.tokens, one.per) for one in known.limits),
    )


def _checked(asked: Asked, member: Member) -> Upstream:
    """Return the endpoint's server with the rules for what its name resolves to, and whether its name is completed.

    A literal address was checked in its URL.
    """
    to, namespace = member.reached.upstream, asked.who.namespace
    if member.endpoint.is_replicas or to.address_type != "FQDN":
        return to
    rules = addresses.rules(asked.policy, to.host, namespace)
    return replace(to, rules=rules, is_completed=asked.policy.completes(to.host, namespace))


def _endpoint(spec: Spec, member: Member, to: Upstream) -> Endpoint:
    entry, reached = spec.endpoints[member.endpoint.entry], member.reached
    return Endpoint(
        name=member.endpoint.name,
        upstream=to,
        weight=member.weight,
        priority=entry.priority,
        names=member.endpoint.served,
        model=entry.model or reached.upstream.model,
        is_healthy=member.is_healthy,
        is_outside=member.endpoint.is_outside,
    )


def _retry(asked: Retry | None) -> front.Retry:
    if asked is None:
        return front.Retry()
    return front.Retry(
        on_reset="reset" in asked.on,
        on_5xx="5xx" in asked.on,
        statuses=tuple(sorted(int(on) for on in asked.on if on.isdigit())),
        attempts=asked.attempts,
        per_try=_duration(asked.perTryTimeout) if asked.perTryTimeout else None,
        budget=int(asked.budget.rstrip("%")) if asked.budget else None,
    )


def _ejection(spec: Spec, *, has_tiers: bool) -> front.Ejection | None:
    asked = spec.ejection
    if asked is None:
        return front.Ejection(after=5, duration="30s") if has_tiers else None
    return front.Ejection(after=asked.after, duration=_duration(asked.duration))


def _duration(text: str) -> str:
    """Return a duration as protobuf writes it: seconds, with decimals."""
    if text.endswith("ms"):
        return f"{int(text[:-2]) / 1000:g}s"
    return f"{int(text[:-1]) * 60}s" if text.endswith("m") else text


def _volumes(secrets: Collection[SecretKey]) -> list[SecretFiles]:
    """Return one volume for each Secret. No pod waits for one: an endpoint without its key is left out by the proxy."""
    keys: dict[str, list[str]] = {}
    for one in sorted(secrets):
        keys.setdefault(one.secret, []).append(one.key)
    return [
        SecretFiles(
            f"secret-{names.content_hash(secret)}",
            secret,
            f"{places.SECRETS_DIRECTORY}/{secret}",
            tuple((key, key) for key in sorted(found)),
            is_optional=True,
        )
        for secret, found in sorted(keys.items())
    ]


# Endpoints that are withdrawn


def _withdrawn(request: Request, members: Members) -> dict[str, str]:
    """Return the annotation of endpoints that left the configuration lately; none offline, where no time passes."""
    if not request.at:
        return {}
    config = request.observed.get(CONFIG)
    there = {one.endpoint.name for one in members.members}
    left = {name: round(request.at) for name in record(config) if name not in there}
    found = {name: at for name, at in {**left, **lingering(request)}.items() if name not in there}
    return {labels.WITHDRAWN: json.dumps(found, sort_keys=True)} if found else {}


def lingering(request: Request) -> dict[str, int]:
    """Return the endpoints that pods may still lead to, each with the time at which the configuration dropped it."""
    found = notes.read(dig(request.observed.get(CONFIG), "metadata", "annotations", labels.WITHDRAWN))
    return {name: at for name, at in found.items() if isinstance(at, int) and request.at < at + _LINGER_SECONDS}


# What runs


def is_available(request: Request) -> bool:
    """Return whether the proxy can take traffic: all of it is there, and a pod runs."""
    return all(key in request.observed for key in KEYS) and running.available(request.observed[PODS]) > 0


def restated(request: Request) -> dict[str, Manifest]:
    """Return what is there of the proxy."""
    return {key: request.observed[key] for key in KEYS if key in request.observed}
