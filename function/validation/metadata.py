"""Checks of metadata: name, namespace, and everything else that users write there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import create_model

from function.core import Manifest, dig
from function.publish.catalog import Kind
from function.schema import LABEL, LABEL_KEYS, SUBDOMAIN, Api, LabelValue, Text, problems_at
from function.validation.finding import Finding
from function.vocabulary import names

_MOST = 256 * 1024
"""Characters of an annotation, and of all of them together (k8s.io/apimachinery v0.36, TotalAnnotationSizeLimitB)."""


_SERVERS = (
    "generateName", "ownerReferences", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink",
)  # fmt: skip
"""Fields that servers write and dumps contain (k8s.io/apimachinery v0.36, meta/v1, ObjectMeta)."""


class _Written(Api):
    """Fields that users write."""

    name: str
    namespace: str | None = None
    labels: Annotated[dict[str, LabelValue], LABEL_KEYS] | None = None
    annotations: Annotated[dict[str, Annotated[str, Text(_MOST, shortest=0)]], LABEL_KEYS] | None = None
    finalizers: tuple[str, ...] | None = None


_ANYTHING: dict[str, Any] = dict.fromkeys(_SERVERS, (Any, None))
_METADATA = create_model("Metadata", __base__=_Written, **_ANYTHING)


def findings(index: int, manifest: Manifest, kind: Kind) -> Iterator[Finding]:
    """Report problems of an object's metadata."""
    for problem in problems_at("metadata", _METADATA, manifest):
        yield Finding(index, problem.path, problem.message, problem.code)
    yield from _name(index, dig(manifest, "metadata", "name"))
    yield from _namespace(index, dig(manifest, "metadata", "namespace"), kind)


def _name(index: int, name: Any) -> Iterator[Finding]:
    if not isinstance(name, str):
        return
    if not re.fullmatch(SUBDOMAIN, name):
        problem = "must be lower-case letters, digits, dashes and dots, with a letter or digit around every dot"
        yield Finding(index, ("metadata", "name"), problem, "name")
    elif len(name) > names.DNS_LABEL:
        problem = f"must have up to {names.DNS_LABEL} characters, not {len(name)}: Crossplane writes it into a label"
        yield Finding(index, ("metadata", "name"), problem, "name")


def _namespace(index: int, namespace: Any, kind: Kind) -> Iterator[Finding]:
    """Report problems of a namespace. None and an empty string both mean that there is none."""
    if not namespace or not isinstance(namespace, str):
        return
    if kind.scope == "Cluster":
        yield Finding(index, ("metadata", "namespace"), f"is not for kind {kind.kind}, which is cluster-scoped", "name")
    elif len(namespace) > names.DNS_LABEL or not re.fullmatch(LABEL, namespace):
        problem = "must be up to 63 lower-case letters, digits and dashes, with a letter or digit at both ends"
        yield Finding(index, ("metadata", "namespace"), problem, "name")
