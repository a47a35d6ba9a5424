"""Calls that never repeat: those of a replay under other names, versions and selectors, and hostile ones.

A cache that is keyed by anything which users choose grows with each of these calls until it is full. Most variations
replace texts by others of the same length in the encoded request, because that needs no decoding.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import count
from typing import Any

from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from google.protobuf import json_format

from tests.bench import fleet as large_fleet
from tests.bench import shuffled
from tests.load.fleet import NAMESPACES
from tests.load.replay import Call, Replay, calls

FILLING = 2_000
"""Calls in which the caches are filled."""
_LARGE_EVERY, _WHOLE_EVERY = 50, 500
"""While the caches are filled, one call of so many is a placement on 1,000 clusters, and one of so many also has their
10,000 replicas. Later, one of `_WHOLE_EVERY` is one of these."""
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_NUMBER = b"20971520Ki"
"""In the selectors of the replay (fleet.py)."""
_NAMED: Mapping[bytes, Callable[[int], bytes]] = {
    **{name.encode(): (lambda n, i=i: b"t" + _text(n * len(NAMESPACES) + i, 5)) for i, name in enumerate(NAMESPACES)},
    _NUMBER: lambda n: f"{20_000_000 + n:08}Ki".encode(),
    b"v0.23.0": lambda n: b"v" + _text(n, 6),
    b"80GB HBM3": lambda n: _text(n, 9),
    b"SXM4-80GB": lambda n: _text(n, 9),
    b"580.95.5": lambda n: f"{n // 900 % 900 + 100}.{n % 90 + 10}.{n // 90 % 10}".encode(),
}
"""Texts of the replay, and what the n-th call has in their place: namespaces, selectors, images, devices, drivers."""
_HOSTILE: Mapping[str, tuple[tuple[bytes, bytes], ...]] = {
    "invalid": ((b"Standalone", b"Standal0ne"), (b"HuggingFace", b"huggingFac3"), (b"nodePools", b"nodePo0ls")),
    "unknown kind": ((b"ModelEndpoint", b"ModelEndp0int"), (b"ModelReplica", b"ModelRepl1ca")),
    "other types": ((b"matchLabels", b"matchLabelz"), (b"clusterName", b"clusterNam3"), (b"conditions", b"c0nditions")),
}
_LARGE = ("large", "whole")
_CLUSTERS, _REPLICAS, _BOARDS = 1_000, 10_000, 256
_MALFORMED, _LONG = "malformed", "long texts"
_USUAL = 16
"""Of 20 calls, so many are those of a fleet that works; one each is of another sort."""
_SELECTOR, _AMOUNT = 10_000, 200_000
"""Characters of long texts."""


def varied(replay: Replay, seed: int = 1, *, large: bool = True, filling: int = FILLING) -> Iterator[Call]:
    """Yield calls without end. Those of a replay come again and again, each time with other texts.

    `large` says whether placements on 1,000 clusters are among them, and `filling` in how many calls there are many.
    """
    pick, known = random.Random(seed), calls(replay)
    sorts = [*_HOSTILE, _MALFORMED, _LONG]
    long = _long_base(known)
    for number in count(1):
        call = known[pick.randrange(len(known))]
        round_, place = divmod(number, 20)
        sort = (large and large_sort(number, filling)) or (
            "usual" if place < _USUAL else sorts[(round_ * 4 + place) % len(sorts)]
        )
        if sort in _LARGE:
            yield Call(number, sort, "ModelDeployment", renamed(_large(sort == "whole"), number))
        elif sort == _LONG:
            yield Call(number, sort, "ModelDeployment", long(number))
        else:
            yield Call(number, sort, call.kind, _made(sort, renamed(call.data, number), pick))


def large_sort(number: int, filling: int = FILLING) -> str:
    """The sort of a large call. Empty if the call is not large."""
    if number % _WHOLE_EVERY == _WHOLE_EVERY // 2:
        return "whole" if number < filling or number // _WHOLE_EVERY % 2 else "large"
    return "large" if number < filling and number % _LARGE_EVERY == 0 else ""


def renamed(data: bytes, number: int) -> bytes:
    """A call with the texts of the n-th variation."""
    for text, other in _NAMED.items():
        data = data.replace(text, other(number))
    return data


def _made(sort: str, data: bytes, pick: random.Random) -> bytes:
    if sort == _MALFORMED:
        return data[: pick.randrange(len(data))] if pick.random() < 0.5 else data.replace(b"\x1a", b"\x1b", 3)
    for text, other in _HOSTILE.get(sort, ()):
        data = data.replace(text, other)
    return data


def _text(number: int, width: int) -> bytes:
    """A number as letters and digits."""
    found = ""
    while len(found) < width:
        number, digit = divmod(number, len(_DIGITS))
        found = _DIGITS[digit] + found
    return found.encode()


@lru_cache(maxsize=2)
def _large(whole: bool) -> bytes:
    """A placement with 1,000 clusters in the request, whose pools have some hundred sorts of nodes.

    If it is whole, their 10,000 replicas are in the request as well. Otherwise it has 64 selectors, which one call
    cannot evaluate.
    """
    clusters, replicas = large_fleet.clusters(_CLUSTERS), large_fleet.replicas(_REPLICAS, _CLUSTERS, "prefill-decode")
    large_fleet.publish(clusters, replicas)
    for i, pool in enumerate(pool for cluster in clusters for pool in cluster["status"]["gpuPools"]):
        pool["devices"][0]["attributes"]["board"] = {"string": f"board-{i % _BOARDS}"}
    deployment = large_fleet.deployment("prefill-decode", 10)
    answers = large_fleet.answers(clusters, replicas)
    if whole:
        read = ("clusters", "all-replicas", "own-replicas", "services")
    else:
        read = ("clusters", "own-replicas", "services")
        for n, engine in enumerate(deployment["spec"]["engines"]):
            engine["members"][0]["nodeSelector"]["devices"] = [_many_selectors(n, k) for k in range(4)]
    return shuffled.request(deployment, {}, {key: answers[key] for key in read}, tag="large")


def _many_selectors(engine: int, request: int) -> dict[str, Any]:
    """A request for a device, with eight selectors that no other has."""
    architecture = 'device.attributes["gpu.nvidia.com"].architecture'
    texts = (f'{architecture} != "v0.23.0-{engine}-{request}-{i}"' for i in range(8))
    return {"name": f"r{request}", "selectors": [{"cel": text} for text in texts]}


def _long_base(known: list[Call]) -> Callable[[int], bytes]:
    """Placements with a long selector, and a long amount in the pods."""
    largest = max((call for call in known if call.kind == "ModelDeployment"), key=lambda call: len(call.data))
    req = fnv1.RunFunctionRequest.FromString(largest.data)
    xr = _object(req.observed.composite)
    observed = {key: _object(one) for key, one in req.observed.resources.items()}
    required = {key: [_object(one) for one in found.items] for key, found in req.required_resources.items()}
    member: Any = xr["spec"]["engines"][0]["members"][0]
    selectors = member["nodeSelector"]["devices"][0]["selectors"]
    container = member["template"]["spec"]["containers"][0]

    def made(number: int) -> bytes:
        odd = number % 2
        text = f"{number} >= 0" + " || (1 == 2)" * (_SELECTOR // 12 - 2)
        selectors[:] = [{"cel": text if odd else f"{number} >= 0"}]
        amount = "1" if odd else "1" * (_AMOUNT - 10) + f"{number:010}"
        container["resources"] = {"requests": {"cpu": "1", "memory": amount}}
        return shuffled.request(xr, observed, required, tag=str(number))

    return made


def _object(resource: fnv1.Resource) -> dict[str, Any]:
    found: dict[str, Any] = json_format.MessageToDict(resource.resource)
    return found
