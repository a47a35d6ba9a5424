"""A finding: an error or a warning about one of several objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from function.schema import Path, format_path

ERRORS = {
    "api-version": "The kind is not served in this version.",
    "duplicate": "Two objects of one kind have the same namespace and name.",
    "key": "A key of a map, or an item of a list, is not accepted.",
    "name": "The API server, or Crossplane, refuses such a name or namespace.",
    "refused": "The function would refuse it.",
    "required": "A field is missing.",
    "reserved": "Modelplane sets the field itself; the message says what to write instead.",
    "response-size": "The function's answer would be larger than Crossplane takes.",
    "rule": "Fields do not go together.",
    "selector": "Kubernetes would refuse the claim with such a device selector.",
    "selectors": "The device selectors of a deployment cost too much together.",
    "unknown-field": "The field does not exist; the API server would drop it silently.",
    "value": "A value is not accepted.",
}
"""What would be refused or would not work, by code."""
WARNINGS = {
    "cache": "A gang without a ModelCache: every node downloads the weights itself.",
    "claims": "A claim that no cluster gets.",
    "class": "An InferenceClass that is not among those that are given.",
    "clear-text": "A key or a token would be sent unencrypted.",
    "credentials": "A provider config that is not among those that are given.",
    "dead-lock": "The workers of a gang wait for a leader that is ready only once they have joined.",
    "endpoints": "More endpoints than a route can name.",
    "fabric": "Devices of an InferenceClass that the nodes of a pool lack outside of a fabric.",
    "idle-weights": "An engine fetches its model from a hub, although the deployment has a ModelCache.",
    "ignored": "Nothing reads it where it is.",
    "in-cluster": "An endpoint points into the control cluster or its network.",
    "many-devices": "More devices than a ResourceClaim can hold.",
    "missing-key": "A Secret among the objects lacks the key that is named.",
    "model-names": "A part of a service's requests fails, because its endpoints answer to different model names.",
    "no-handover": "A prefill engine hands no KV caches to the decode engine.",
    "no-storage": "A ModelCache selects only clusters that cannot hold one.",
    "not-counted": "Pods ask for what is not counted on nodes that they share.",
    "observer": "Capacity is to be observed, and nothing installs the observer.",
    "patterns": "Patterns that take each other's files away.",
    "port-taken": "Another container of the pod declares the engine's port.",
    "reservation": "Two node pools take their nodes from one capacity reservation.",
    "residency": "Requests may leave the region that the rest of a service stays in.",
    "selector-fails": "A device selector whose evaluation fails on every device.",
    "shared-key": "Two ModelCallers name one Secret and key, and only one of them is accepted.",
    "silent-workers": "Workers of a gang that serve, and get no requests.",
    "tenancy": "A reference to another tenant's objects, which finds nothing.",
    "unreachable": "An engine listens where nothing reaches it, or serves TLS.",
    "zones": "A scaled pool in several zones, which the cloud evens out by deleting nodes.",
}
"""What is allowed but probably not intended, by code."""


@dataclass(frozen=True, slots=True)
class Finding:
    index: int
    """Index of the object."""
    path: Path
    message: str
    """The problem, as the rest of a sentence that begins with the field."""
    code: str
    other: int | None = None
    """Index of another object that takes part in the problem."""

    @property
    def order(self) -> tuple[Any, ...]:
        """Sort key: by object, then by field."""
        return self.index, [(isinstance(step, str), step) for step in self.path], self.code, self.message

    def __post_init__(self) -> None:
        assert self.code in ERRORS or self.code in WARNINGS, self.code

    @property
    def is_error(self) -> bool:
        return self.code in ERRORS

    @property
    def field(self) -> str:
        return format_path(self.path)

    @property
    def is_about_the_key(self) -> bool:
        """Whether the field itself is wrong, rather than its value."""
        return self.code in ("unknown-field", "key")
