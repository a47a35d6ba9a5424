"""Reads objects of a cluster: objects as Kubernetes sends them in, records out.

Others write these objects, so nothing is taken for granted. A value of the wrong type counts as missing, an object
without a usable identity is no record, and texts and lists are cut to what Kubernetes itself would accept. No function
here raises.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from function import cel
from function.core import condition, condition_true, controller, dig, dig_list, visible
from function.observe import amounts, troubles
from function.observe.records import (
    Claim,
    Device,
    DeviceClass,
    Event,
    Fact,
    Key,
    Node,
    NodeTaint,
    Owner,
    Pod,
    Published,
    Slice,
    Value,
)
from function.vocabulary import labels

_LONGEST = 253
"""Characters of a name (DNS subdomain)."""
_LONGEST_KEY = 200
"""Characters of a label's key or an attribute's name, which is a domain and a word at most. Longer ones are no keys."""
_MOST_LABELS = 64
_MOST_TAINTS = 32
_MOST_FACTS = 64
"""Facts of a device. Kubernetes accepts 32 (resource.k8s.io/v1)."""
_MOST_DEVICES = 128
"""Devices of a slice (resource.k8s.io/v1, ResourceSliceMaxDevices)."""
_MOST_SELECTORS = 32
"""Selectors of a DeviceClass (resource.k8s.io/v1, DeviceSelectorsMaxSize)."""
_MOST_HELD = 128
"""Devices of a claim. Kubernetes accepts 32 (resource.k8s.io/v1, AllocationResultsMaxSize)."""
_MOST_PODS = 256
"""Pods of a claim (resource.k8s.io/v1, ResourceClaimReservedForMaxSize)."""
_BLOCKS = ("NoSchedule", "NoExecute")
_LONGEST_MESSAGE = 4096
_LWS = ("leaderTemplate", "workerTemplate")
_MOST_INT = 2**63
_GIVEN = ("string", "version", "bool", "int")


def node(given: Any) -> Node | None:
    name = name_of(dig(given, "metadata", "name"))
    if not name:
        return None
    return Node(
        name=name,
        labels=_texts(dig(given, "metadata", "labels")),
        is_ready=condition_true(_mapping(given), "Ready"),
        is_cordoned=dig(given, "spec", "unschedulable") is True,
        taints=tuple(sorted(_taints(dig_list(given, "spec", "taints")[:_MOST_TAINTS]))),
        allocatable=amounts.read(dig(given, "status", "allocatable")),
    )


def _taints(given: Iterable[Any]) -> Iterator[NodeTaint]:
    for taint in given:
        key, effect = name_of(dig(taint, "key")), dig(taint, "effect")
        if key and effect in _BLOCKS:
            yield NodeTaint(key, _text(dig(taint, "value")), str(effect))


def resource_slice(given: Any) -> Slice | None:
    """Slices that are not of one node are no record: their devices are not on the nodes of a pool."""
    name, driver = name_of(dig(given, "metadata", "name")), name_of(dig(given, "spec", "driver"))
    pool, on = name_of(dig(given, "spec", "pool", "name")), name_of(dig(given, "spec", "nodeName"))
    if not (name and driver and pool and on):
        return None
    return Slice(
        name=name,
        driver=sys.intern(driver),
        pool=sys.intern(pool),
        generation=_count(dig(given, "spec", "pool", "generation")),
        slices=_count(dig(given, "spec", "pool", "resourceSliceCount")),
        node=sys.intern(on),
        devices=tuple(_published(dig_list(given, "spec", "devices")[:_MOST_DEVICES], driver)),
    )


def _published(given: Iterable[Any], driver: str) -> Iterator[Published]:
    for device in given:
        name = name_of(dig(device, "name"))
        if name:
            tainted = any(dig(taint, "effect") in _BLOCKS for taint in dig_list(device, "taints")[:_MOST_TAINTS])
            yield Published(name, facts(device, driver), tainted)


def facts(device: Any, driver: str) -> tuple[Fact, ...]:
    """The attributes and capacities of a device in a ResourceSlice, or in the devices of a class, sorted."""
    return tuple(sorted({*_attributes(device, driver), *_capacities(device, driver)}, key=_order))


def _order(fact: Fact) -> tuple[str, str, str, str]:
    return fact.kind, fact.name, fact.type, str(fact.value)


def _attributes(device: Any, driver: str) -> Iterator[Fact]:
    for name, value in _items(dig(device, "attributes"), _MOST_FACTS):
        read = cel.attribute(value)
        if isinstance(read, cel.Unsupported) or (type(read) is int and abs(read) > _MOST_INT):
            continue
        type_ = next(type_ for type_ in _GIVEN if dig(value, type_) is not None)
        plain = read.text if isinstance(read, cel.Version) else read
        yield _fact("attribute", _bare(name, driver), type_, _text(plain) if isinstance(plain, str) else plain)


def _capacities(device: Any, driver: str) -> Iterator[Fact]:
    for name, value in _items(dig(device, "capacity"), _MOST_FACTS):
        amount = dig(value, "value") if isinstance(value, Mapping) else value
        if amounts.exact(amount) is not None:
            yield _fact("capacity", _bare(name, driver), "quantity", str(amount))


@lru_cache(maxsize=16_384, typed=True)  # most facts are the same on all devices of a cluster
def _fact(kind: str, name: str, type_: str, value: Value) -> Fact:
    return Fact(kind, name, type_, value)


def _bare(name: str, driver: str) -> str:
    return sys.intern(name.removeprefix(f"{driver}/"))


def device_class(given: Any) -> DeviceClass | None:
    name = name_of(dig(given, "metadata", "name"))
    if not name:
        return None
    texts = [dig(one, "cel", "expression") for one in dig_list(given, "spec", "selectors")[:_MOST_SELECTORS]]
    return DeviceClass(name, tuple(text for text in texts if isinstance(text, str)))


def claim(given: Any) -> Claim | None:
    """A claim that is not allocated is no record."""
    key = _key(given)
    held = tuple(_held(dig_list(given, "status", "allocation", "devices", "results")[:_MOST_HELD]))
    if key is None or not held:
        return None
    owner = controller(_mapping(dig(given, "metadata"))) or {}
    owners = [owner.get("name")] if owner.get("kind") == "Pod" else []
    users = [dig(one, "name") for one in dig_list(given, "status", "reservedFor")[:_MOST_PODS] if _is_pod(one)]
    return Claim(key, held, tuple(sorted({name_of(one) for one in (*owners, *users)} - {""})))


def _is_pod(consumer: Any) -> bool:
    return dig(consumer, "resource") == "pods" and not dig(consumer, "apiGroup")


def _held(results: Iterable[Any]) -> Iterator[Device]:
    for result in results:
        driver, pool, name = (name_of(dig(result, field)) for field in ("driver", "pool", "device"))
        if driver and pool and name and dig(result, "adminAccess") is not True:
            yield Device(sys.intern(driver), sys.intern(pool), name)


def pod(given: Any) -> Pod | None:
    """A pod that has ended is no record: it holds nothing. But an engine's pod that failed tells why."""
    key, workload = _key(given), name_of(dig(given, "metadata", "labels", labels.WORKLOAD))
    phase = dig(given, "status", "phase")
    if key is None or phase == "Succeeded" or (phase == "Failed" and not workload):
        return None
    owner = controller(_mapping(dig(given, "metadata"))) or {}
    return Pod(
        key=key,
        uid=name_of(dig(given, "metadata", "uid")),
        node=sys.intern(name_of(dig(given, "spec", "nodeName"))),
        workload=sys.intern(workload),
        pool=sys.intern(name_of(dig(given, "spec", "nodeSelector", labels.POOL))),
        is_daemon=owner.get("kind") == "DaemonSet",
        is_leaving=dig(given, "metadata", "deletionTimestamp") is not None,
        requests=amounts.requested(_mapping(dig(given, "spec"))),
        trouble=troubles.of(given) if workload else None,
    )


