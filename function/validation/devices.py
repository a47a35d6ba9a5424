"""Device requests: whether their selectors compile, and whether one claim can hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function import cel
from function.api import inferenceclass, modeldeployment, modelreplica
from function.core import Manifest, dig, plain
from function.core.manifest import is_list
from function.kinds.modeldeployment import selectors
from function.scheduling import LARGEST_CLAIM
from function.schema import Path
from function.validation.finding import Finding

_REQUESTS = {modeldeployment.KIND: ("nodeSelector", "devices"), modelreplica.KIND: ("deviceRequests",)}
"""Path to the device requests of a member, by kind."""

Written = tuple[Path, str]
"""The path and the text of a selector."""


def findings(index: int, manifest: Manifest) -> Iterator[Finding]:
    """Report problems of an object's device requests, if it has any. The rest of the object need not be valid."""
    below = _REQUESTS.get(manifest["kind"])
    written: list[Written] = []
    for path, member in _members(manifest) if below else ():
        here = (*path, *(below or ()))
        requests = _listed(dig(member, *(below or ())))
        yield from _too_many(index, here, requests)
        written += _selectors(here, requests)
    for at, text in written:
        yield from _judged(index, at, text)
    if manifest["kind"] == modeldeployment.KIND:
        yield from _costly(index, written)


def class_findings(index: int, manifest: Manifest) -> Iterator[Finding]:
    """Report devices of a valid InferenceClass that Kubernetes would not accept."""
    if manifest["kind"] != inferenceclass.KIND:
        return
    for i, device in enumerate(inferenceclass.Spec.model_validate(plain(manifest["spec"])).devices):
        fault = inferenceclass.device_fault(device)
        if fault:
            yield Finding(index, ("spec", "devices", i), fault, "value")


def _too_many(index: int, path: Path, requests: list[Any]) -> Iterator[Finding]:
    counts = [request.get("count", 1) for request in requests if isinstance(request, Mapping)]
    total = sum(count for count in counts if isinstance(count, int))
    if total > LARGEST_CLAIM:
        problem = f"ask for {total} devices; what is claimed through DRA must be {LARGEST_CLAIM} at most"
        yield Finding(index, path, problem, "many-devices")


def _selectors(path: Path, requests: list[Any]) -> Iterator[Written]:
    for i, request in enumerate(requests):
        for j, selector in enumerate(_listed(dig(request, "selectors"))):
            text = dig(selector, "cel")
            if isinstance(text, str):
                yield (*path, i, "selectors", j, "cel"), text


def _costly(index: int, written: list[Written]) -> Iterator[Finding]:
    """Report the first selector with which those of a deployment exceed the limit, as its composer counts them."""
    together = selectors.Together()
    for path, text in written:
        try:
            problem = together.known(text, cel.facts(text))
        except cel.InvalidSelector:
            problem = together.added(text)
        if problem:
            yield Finding(index, path, f"is one too many: {problem}", "selectors")
            return


def _judged(index: int, path: Path, text: str) -> Iterator[Finding]:
    try:
        selector = cel.admitted(text)
    except cel.InvalidSelector as invalid:
        yield Finding(index, path, f"would be refused by Kubernetes: {invalid}", "selector")
        return
    for warning in selector.warnings:
        yield Finding(index, path, f"is accepted by Kubernetes, and yet: {warning}", "selector-fails")


def _members(manifest: Manifest) -> Iterator[tuple[Path, Any]]:
    for i, engine in enumerate(_listed(dig(manifest, "spec", "engines"))):
        for j, member in enumerate(_listed(dig(engine, "members"))):
            yield ("spec", "engines", i, "members", j), member


def _listed(value: Any) -> list[Any]:
    return list(value) if is_list(value) else []
