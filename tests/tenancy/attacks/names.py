"""Names that are meant to collide: with those of another tenant, with those that Modelplane gives, and cut ones."""

from __future__ import annotations

from collections.abc import Iterator

from function.core import Manifest, NamespacedName
from function.vocabulary import names
from tests.tenancy.attack import HARMLESS, attacks
from tests.tenancy.fleet import ATTACKER, VICTIM, cache, caller, deployment, endpoint, service, template

_CHAT = NamespacedName(VICTIM, "chat")
_LONG = "x" * 60
_SAME = {
    "the victim's own": "chat",
    "of the victim's cache": "weights",
    "of the victim's provider": "spare",
}
_TAKEN = {
    "of the victim's replica": names.replica(_CHAT, "west", 0),
    "of the victim's route": names.route(_CHAT),
    "of the victim's proxy": names.proxy(_CHAT),
    "of a namespace and a name": f"{VICTIM}-chat",
    "of Kubernetes' certificates": "kube-root-ca.crt",
    "of the cluster's probe": names.probe("west"),
    "of the cluster's provider config": names.provider_config("west"),
    "of what the observer writes": names.pod_reasons(VICTIM),
    "that differs in the last of 63 characters": f"{_LONG}-aa",
    "that differs from it there": f"{_LONG}-ab",
}


def _made() -> Iterator[tuple[str, tuple[Manifest | list[Manifest], str]]]:
    for what, name in _SAME.items():
        kinds = [
            deployment(name, replicas=int(name == "chat")),
            endpoint(name),
            service(name),
            caller(name),
            cache(name),
        ]
        yield f"the same name in every kind: {what}", (kinds, HARMLESS)
    for what, name in _TAKEN.items():
        yield f"a name {what}", ([endpoint(name), service(name)], HARMLESS)
    replica = names.replica(NamespacedName(ATTACKER, "own"), "west", 0)
    yield "a name of its own replica's endpoint", ([endpoint(replica), deployment("own")], HARMLESS)
    same = template(
        {"env": [{"name": "T", "valueFrom": {"configMapKeyRef": {"name": "kube-root-ca.crt", "key": "k"}}}]}
    )
    yield "a copy of Kubernetes' certificates", (deployment("copies", pods=same), HARMLESS)


ATTACKS = attacks("names", dict(_made()))
