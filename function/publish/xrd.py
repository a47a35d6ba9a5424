"""The CompositeResourceDefinition and the Composition of a kind.

Crossplane generates a CRD from a definition, and copies only parts of its schema: rules and description at the root; of
`spec` and `status` their properties, required, description, rules and oneOf, with everything inside properties
(crossplane-runtime v2.3, pkg/xcrd/schemas.go). Anything else at these two levels would have no effect.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from function.publish.catalog import Kind
from function.schema import Column, Scale
from function.schema.structural import structural
from function.vocabulary import versions

CATEGORIES = ["crossplane", "modelplane"]
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
            "status": {"description": "What became of it.", **structural(kind.status)},
        },
    }


def _version(kind: Kind) -> dict[str, Any]:
    return {
        "name": kind.version,
        "served": True,
        "referenceable": True,
        **({"additionalPrinterColumns": [_column(column) for column in kind.columns]} if kind.columns else {}),
        **({"subresources": {"scale": _scale(kind.scale)}} if kind.scale else {}),
        "schema": {"openAPIV3Schema": schema(kind)},
    }


def _column(column: Column) -> dict[str, str]:
    return {"name": column.name, "type": column.type, "jsonPath": column.path}


def _scale(scale: Scale) -> dict[str, str]:
    return {
        "specReplicasPath": scale.wanted,
        "statusReplicasPath": scale.current,
        "labelSelectorPath": scale.selector,
    }
