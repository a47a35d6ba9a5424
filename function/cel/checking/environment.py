"""What an expression finds: variables with their types, and the fields of objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from function.cel.checking.types import ANY, BOOL, DYN, QUANTITY, STRING, Type, map_of

_DEVICE = Type("struct", "kubernetes.DRADevice")
_KUBERNETES = frozenset({"urls", "addresses", "formats", "authorization"})
"""The libraries of all that Kubernetes evaluates."""


@dataclass(frozen=True, slots=True)
class Environment:
    """One kind of expression."""

    name: str
    variables: Mapping[str, Type]
    objects: Mapping[str, Mapping[str, Type]]
    """By type, the fields."""
    sizes: Mapping[tuple[str, ...], int]
    """Of what is reachable from the variables, how large it can be: by path, with * for any other name."""
    results: frozenset[str]
    """Kinds of type that an expression may have."""
    libraries: frozenset[str] = frozenset()
    """Those that it has beside what every expression has."""


SELECTOR = Environment(
    name="device selector",
    variables={"device": _DEVICE},
    objects={
        "kubernetes.DRADevice": {
            "driver": STRING,
            "allowMultipleAllocations": BOOL,
            "attributes": map_of(STRING, map_of(STRING, ANY)),
            "capacity": map_of(STRING, map_of(STRING, QUANTITY)),
        }
    },
    sizes={
        ("device",): 0,
        ("device", "driver"): 63,
        ("device", "allowMultipleAllocations"): 1,
        ("device", "attributes"): 32,
        ("device", "attributes", "@keys"): 63,
        ("device", "attributes", "@values"): 32,
        ("device", "attributes", "@values", "@keys"): 32,
        ("device", "attributes", "@values", "*"): 64,
        ("device", "capacity"): 32,
        ("device", "capacity", "@keys"): 63,
        ("device", "capacity", "@values"): 32,
        ("device", "capacity", "@values", "@keys"): 32,
        ("device", "capacity", "@values", "@values"): 0,
    },
    results=frozenset({"bool", "any"}),
    libraries=_KUBERNETES,
)
"""Source: k8s.io/dynamic-resource-allocation v0.36, cel/compile.go."""

RULE = Environment("rule", {"self": DYN, "oldSelf": DYN}, {}, {}, frozenset({"bool", "dyn", "any"}), _KUBERNETES)
"""A validation rule of a definition (x-kubernetes-validations). Its types are not known here."""

QUERY = Environment("query", {"object": DYN}, {}, {}, frozenset({"bool", "dyn", "any"}))
"""A readiness query of provider-kubernetes over the object that it observes."""
