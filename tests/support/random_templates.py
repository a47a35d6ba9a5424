"""Pod templates at random, along Kubernetes' schema: mostly sound ones, ones with a fault or two, and junk.

`template` sets any field that Kubernetes knows. Values come from `random_values`; where fields belong together (volumes
and mounts, ports and probes, requests and limits), this module makes them fit.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from function.podspec import definitions, tables
from function.podspec.definitions import Type
from tests.support import random_values
from tests.support.random_values import SCALARS, VALUES, WORDS

Made = dict[str, Any]
_OFTEN = 0.3
_DEEPEST = 12
_OURS = {
    ("PodSpec", "nodeName"),
    ("PodSpec", "nodeSelector"),
    ("PodSpec", "schedulerName"),
    ("PodSpec", "ephemeralContainers"),
    ("PodSpec", "activeDeadlineSeconds"),
}
"""Fields that no sound template has."""
_ELSEWHERE = {
    ("Container", "restartPolicy"),
    ("Container", "restartPolicyRules"),
    ("Container", "volumeMounts"),
    ("Container", "volumeDevices"),
    ("Container", "lifecycle"),
    ("Container", "livenessProbe"),
    ("Container", "readinessProbe"),
    ("Container", "startupProbe"),
    ("Container", "resources"),
    ("Container", "name"),
    ("PodSpec", "containers"),
    ("PodSpec", "initContainers"),
    ("PodSpec", "volumes"),
    ("PodSpec", "resourceClaims"),
}
"""Fields that belong together with others."""


def template(random: Random) -> Made:
    """A template that is sound, most of the time."""
    spec = _object(random, "PodSpec", 0.1, 0)
    volumes = _named(random, "Volume", random.randint(0, 4))
    claims = _named(random, "PodResourceClaim", random.choice((0, 0, 0, 1)))
    count, names = random.choice((1, 1, 1, 2, 3)), ["engine", "metrics", "agent"]
    spec["containers"] = [_container(random, name, volumes, claims) for name in names[:count]]
    if random.random() < _OFTEN:
        spec["initContainers"] = [_init(random, f"init-{i}", volumes, claims) for i in range(random.randint(1, 2))]
    spec |= {"volumes": volumes} if volumes else {}
    spec |= {"resourceClaims": claims} if claims else {}
    return {**({"metadata": random_values.metadata(random)} if random.random() < _OFTEN else {}), "spec": spec}


def faulty(random: Random) -> Made:
    """A template with one or two faults, or with what may be one."""
    given: Made = json.loads(json.dumps(template(random)))  # nothing in it is shared
    for _ in range(random.choice((1, 1, 2))):
        if given.get("spec"):
            _edit(random, given)
    return given


def junk(random: Random, type_: Type = definitions.TEMPLATE, depth: int = 0) -> Any:
    """Anything, and often something of the right type."""
    if random.random() < 0.08 or depth > _DEEPEST:
        return random.choice(
            (None, True, 0, -1, 8.0, 0.5, "", "a", "8", [], {}, [None], {"a": None}, float("nan"), 1e300)
        )
    match type_.kind:
        case "object":
            names = [name for name in type_.fields if name in type_.required or random.random() < 0.15]
            given = {name: junk(random, type_.fields[name], depth + 1) for name in names}
            return given | ({"unknown": {"a": [1.0]}} if random.random() < 0.05 else {})
        case "list" | "map":
            assert type_.items is not None
            items = [junk(random, type_.items, depth + 1) for _ in range(random.randint(0, 2))]
            return items if type_.kind == "list" else dict(zip("ab", items, strict=False))
        case "any":
            return random.choice(({}, {"a": [1]}, [], "a", 8))
        case _:
            return _scalar(random, type_)


def places(type_: Type, value: Any) -> Iterator[tuple[Type, Any, str | int]]:
    """Every place in a value, along the schema: the type of what holds it, what holds it, and its key or index."""
    if type_.kind == "object" and isinstance(value, dict):
        for name, child in value.items():
            if name in type_.fields:
                yield type_, value, name
                yield from places(type_.fields[name], child)
    elif type_.kind in ("list", "map") and isinstance(value, list | dict) and type_.items is not None:
        for key, child in list(enumerate(value)) if isinstance(value, list) else list(value.items()):
            yield type_, value, key
            yield from places(type_.items, child)


def _edit(random: Random, given: Made) -> None:
    """Change a template at one place."""
    of, holder, key = random.choice(list(places(definitions.TEMPLATE, given)))
    type_ = of.fields[key] if isinstance(key, str) and of.kind == "object" else of.items
    assert type_ is not None
    match random.choice(("value", "value", "value", "odd", "gone", "more", "twice", "unknown")):
        case "value":
            holder[key] = _value(random, of, str(key), type_, 1)
        case "odd":
            holder[key] = random.choice((*WORDS, 0, 1, -1, 70000, True, [], {}))
        case "gone":
            holder.pop(key)
        case "twice" if isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        case "unknown" if of.kind == "object":
            holder["later"] = {"seconds": 5}
        case _:
            _add(random, of, holder)


def _add(random: Random, of: Type, holder: Any) -> None:
    """Add a field to an object, or an item to a list."""
    if of.kind == "object":
        name = random.choice(list(of.fields))
        holder[name] = _value(random, of, name, of.fields[name], 1)
    elif isinstance(holder, list):
        assert of.items is not None
        holder.append(made(random, of.items, 1))


def made(random: Random, type_: Type, depth: int) -> Any:
    """A value of a type."""
    match type_.kind:
        case "object":
            return _object(random, type_.definition, 0.2 if depth < 4 else 0.05, depth)
        case "list":
            assert type_.items is not None
            return [made(random, type_.items, depth + 1) for _ in range(random.choice((0, 1, 1, 2)))]
        case "map":
            return dict(random.sample([("a", "b"), ("example.org/a", "1"), ("A.b_c", "")], random.randint(0, 2)))
        case "any":
            return {}
        case _:
            return _scalar(random, type_)


def _scalar(random: Random, type_: Type) -> Any:
    return random.choice(SCALARS[type_.kind])


def _value(random: Random, of: Type, name: str, type_: Type, depth: int) -> Any:
    """A value of a field, or of an item of it."""
    field = (of.definition, name)
    known: Callable[[Random], Any] | None = VALUES.get(field)
    if known is not None and random.random() < 0.998:
        return known(random)
    if field in tables.ONE_OF and random.random() < 0.995:
        one = random.choice(tables.ONE_OF[field])
        return [one] if type_.kind == "list" else one
    return made(random, type_, depth + 1)


def _object(random: Random, name: str, often: float, depth: int) -> Made:
    type_ = definitions.definition(name)
    if name in tables.EXACTLY_ONE:
        return _one_of(random, type_, depth)
    if name == "Probe":
        return _probe(random, [], once=True)
    required = {*type_.required, *tables.REQUIRED.get(name, ())}
    fields = {
        field: _value(random, type_, field, of, depth)
        for field, of in type_.fields.items()
        if (name, field) not in _OURS | _ELSEWHERE and (field in required or random.random() < often)
    }
    return random_values.fitting(random, name, fields)


def _one_of(random: Random, type_: Type, depth: int) -> Made:
    besides = tables.EXACTLY_ONE[type_.definition]
    fixed = {name: _value(random, type_, name, type_.fields[name], depth) for name in besides if random.random() < 0.9}
    options = [name for name in type_.fields if name not in besides]
    common = [name for name in options if name in random_values.COMMON]
    chosen = random.choice(common if common and random.random() < 0.7 else options)
    return {**fixed, chosen: _value(random, type_, chosen, type_.fields[chosen], depth)}


def _named(random: Random, definition: str, count: int) -> list[Made]:
    return [
        {**_one_of(random, definitions.definition(definition), 1), "name": f"{definition.lower()[:3]}-{i}"}
        for i in range(count)
    ]


def _container(random: Random, name: str, volumes: list[Made], claims: list[Made]) -> Made:
    given = {**_object(random, "Container", 0.15, 2), "name": name}
    _add_storage(random, given, volumes)
    if random.random() < 0.6:
        given["resources"] = random_values.resources(random, claims)
    names = [port["name"] for port in given.get("ports", ()) if "name" in port]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        if random.random() < _OFTEN:
            given[probe] = _probe(random, names, once=probe != "readinessProbe")
    if random.random() < _OFTEN:
        hooks = random.sample(("postStart", "preStop"), random.randint(1, 2))
        given["lifecycle"] = {hook: _object(random, "LifecycleHandler", 0, 3) for hook in hooks}
    if random.random() < 0.05:
        rule = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
        given |= {"restartPolicy": "Never", "restartPolicyRules": [rule]}
    return given


def _init(random: Random, name: str, volumes: list[Made], claims: list[Made]) -> Made:
    given = _container(random, name, volumes, claims)
    if random.random() < 0.4:
        given.pop("restartPolicyRules", None)
        return {**given, "restartPolicy": "Always"}
    ends = ("lifecycle", "startupProbe", "readinessProbe", "livenessProbe")
    return {field: value for field, value in given.items() if field not in ends}


def _add_storage(random: Random, container: Made, volumes: list[Made]) -> None:
    for index, volume in enumerate(volumes):
        is_disk = "persistentVolumeClaim" in volume or "ephemeral" in volume
        if random.random() < 0.1 and is_disk:
            device = {"name": volume["name"], "devicePath": f"/dev/xvd{index}"}
            container.setdefault("volumeDevices", []).append(device)
        elif random.random() < 0.6:
            place = f"/mnt/{index}" if random.random() < 0.95 else random.choice(("/dev/shm", "/mnt/models"))
            mount = {**_object(random, "VolumeMount", 0.1, 3), "name": volume["name"], "mountPath": place}
            container.setdefault("volumeMounts", []).append(mount)


def _probe(random: Random, names: list[str], *, once: bool) -> Made:
    type_ = definitions.definition("Probe")
    numbers = [name for name in type_.fields if name not in tables.HANDLERS and random.random() < 0.2]
    given = {name: random.choice((0, 1, 5, 30)) for name in numbers}
    if once:
        given |= {"successThreshold": random.choice((0, 1))} if "successThreshold" in given else {}
        given |= {"terminationGracePeriodSeconds": 5} if "terminationGracePeriodSeconds" in given else {}
    else:
        given.pop("terminationGracePeriodSeconds", None)
    handler = random.choice(tables.HANDLERS)
    action = _value(random, type_, handler, type_.fields[handler], 4)
    if handler in ("httpGet", "tcpSocket") and names and random.random() < 0.5:
        action["port"] = random.choice(names)
    return {**given, handler: action}
