"""A finding: an error, a warning or a note about one of several objects.

The code decides the severity, and the severity says how sure the finding is:

- error: it would be refused, or it would not work, whatever else exists.
- warning: it is allowed, and probably not intended. A reference that finds nothing, although objects of its kind are
  given, is a warning: what it names may still be on the control cluster.
- note: it could not be checked, because no object of the kind is given; or it has no effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

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
    "base-path": "Requests would ask for a path twice.",
    "cache": "A gang without a ModelCache: every node downloads the weights itself.",
    "claims": "A claim that no cluster gets.",
    "class": "An InferenceClass that is not among those that are given.",
    "clear-text": "A key or a token would be sent unencrypted.",
    "credentials": "A provider config that is not among those that are given.",
    "dead-lock": "The workers of a gang wait for a leader that is ready only once they have joined.",
    "endpoints": "More endpoints than the proxy of a service has room for.",
    "fabric": "Devices of an InferenceClass that the nodes of a pool lack outside of a fabric.",
    "idle-weights": "An engine fetches its model from a hub, although the deployment has a ModelCache.",
    "ignored": "Nothing reads it where it is.",
    "in-cluster": "An endpoint points into the control cluster or its network.",
    "many-devices": "More devices than a ResourceClaim can hold.",
    "missing-key": "A Secret or ConfigMap among the objects lacks the key that is named.",
    "model-names": "A part of the requests fails, because endpoints or engines answer to different model names.",
    "no-protection": "A priority of a service is lost with the priority that it follows.",
    "no-handover": "A prefill engine hands no KV caches to the decode engine.",
    "not-found": "A reference to an object that is not given, although others of its kind are.",
    "no-storage": "A ModelCache selects only clusters that cannot hold one.",
    "not-counted": "Pods ask for what is not counted on nodes that they share.",
    "observer": "Capacity is to be observed, and nothing installs the observer.",
    "overlap": "Two entries of a service select the same endpoints, which belong to the first.",
    "override": "Requests get a model name that the endpoint is known to refuse.",
    "patterns": "Patterns that take each other's files away.",
    "port-taken": "Another container of the pod declares the engine's port.",
    "provider": "A provider would refuse every request.",
    "reservation": "Two node pools take their nodes from one capacity reservation.",
    "residency": "Requests may leave the region that the rest of a service stays in.",
    "selects-nothing": "Labels that no given object has.",
    "selector-fails": "A device selector whose evaluation fails on every device.",
    "shared-key": "Two ModelCallers name one Secret and key, and only one of them is accepted.",
    "silent-workers": "Workers of a gang that serve, and get no requests.",
    "tenancy": "A reference to another tenant's objects, which finds nothing.",
    "unknown-attribute": "A device selector reads what no device of the given InferenceClasses has.",
    "unknown-value": "A device selector asks for a value that no device of the given InferenceClasses has.",
    "unreachable": "An engine listens where nothing reaches it, or serves TLS.",
    "zones": "A scaled pool in several zones, which the cloud evens out by deleting nodes.",
}
"""What is allowed but probably not intended, by code."""
NOTES = {
    "unchecked": "References to a kind of which no object is given.",
    "unused": "An object that no other given object uses.",
}
"""What could not be checked, or has no effect, by code."""
Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: dict[Severity, dict[str, str]] = {"error": ERRORS, "warning": WARNINGS, "note": NOTES}
"""The meaning of each code, by severity, the worst first."""
_BY_CODE: dict[str, Severity] = {code: severity for severity, codes in SEVERITIES.items() for code in codes}


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
    span: tuple[int, int] | None = None
    """The part of the text at the path that is wrong: its first character, and the one after its last."""
    brief: str = ""
    """The problem without its place in that text, for readers who see the place in the file. Empty if it has none."""
    is_about_the_name: bool = False
    """Whether the name of the field is wrong, such as the key of a label."""

    @property
    def order(self) -> tuple[Any, ...]:
        """Sort key: by object, then by field."""
        return self.index, [(isinstance(step, str), step) for step in self.path], self.code, self.message

    def __post_init__(self) -> None:
        assert self.code in _BY_CODE, self.code

    @property
    def severity(self) -> Severity:
        return _BY_CODE[self.code]

    @property
    def is_error(self) -> bool:
        return self.code in ERRORS

    @property
    def field(self) -> str:
        return format_path(self.path)

    @property
    def is_about_the_key(self) -> bool:
        """Whether the field itself is wrong, rather than its value."""
        return self.is_about_the_name or self.code in ("unknown-field", "key")
