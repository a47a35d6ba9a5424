"""Device requests: whether their selectors compile, and whether a claim can hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function import cel
from function.core import Manifest, dig, plain
from function.core.manifest import is_list
from function.kinds.inferenceclass import model as inferenceclass
from function.kinds.modeldeployment import model as modeldeployment
from function.kinds.modelreplica import model as modelreplica
from function.scheduling import LARGEST_CLAIM
from function.schema import Path
from function.validation.flaw import Flaw

_REQUESTS = {modeldeployment.KIND: ("nodeSelector", "devices"), modelreplica.KIND: ("deviceRequests",)}
"""Where the members of a kind have their device requests."""


def flaws(index: int, manifest: Manifest) -> Iterator[Flaw]:
    """What is wrong with the device requests of an object, if it has any. The object need not be sound."""
    below = _REQUESTS.get(manifest["kind"])
    for path, member in _members(manifest) if below else ():
        here = (*path, *(below or ()))
        requests = _listed(dig(member, *(below or ())))
        yield from _too_many(index, here, requests)
        yield from _refused(index, here, requests)


def unreadable(index: int, manifest: Manifest) -> Iterator[Flaw]:
    """Of a class whose fields are right: what Kubernetes would not take of its devices."""
    if manifest["kind"] != inferenceclass.KIND:
        return
    for i, device in enumerate(inferenceclass.Spec.model_validate(plain(manifest["spec"])).devices):
        fault = inferenceclass.device_fault(device)
        if fault:
            yield Flaw(index, ("spec", "devices", i), fault, "value")


def _too_many(index: int, path: Path, requests: list[Any]) -> Iterator[Flaw]:
    counts = [request.get("count", 1) for request in requests if isinstance(request, Mapping)]
    total = sum(count for count in counts if isinstance(count, int))
    if total > LARGEST_CLAIM:
        said = f"ask for {total} devices; what is claimed through DRA must be {LARGEST_CLAIM} at most"
        yield Flaw(index, path, said, "many-devices")


def _refused(index: int, path: Path, requests: list[Any]) -> Iterator[Flaw]:
    for i, request in enumerate(requests):
        for j, selector in enumerate(_listed(dig(request, "selectors"))):
            text = dig(selector, "cel")
            if isinstance(text, str):
                yield from _judged(index, (*path, i, "selectors", j, "cel"), text)


def _judged(index: int, path: Path, text: str) -> Iterator[Flaw]:
    try:
        selector = cel.admitted(text)
    except cel.InvalidSelector as invalid:
        yield Flaw(index, path, f"would be refused by Kubernetes: {invalid}", "selector")
        return
    for doubt in selector.doubts:
        yield Flaw(index, path, f"is accepted by Kubernetes, and yet: {doubt}", "selector-fails")


def _members(manifest: Manifest) -> Iterator[tuple[Path, Any]]:
    for i, engine in enumerate(_listed(dig(manifest, "spec", "engines"))):
        for j, member in enumerate(_listed(dig(engine, "members"))):
            yield ("spec", "engines", i, "members", j), member


def _listed(value: Any) -> list[Any]:
    return list(value) if is_list(value) else []