# What tells why pods are missing, or do not run


def replica_set(given: Any) -> Owner | None:
    failure = condition(_mapping(given), "ReplicaFailure") or {}
    told = failure.get("message") if failure.get("status") == "True" else ""
    return _owner("ReplicaSet", given, _workload(dig(given, "spec", "template")), _raw(told))


def stateful_set(given: Any) -> Owner | None:
    return _owner("StatefulSet", given, _workload(dig(given, "spec", "template")))


def leader_worker_set(given: Any) -> Owner | None:
    templates = [dig(given, "spec", "leaderWorkerTemplate", field) for field in _LWS]
    return _owner("LeaderWorkerSet", given, next(filter(None, map(_workload, templates)), ""))


def _workload(template: Any) -> str:
    return name_of(dig(template, "metadata", "labels", labels.WORKLOAD))


def _owner(kind: str, given: Any, workload: str, failure: str = "") -> Owner | None:
    key = _key(given)
    if key is None or not workload:
        return None
    wanted = dig(given, "spec", "replicas")
    has = _count(dig(given, "status", "replicas"))
    is_short = has < (1 if wanted is None else _count(wanted))
    return Owner(kind, key, sys.intern(workload), is_short=is_short, failure=failure)


_TELLING = frozenset(
    {
        *("Unhealthy", "FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox"),
        *("FailedPrepareDynamicResources", "NetworkNotReady", "FailedPostStartHook", "FailedCreate"),
        *("NotTriggerScaleUp", "TriggeredScaleUp", "FailedScaleUp", "FailedToScaleUpGroup"),
        *("InsufficientCapacityError",),
    }
)
"""Reasons of events that tell something. Sources: k8s.io/kubernetes v1.36, pkg/kubelet/events and pkg/controller;
kubernetes/autoscaler 1.36, processors/status and core/scaleup; karpenter v1, nodeclaim/lifecycle."""
_CONTAINER = re.compile(r"\{([^{}]{1,253})\}$")


