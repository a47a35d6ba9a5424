"""Where a canary may be in what the function answers: the only places, each with its reason.

docs/security.md, section Secrets, says the same to people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from function.core import Result, plain
from tests.support.canaries import Canary, Leak, search


@dataclass(frozen=True)
class Allowed:
    """One place, and the canaries that may be there."""

    of: str
    """How the places of the canaries begin."""
    where: str
    """A pattern of the place in an answer."""
    reason: str


ALLOWED = (
    Allowed(
        "Secret ",
        r"Object\.spec\.forProvider\.manifest<Secret>\.(data|stringData)\..*",
        "The copy of a Secret that pods on a cluster read.",
    ),
    Allowed("Secret ", r"Secret\.(data|stringData)\..*", "A Secret that the function itself composes, written again."),
    Allowed(
        "env ",
        r"(ModelReplica|Object\.spec\.forProvider\.manifest<\w+>)\.spec\..*\.env\[\]\.value",
        "A variable that a user wrote into a pod template in clear text. It is passed on as it is.",
    ),
    Allowed(
        "args ",
        r"(ModelReplica|Object\.spec\.forProvider\.manifest<\w+>)\.spec\..*\.(args|command)\[\]",
        "An argument that a user wrote into a pod template in clear text. It is passed on as it is.",
    ),
)


def leaks(result: Result, canaries: list[Canary]) -> list[Leak]:
    """Return where canaries are in an answer: every text of it is an output, by its path without indices."""
    found: dict[str, str] = {}
    for where, text in texts(result):
        found[where] = f"{found[where]}\n{text}" if where in found else text
    there = {leak.place for leak in search(canaries, {"all": "\n\n".join(found.values())})}
    return search([canary for canary in canaries if canary.place in there], found)


def forbidden(found: Iterable[Leak]) -> list[Leak]:
    return [leak for leak in found if allowance(leak) is None]


def allowance(leak: Leak) -> Allowed | None:
    return next(
        (one for one in ALLOWED if leak.place.startswith(one.of) and re.fullmatch(one.where, leak.where, re.DOTALL)),
        None,
    )


def texts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield every text of an answer, with its path."""
    for condition in result.conditions:
        yield "conditions", f"{condition.reason} {condition.message}"
    for event in result.events:
        yield "events", f"{event.reason} {event.message}"
    for requirement in result.requirements:
        yield "requirements", repr(requirement)
    yield from _walked("status", plain(result.status))
    for key, composed in result.resources.items():
        manifest = plain(composed.manifest)
        yield "keys", key
        yield from _walked(str(manifest["kind"]), manifest)


def _walked(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield every text in a value, keys included. The path of a manifest in another one has its kind."""
    if isinstance(value, dict):
        kind = f"<{value['kind']}>" if path.endswith(".manifest") and isinstance(value.get("kind"), str) else ""
        for key, child in value.items():
            yield f"{path} keys", key
            yield from _walked(f"{path}{kind}.{key}", child)
    elif isinstance(value, list):
        for child in value:
            yield from _walked(f"{path}[]", child)
    elif isinstance(value, str):
        yield path, value
