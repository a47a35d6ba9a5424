"""The references of our objects to other objects by name. One kind of reference is one line of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from function import podspec
from function.api import (
    inferenceclass,
    inferencecluster,
    inferencegateway,
    modelcache,
    modelcaller,
    modeldeployment,
    modelendpoint,
)
from function.core import Manifest, NamespacedName, dig, dig_list, identity
from function.schema import Path
from function.validation.given import BY_NAMESPACE, CONFIG_MAP, SECRET
from function.vocabulary import names


@dataclass(frozen=True, slots=True)
class Reference:
    """A field that names an object."""

    index: int
    """Index of the object that refers."""
    path: Path
    """Path of the name."""
    kind: str
    who: NamespacedName
    keys: tuple[str, ...] = ()
    """Keys that the Secret or ConfigMap must hold."""
    key_field: str | None = None
    """The field beside the name that names the key, if it is given."""


class _Row(NamedTuple):
    """A reference that a kind of ours has."""

    kind: str
    path: tuple[str, ...]
    """Path of the field that holds the name, below the spec. "*" stands for every item of a list."""
    keys: tuple[str, ...] = ()
    """Keys that are read. A field `key` beside the name replaces them."""
    namespace: str | None = None
    """Namespace of the object, if it is not that of the object that refers. "" if the kind is cluster-scoped."""


_SYSTEM = names.SYSTEM_NAMESPACE
TABLE: Mapping[str, tuple[_Row, ...]] = {
    modeldeployment.KIND: (_Row(modelcache.KIND, ("modelCacheRef", "name")),),
    modelendpoint.KIND: (
        _Row(SECRET, ("auth", "secretRef", "name"), ("api-key",)),
        _Row(SECRET, ("tls", "caSecretRef", "name"), ("ca.crt",)),
    ),
    modelcaller.KIND: (_Row(SECRET, ("keys", "*", "secretRef", "name"), (modelcaller.DEFAULT_KEY,)),),
    modelcache.KIND: (
        _Row(SECRET, ("huggingFace", "authSecret", "name"), ("HF_TOKEN",)),
        _Row(SECRET, ("s3", "authSecret", "name"), ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")),
        _Row(SECRET, ("proxy", "secretRef", "name")),
        _Row(CONFIG_MAP, ("proxy", "caBundle", "configMapRef", "name"), ("ca.crt",)),
    ),
    inferencecluster.KIND: (
        _Row(inferenceclass.KIND, ("nodePools", "*", "className"), namespace=""),
        _Row(SECRET, ("cluster", "existing", "secretRef", "name"), ("kubeconfig",), _SYSTEM),
        _Row(SECRET, ("cluster", "existing", "identitySecretRef", "name"), namespace=_SYSTEM),
        _Row("StorageClass", ("cluster", "existing", "cache", "storageClassName"), namespace=""),
    ),
    inferencegateway.KIND: (_Row(SECRET, ("tls", "secretRef", "name"), ("tls.crt", "tls.key"), _SYSTEM),),
}
"""References by kind. A test finds the fields of the API that name a Secret, a ConfigMap or one of our objects, and
fails if one is in no row."""


def of(index: int, manifest: Manifest) -> Iterator[Reference]:
    """Yield the references of a valid object, but for optional ones."""
    own = identity(manifest).namespace
    for row in TABLE.get(manifest["kind"], ()):
        for path, holder in _found(manifest["spec"], row.path):
            keys, field = ((holder["key"],), "key") if "key" in holder else (row.keys, None)
            where = own if row.namespace is None else row.namespace
            who = NamespacedName(where, holder[row.path[-1]])
            yield Reference(index, ("spec", *path), row.kind, who, keys, field)
    if manifest["kind"] == modeldeployment.KIND:
        yield from _of_templates(index, manifest)


def holds_a_name(kind: str, path: Path) -> bool:
    """Return whether a field is a mapping with the name of an object of ours. Names of Secrets may be secrets."""
    rows = [row for row in TABLE.get(kind, ()) if row.kind not in BY_NAMESPACE and row.path[-1] == "name"]
    return any(("spec", *row.path[:-1]) == path for row in rows)


def _found(value: Any, steps: tuple[str, ...], above: Path = ()) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the path of every value at the steps, with the mapping that holds it."""
    step, *rest = steps
    if step == "*":
        for at, item in enumerate(value):
            yield from _found(item, tuple(rest), (*above, at))
    elif isinstance(value, Mapping) and value.get(step) is not None:
        if rest:
            yield from _found(value[step], tuple(rest), (*above, step))
        else:
            yield (*above, step), value


def _of_templates(index: int, deployment: Manifest) -> Iterator[Reference]:
    namespace = identity(deployment).namespace
    for i, engine in enumerate(dig_list(deployment, "spec", "engines")):
        for j, member in enumerate(dig_list(engine, "members")):
            above: Path = ("spec", "engines", i, "members", j, "template")
            for one in podspec.references(dig(member, "template")):
                if not one.optional:
                    who, keys = NamespacedName(namespace, one.name), tuple(sorted(one.keys or ()))
                    field = "key" if "valueFrom" in one.path else None
                    yield Reference(index, (*above, *one.path), one.kind, who, keys, field)