def event(given: Any) -> Event | None:
    """Events with other reasons are no records."""
    reason, about = name_of(dig(given, "reason")), dig(given, "involvedObject")
    name = name_of(dig(about, "name"))
    if reason not in _TELLING or not name:
        return None
    path = _CONTAINER.search(_text(dig(about, "fieldPath")))
    times = (("lastTimestamp",), ("series", "lastObservedTime"), ("eventTime",), ("metadata", "creationTimestamp"))
    return Event(
        kind=sys.intern(_text(dig(about, "kind"))),
        key=(sys.intern(name_of(dig(about, "namespace"))), name),
        uid=name_of(dig(about, "uid")),
        container=path[1] if path else "",
        reason=sys.intern(reason),
        message=_raw(dig(given, "message")),
        at=max((_text(dig(given, *path)) for path in times), default=""),
    )


def _raw(given: Any) -> str:
    return given[:_LONGEST_MESSAGE] if isinstance(given, str) else ""


# Values of any type


def _key(given: Any) -> Key | None:
    namespace, name = name_of(dig(given, "metadata", "namespace")), name_of(dig(given, "metadata", "name"))
    return (sys.intern(namespace), name) if namespace and name else None


def _mapping(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}


def _items(given: Any, most: int) -> list[tuple[str, Any]]:
    """The entries of a map whose keys are names, the first ones in order if there are too many."""
    named = ((key, value) for key, value in _mapping(given).items() if name_of(key) and len(key) <= _LONGEST_KEY)
    return sorted(named, key=lambda item: item[0])[:most]


def _texts(given: Any) -> Mapping[str, str]:
    return {sys.intern(key): sys.intern(_text(value)) for key, value in _items(given, _MOST_LABELS)}


def name_of(given: Any) -> str:
    """A name of Kubernetes, or nothing. A name has no blanks and no control characters."""
    is_name = isinstance(given, str) and len(given) <= _LONGEST and given.isascii() and given.isprintable()
    return given if is_name and " " not in given else ""


def _text(given: Any) -> str:
    return visible(given[:_LONGEST])[:_LONGEST] if isinstance(given, str) else ""


def _count(given: Any) -> int:
    return given if type(given) is int and given > 0 else 0
