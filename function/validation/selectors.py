"""Selectors of our objects that match nothing among the objects that are given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from function.api import (
    inferencecluster,
    modelcache,
    modelcaller,
    modeldeployment,
    modelservice,
)
from function.core import Manifest, dig, dig_text_fields, identity
from function.schema import Path
from function.validation import selection
from function.validation.dangling import Unchecked
from function.validation.finding import Finding
from function.validation.selection import Labelled
from function.vocabulary import labels

Indexed = tuple[int, Manifest]
Problem = Finding | Unchecked


def judged(objects: Sequence[Indexed], given: Sequence[Indexed]) -> Iterator[Problem]:
    """Yield the selectors that match nothing, and those that cannot be checked.

    Args:
        objects: Valid objects of our kinds, each with its index.
        given: These, and those that are not valid.
    """
    around = _Around(given)
    for index, manifest in objects:
        match manifest["kind"]:
            case modelservice.KIND:
                yield from _entries(index, manifest, around)
                yield from _callers(index, manifest, around)
            case modeldeployment.KIND | modelcache.KIND:
                yield from _clusters(index, manifest, around)


class _Around:
    """What selectors select."""

    def __init__(self, given: Sequence[Indexed]) -> None:
        manifests = [manifest for _, manifest in given]
        self.clusters = selection.clusters(manifests)
        self.servers = selection.servers(manifests, open_labels=labels.OF_REPLICA)
        callers = [manifest for manifest in manifests if manifest["kind"] == modelcaller.KIND]
        self.callers = Labelled("callers", ((m, selection.labels_of(m)) for m in callers))


def _entries(index: int, service: Manifest, around: _Around) -> Iterator[Problem]:
    namespace = identity(service).namespace
    for at, entry in enumerate(service["spec"]["endpoints"]):
        path: Path = ("spec", "endpoints", at, "selector")
        wanted = entry["selector"]["matchLabels"]
        if not around.servers:
            yield Unchecked(index, path, "ModelDeployment or ModelEndpoint", "selects endpoints by labels")
        elif not around.servers.matching(namespace, wanted) and around.servers.namespaces(wanted):
            continue  # told as tenancy
        else:
            yield from _unmatched(index, path, wanted, (around.servers, namespace))


def _callers(index: int, service: Manifest, around: _Around) -> Iterator[Problem]:
    asked, path = dig(service, "spec", "callers"), ("spec", "callers")
    namespace, wanted = identity(service).namespace, dig_text_fields(asked, "selector", "matchLabels")
    is_required = asked is not None and dig(asked, "required") is not False
    if wanted and around.callers:
        yield from _unmatched(index, (*path, "selector"), wanted, (around.callers, namespace))
    elif (wanted or is_required) and not around.callers:
        yield Unchecked(index, path, modelcaller.KIND, "is for ModelCallers")
    elif is_required and not around.callers.matching(namespace, {}):
        problem = f"requires the key of a ModelCaller, but none that is given is in namespace {namespace}"
        yield Finding(index, path, problem, "selects-nothing")


def _clusters(index: int, manifest: Manifest, around: _Around) -> Iterator[Problem]:
    path: Path = ("spec", "clusterSelector")
    wanted = dig_text_fields(manifest, *path, "matchLabels")
    if not wanted:
        return
    if around.clusters:
        yield from _unmatched(index, path, wanted, (around.clusters, ""))
    else:
        yield Unchecked(index, path, inferencecluster.KIND, "selects clusters by labels")


def _unmatched(index: int, path: Path, wanted: Mapping[str, str], among: tuple[Labelled, str]) -> Iterator[Finding]:
    """Yield why a selector matches nothing, at the label that is wrong."""
    labelled, namespace = among
    if found := labelled.unmatched(namespace, wanted):
        at = (*path, "matchLabels", found.key) if found.key else path
        yield Finding(index, at, found.problem, "selects-nothing", is_about_the_name=found.is_key)
