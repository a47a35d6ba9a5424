"""The CompositeResourceDefinition and the Composition of a kind.

Crossplane generates a CRD from a definition, and copies only parts of its schema: rules and description at the root; of
`spec` and `status` their properties, required, description, rules and oneOf, with everything inside properties
(crossplane-runtime v2.3, pkg/xcrd/schemas.go). Anything else at these two levels would have no effect.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from function.publish.catalog import Kind
from function.publish.explained import explained
from function.schema import Column, Scale
from function.schema.structural import structural
from function.vocabulary import versions

CATEGORIES = ["crossplane", "modelplane"]
WHY = (
    Column("REASON", "string", ".status.reason"),
    Column("MESSAGE", "string", ".status.message", wide=True),
)
"""Columns of every kind. Crossplane adds SYNCED, READY, COMPOSITION and AGE after ours (crossplane-runtime v2.4,
pkg/xcrd/schemas.go)."""
_KEY = re.compile(r"\.(\w+)(?![^\[]*\])")
"""A key of a JSONPath, but for those in a filter."""
STEP = "modelplane"
"""Name of the only step of our Compositions."""


def definition(kind: Kind) -> dict[str, Any]:
    names = {
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "singular": kind.kind.lower(),
        "shortNames": list(kind.short_names),
        "categories": CATEGORIES,
    }
    return {
        "apiVersion": versions.XRD,
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": kind.crd},
        "spec": {
            "scope": kind.scope,
            "group": kind.group,
            "names": names,
            "defaultCompositionRef": {"name": kind.crd},
            "versions": [_version(kind)],
        },
    }


def composition(kind: Kind) -> dict[str, Any]:
    return {
        "apiVersion": versions.COMPOSITION,
        "kind": "Composition",
        "metadata": {"name": kind.crd},
        "spec": {
            "compositeTypeRef": {"apiVersion": kind.api_version, "kind": kind.kind},
            "mode": "Pipeline",
            "pipeline": [{"step": STEP, "functionRef": {"name": versions.FUNCTION}}],
        },
    }


@cache
def schema(kind: Kind) -> dict[str, Any]:
    """Return the schema of the whole object. Callers share one copy, and must not change it."""
    rules = [rule.validation for rule in kind.root_rules]
    return {
        "description": kind.description,
        "type": "object",
        **({"x-kubernetes-validations": rules} if rules else {}),
        "required": ["spec"],
        "properties": {
            "spec": {"description": f"What the {kind.kind} asks for.", **structural(kind.spec)},
            "status": {
                "description": f"What became of the {kind.kind}, and what is observed of it.",
                **structural(kind.status),
            },
        },
    }


def _version(kind: Kind) -> dict[str, Any]:
    return {
        "name": kind.version,
        "served": True,
        "referenceable": True,
        "additionalPrinterColumns": [_column(kind, column) for column in columns(kind)],
        **({"subresources": {"scale": _scale(kind.scale)}} if kind.scale else {}),
        "schema": {"openAPIV3Schema": explained(schema(kind))},
    }


def columns(kind: Kind) -> tuple[Column, ...]:
    """Return the columns of `kubectl get` that are ours."""
    return (*kind.columns, *WHY)


def _column(kind: Kind, column: Column) -> dict[str, Any]:
    description = _description(schema(kind), column.path)
    return {
        "name": column.name,
        "type": column.type,
        **({"description": description} if description else {}),
        "jsonPath": column.path,
        **({"priority": 1} if column.wide else {}),
    }


def _description(node: dict[str, Any], path: str) -> str:
    """Return the description of the field that a path leads to; empty outside of the spec and the status."""
    for key in _KEY.findall(path):
        node = node.get("items", node).get("properties", {}).get(key, {})
    return str(node.get("description", ""))


def _scale(scale: Scale) -> dict[str, str]:
    return {
        "specReplicasPath": scale.wanted,
        "statusReplicasPath": scale.current,
        "labelSelectorPath": scale.selector,
    }
