"""What users desire of an object, apart from what a cluster writes into it.

Manifests in Git and a dump of the fleet that they became differ in much that nobody wrote: status, uids, defaults,
labels of tools, and all that Crossplane composed. None of it is a difference between two states of a fleet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.core import Manifest, controller, dig, dig_fields, plain
from function.publish.catalog import BY_KIND
from function.sandbox import admission
from function.sandbox.schemas import ServedKinds, group_of
from function.schema import Audience
from function.vocabulary import crossplane, namespaces

Key = tuple[str, str, str, str]
"""API group, kind, namespace and name."""
_TOOLS = (
    "crossplane.io",
    "kubectl.kubernetes.io",
    "argocd.argoproj.io",
    "toolkit.fluxcd.io",
    "meta.helm.sh",
)
"""Domains of the labels and annotations that Crossplane, kubectl, Argo CD, Flux and Helm write."""
_TRACKING = ("app.kubernetes.io/instance", "app.kubernetes.io/managed-by")
"""Labels by which Argo CD and Helm find what they deployed (argo-cd.readthedocs.io, Resource Tracking; helm.sh, Labels
and Annotations)."""
_WRITTEN = ("name", "namespace", "labels", "annotations")
"""Fields of metadata that users write."""
_ADMITTED = admission.Admission()


def key(manifest: Manifest, kinds: ServedKinds) -> Key:
    """The identity of an object, whatever its version. Objects without a namespace are all in one."""
    metadata, kind = manifest["metadata"], kinds.of(manifest["apiVersion"], manifest["kind"])
    namespace = (metadata.get("namespace") or namespaces.UNSTATED) if kind.namespaced else ""
    return group_of(manifest["apiVersion"]), manifest["kind"], namespace, metadata["name"]


def is_authored(manifest: Manifest) -> bool:
    """Whether users write the object, rather than Crossplane or another controller."""
    kind = BY_KIND.get((manifest["apiVersion"], manifest["kind"]))
    is_internal = kind is not None and kind.audience is Audience.INTERNAL
    is_composed = crossplane.COMPOSITION_KEY in dig_fields(manifest, "metadata", "annotations")
    return not (is_internal or is_composed or controller(manifest["metadata"]))


def is_deletable(manifest: Manifest) -> bool:
    """Whether an object is deleted when it disappears from the files. A plan assumes that objects of other kinds, such
    as Secrets, exist where the fleet references them."""
    return (manifest["apiVersion"], manifest["kind"]) in BY_KIND and is_authored(manifest)


def is_deletion(manifest: Manifest) -> bool:
    """Whether an edit deletes the object that it names."""
    return bool(dig(manifest, "metadata", "deletionTimestamp"))


def deletion(manifest: Manifest) -> dict[str, Any]:
    """The edit that deletes an object."""
    metadata = {name: manifest["metadata"][name] for name in ("name", "namespace") if manifest["metadata"].get(name)}
    return {**_identity(manifest), "metadata": {**metadata, "deletionTimestamp": "1970-01-01T00:00:00Z"}}


def authored(manifest: Manifest) -> dict[str, Any]:
    """An object without what a cluster wrote into it."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name in _WRITTEN}
    return {**_identity(manifest), "metadata": metadata, **_body(manifest)}


def replacing(old: Manifest, new: Manifest) -> dict[str, Any]:
    """The edit that replaces an object: what users write is new, and what tools wrote stays."""
    tags = {
        field: {**_of_tools(old["metadata"].get(field)), **(new["metadata"].get(field) or {})}
        for field in ("labels", "annotations")
    }
    found = authored(new)
    return {**found, "metadata": {**found["metadata"], **{field: given for field, given in tags.items() if given}}}


def _of_tools(tags: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (tags or {}).items() if _is_of_a_tool(key)}


def differ(one: Manifest, other: Manifest, kinds: ServedKinds) -> bool:
    """Whether two states of an object differ in what users desire, after the API server's defaults."""
    if _tags(one) == _tags(other) and _body(one) == _body(other):  # the common case, without a copy
        return False
    return _desired(one, kinds) != _desired(other, kinds)


def _desired(manifest: Manifest, kinds: ServedKinds) -> dict[str, Any]:
    """The body of an object and its labels and annotations, as the API server would store them."""
    kind = kinds.of(manifest["apiVersion"], manifest["kind"])
    stored: dict[str, Any] = {**_identity(manifest), "metadata": _tags(manifest), **plain(_body(manifest))}
    if kind.is_composite:
        admission.drop_nulls(stored)
        admission.fill(stored, kind.schema)
        admission.prune(stored, kind.schema)
    else:
        _ADMITTED(kind, stored, None)
    return {name: value for name, value in stored.items() if value not in (None, {}) and name != "apiVersion"}


def _identity(manifest: Manifest) -> dict[str, Any]:
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"]}


def _body(manifest: Manifest) -> dict[str, Any]:
    """All but identity, metadata, status, and what Crossplane keeps in the spec of an XR."""
    body = {k: v for k, v in manifest.items() if k not in ("apiVersion", "kind", "metadata", "status")}
    spec = body.get("spec")
    if isinstance(spec, Mapping) and "crossplane" in spec:
        body["spec"] = {k: v for k, v in spec.items() if k != "crossplane"}
    return body


def _tags(manifest: Manifest) -> dict[str, dict[str, Any]]:
    """Labels and annotations, without those of tools."""
    tags = {field: manifest["metadata"].get(field) or {} for field in ("labels", "annotations")}
    return {field: {k: v for k, v in given.items() if not _is_of_a_tool(k)} for field, given in tags.items()}


def _is_of_a_tool(key: str) -> bool:
    domain = key.partition("/")[0]
    return key in _TRACKING or any(domain == tool or domain.endswith(f".{tool}") for tool in _TOOLS)
