"""Plants canaries in what clusters report: messages and reasons of conditions and containers, in every shape.

Places are found by the shape of objects, as in `canary_places`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence

from function.core import Request, dig
from tests.support.canaries import Canary
from tests.support.canary_places import OURS, Object, Planter, fields, secrets

LONG = 100_000
"""Characters of a long message. Kubernetes accepts 32,768 in a condition; other fields have no bound."""
_HIDDEN = ("\u200b", "\x00", "\u202e", "\x1b[0m")
"""Characters and a sequence that a terminal does not show."""
_TOLD = ("message", "reason")


def _colored(told: Sequence[str]) -> str:
    """Every word in a color, as programs print for terminals, after a title for the window."""
    words = " ".join(f"\x1b[31m{word}\x1b[0m" for one in told for word in one.split(" "))
    return f"\x1b]0;title\x07\r{words}"


def _split(told: Sequence[str]) -> str:
    """Every text with something invisible after each five characters."""
    return " ".join(
        _HIDDEN[number % len(_HIDDEN)].join(one[at : at + 5] for at in range(0, len(one), 5))
        for number, one in enumerate(told)
    )


def _long(told: Sequence[str]) -> str:
    """A text that is too long, which begins at another place of the first quote for each message."""
    text = ", ".join(told)
    lead = int.from_bytes(hashlib.sha256(text.encode()).digest()[:2]) % 960
    return f"{'wait ' * (lead // 5)}{'.' * (lead % 5)} {text} " * (LONG // len(text))


SHAPES: Mapping[str, Callable[[Sequence[str]], str]] = {
    "on a line": ", ".join,
    "on many lines": lambda told: "\r\n\u2028\x85".join(("", *told, "")),
    "colored": _colored,
    "split": _split,
    "long": _long,
}
"""How a message with some credentials is written."""


def credentials(own: Canary, known: Sequence[str]) -> list[str]:
    """Texts with credentials: those of Secrets that are known, and some that only their form tells."""
    token = own.token
    forms = (f"Bearer {token}", f"token={token}", f"https://u:{token}@example.org", f'"password": "{token}"')
    return [*known, *forms]


Planted = tuple[Request, list[Object], list[Canary]]
FAULTS = ("none", "of the cluster", "of the provider")
"""What fails besides: nothing, everything that a cluster reports of its objects, or what providers do."""


def plant(xr: Object, observed: Mapping[str, Object], objects: list[Object], shape: str, fault: str) -> Planted:
    """Return a request whose foreign objects report canaries in a shape, what there is to find, and the canaries."""
    planter = Planter(words=True)
    foreign = [one for one in (*observed.values(), *objects) if OURS not in one["apiVersion"]]
    for manifest in (xr, *foreign):
        for secret in secrets(manifest):
            planter.secret(secret)
    known = [f'value "{canary.token}"' for canary in planter.canaries.values()]
    for manifest in foreign:
        _fail(manifest, fault)
        own = planter.form(f"report of {manifest['kind']} {dig(manifest, 'metadata', 'name')}")
        text = SHAPES[shape](credentials(own, known))
        for place in _reports(manifest):
            _tell(place, text)
    return Request(xr=xr, observed=observed), objects, [*planter.canaries.values()]


_GOOD_IF_FALSE = ("ReplicaFailure", "Failed", "AsyncOperation", "LastAsyncOperation")


def _fail(manifest: Object, fault: str) -> None:
    """Let all conditions of an object tell a failure, and add those that tell of one by being there."""
    own = manifest.get("status")
    told = dig(own, "atProvider") if fault == "of the cluster" else {"conditions": dig(own, "conditions")}
    if fault == "none" or not isinstance(own, dict):
        return
    for key, child in fields(told):
        if key == "conditions" and isinstance(child, list):
            there = [one for one in child if isinstance(one, dict)]
            for one in there:
                one["status"] = "True" if one.get("type") in _GOOD_IF_FALSE else "False"
            child += [{"type": type_, "status": "True"} for type_ in _GOOD_IF_FALSE]


def _reports(manifest: Object) -> Iterator[Object]:
    """Yield everything in a status that has a reason or a message: conditions, states of containers, operations."""
    for _, child in fields({"": manifest.get("status")}):
        for one in child if isinstance(child, list) else (child,):
            is_condition = isinstance(one, dict) and "type" in one and "status" in one
            if is_condition or any(isinstance(dig(one, name), str) for name in ("message", "reason")):
                yield one


def _tell(place: Object, text: str) -> None:
    """Put a text where the reason was if there is no message, because the reason is quoted then."""
    if place.get("reason") and not place.get("message"):
        place["reason"] = text
    else:
        place["message"] = text
