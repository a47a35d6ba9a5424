"""Container fields with a grammar of their own in Kubernetes: images, and field paths of a pod."""

from __future__ import annotations

import re
from typing import Annotated

from function.schema.fields import LABEL_KEYS, Text, quoted

_HOST_PART = "([a-zA-Z0-9]|[a-zA-Z0-9][-a-zA-Z0-9]*[a-zA-Z0-9])"
_REGISTRY = rf"({_HOST_PART}(\.{_HOST_PART})*|\[[a-fA-F0-9:]+\])(:[0-9]+)?"
_PATH_PART = "[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*"
_TAG = "[A-Za-z0-9_][-A-Za-z0-9_.]{0,127}"
_DIGEST = "[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
Image = Annotated[
    str,
    Text(
        1024,
        rf"^({_REGISTRY}/)?{_PATH_PART}(/{_PATH_PART})*(:{_TAG})?(@{_DIGEST})?$",
        "an image reference, such as registry.example.org/team/engine:v1, with its path in lower case",
    ),
]
"""An image reference as kubelets parse it (distribution/reference v0.6, regexp.go). Others are never pulled
(InvalidImageName)."""

_PLAIN_PATHS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_OF_LABELS, _OF_ANNOTATIONS = "metadata.labels['", "metadata.annotations['"
_BY_KEY = rf"^[a-z.]+\['{LABEL_KEYS.pattern[1:-1]}'\]$"
"""The part before the bracket is checked separately: Kubernetes prices a pattern by its length."""
_LONGEST_DOMAIN = 253
_STARTS = f"(self.startsWith({quoted(_OF_LABELS)}) || self.startsWith({quoted(_OF_ANNOTATIONS)}))"
_LONGEST_BEFORE = f"self.startsWith('metadata.labels') ? {len(_OF_LABELS)} : {len(_OF_ANNOTATIONS)}"
_DOMAIN_ENDS = f"self.indexOf('/') <= ({_LONGEST_BEFORE}) + {_LONGEST_DOMAIN}"


def _is_field_path(path: str) -> bool:
    before = next((start for start in (_OF_LABELS, _OF_ANNOTATIONS) if path.startswith(start)), None)
    if before is None or re.fullmatch(_BY_KEY, path) is None:
        return path in _PLAIN_PATHS
    return path.find("/") <= len(before) + _LONGEST_DOMAIN


FieldPath = Annotated[
    str,
    Text(
        len(_OF_ANNOTATIONS) + LABEL_KEYS.longest + len("']"),
        words="metadata.labels['<key>'], metadata.annotations['<key>'], "
        + ", ".join(_PLAIN_PATHS[:-1])
        + f" or {_PLAIN_PATHS[-1]}",
        cel=f"(self in {list(_PLAIN_PATHS)} || {_STARTS} && self.matches({quoted(_BY_KEY)}) && {_DOMAIN_ENDS})",
        holds=_is_field_path,
    ),
]
"""A field path that Kubernetes accepts for an environment variable (kubernetes v1.36, pkg/apis/core/validation,
validateObjectFieldSelector)."""
