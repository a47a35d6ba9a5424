"""The environments of Kubernetes' expressions: where the language and the libraries meet."""

from __future__ import annotations

from function.cel.language.declarations.environment import Environment
from function.cel.language.declarations.types import ANY, BOOL, DYN, STRING, Type, map_of
from function.cel.libraries import LIBRARIES

_DEVICE = Type("struct", "kubernetes.DRADevice")
_QUANTITY = Type("opaque", "quantity")
_UNTYPED = frozenset({"bool", "dyn", "any"})

SELECTOR = Environment(
    name="device selector",
    variables={"device": _DEVICE},
    libraries=LIBRARIES,
    objects={
        "kubernetes.DRADevice": {
            "driver": STRING,
            "allowMultipleAllocations": BOOL,
            "attributes": map_of(STRING, map_of(STRING, ANY)),
            "capacity": map_of(STRING, map_of(STRING, _QUANTITY)),
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
)
"""Source: k8s.io/dynamic-resource-allocation v0.36, cel/compile.go."""

RULE = Environment(
    name="rule",
    variables={"self": DYN, "oldSelf": DYN},
    libraries=LIBRARIES,
    results=_UNTYPED,
)
"""A validation rule of a definition (x-kubernetes-validations). The types of its variables are not known here."""

QUERY = Environment(
    name="query",
    variables={"object": DYN},
    libraries=LIBRARIES,
    results=_UNTYPED,
    without=frozenset({"urls", "addresses", "formats", "authorization"}),
)
"""A readiness query of provider-kubernetes over the object that it observes."""
