"""Warnings about pools whose nodes are shared: what is not counted there, although pods ask for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from function import podspec
from function.api import inferenceclass, inferencecluster, modeldeployment
from function.core import MOST_NAMED, Manifest, dig, dig_fields, dig_list, enumerate_names, identity
from function.validation.finding import Finding

Indexed = tuple[int, Manifest]


class _Shared(NamedTuple):
    """A pool whose nodes are shared."""

    object: int
    at: int
    pool: Manifest
    cluster: str

    def __str__(self) -> str:
        return f"pool {self.pool['name']} of InferenceCluster {self.cluster}"


class _Template(NamedTuple):
    """The spec of the pods of a member."""

    object: int
    path: tuple[str | int, ...]
    spec: Manifest


def findings(objects: Sequence[Indexed]) -> Iterator[Finding]:
    """Return the warnings about valid objects. There are none without a pool whose nodes are shared."""
    shared = list(_shared(objects))
    if not shared:
        return
    templates = list(_templates(objects))
    classes = {identity(m).name: m for _, m in objects if m["kind"] == inferenceclass.KIND}
    yield from _without_node(shared, classes, templates)
    for template in templates:
        if fields := podspec.uncounted(template.spec):
            where = f"on shared nodes ({enumerate_names(sorted(map(str, shared)), MOST_NAMED)})"
            what = enumerate_names(fields, MOST_NAMED)
            problem = f"asks for {what}, which is not counted {where}: a pod may stay Pending"
            yield Finding(template.object, template.path, problem, "not-counted")


def _shared(objects: Sequence[Indexed]) -> Iterator[_Shared]:
    for index, manifest in objects:
        if manifest["kind"] == inferencecluster.KIND:
            for at, pool in enumerate(manifest["spec"]["nodePools"]):
                if pool.get("sharing") == "Devices":
                    yield _Shared(index, at, pool, identity(manifest).name)


def _templates(objects: Sequence[Indexed]) -> Iterator[_Template]:
    for index, manifest in objects:
        if manifest["kind"] == modeldeployment.KIND:
            for i, engine in enumerate(dig_list(manifest, "spec", "engines")):
                for j, member in enumerate(dig_list(engine, "members")):
                    path = ("spec", "engines", i, "members", j, "template")
                    yield _Template(index, path, dig_fields(member, "template", "spec"))


def _without_node(
    shared: Sequence[_Shared], classes: Mapping[str, Manifest], templates: Sequence[_Template]
) -> Iterator[Finding]:
    """Warn of a class that does not say what a node has of a resource that pods request."""
    asked = [podspec.requested(template.spec) for template in templates]
    requested = [name for i, name in enumerate(podspec.RESOURCES) if any(resources[i] for resources in asked)]
    for one in shared:
        class_ = classes.get(one.pool["className"])
        missing = [name for name in requested if not dig(class_, "spec", "node", name)]
        if class_ is not None and missing:
            what = enumerate_names(missing)
            problem = (
                f"names InferenceClass {one.pool['className']}, whose spec.node does not give {what}: requests for"
            )
            problem = f"{problem} it are not counted on the shared nodes, and a pod may stay Pending"
            yield Finding(one.object, ("spec", "nodePools", one.at, "className"), problem, "not-counted")
