"""Namespaces that the infrastructure uses, in which tenants may not run anything.

A model's pods run on the inference clusters in the same namespace as on the control cluster. In the namespace of a
serving stack component they would run beside it and could use its ServiceAccounts.
"""

from __future__ import annotations

import re
from functools import cache

from function.core import InvalidSpec, NamespacedName, Reason
from function.vocabulary import charts, names, settings

FIELD = "metadata.namespace"
UNSTATED = "your-namespace"
"""Placeholder for the namespace of an object in a file without one: kubectl would take it from the user's context."""
KUBERNETES = ("default", "kube-*")
"""The namespace that every cluster has, and the prefix that Kubernetes reserves (kubernetes.io, Namespaces)."""
CROSSPLANE = "crossplane-system"
"""Crossplane's namespace according to its documentation (docs.crossplane.io, get-started/install)."""

_PATTERN = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?|[a-z0-9][-a-z0-9]{0,61}\*")
_ACCEPTED = "must be a list of +NAME or -NAME, with commas between; a NAME is a namespace, or a prefix with * behind it"


def built_in() -> tuple[str, ...]:
    """Return the namespaces that are reserved by default, including those of the charts."""
    installed = {value.namespace for value in vars(charts).values() if isinstance(value, charts.Chart)}
    return tuple(sorted({*KUBERNETES, CROSSPLANE, names.SYSTEM_NAMESPACE, *installed}))


@cache
def reserved(setting: str = settings.RESERVED_NAMESPACES) -> tuple[str, ...]:
    """Return the reserved names, and prefixes ending in `*`.

    Raises settings.Invalid if the setting cannot be parsed.
    """
    found = set(built_in())
    for change in filter(None, (part.strip() for part in setting.split(","))):
        sign, name = change[:1], change[1:]
        if sign not in ("+", "-") or not _PATTERN.fullmatch(name):
            raise settings.Invalid(_refusal(f"{_ACCEPTED}; it has {change!r}"))
        if sign == "-" and name not in found:
            listed = ", ".join(sorted(found))
            raise settings.Invalid(_refusal(f"removes {name}, which is not reserved; reserved are: {listed}"))
        found = found | {name} if sign == "+" else found - {name}
    return tuple(sorted(found))


def is_reserved(namespace: str) -> bool:
    return any(_matches(pattern, namespace) for pattern in reserved())


def refusal(namespace: str) -> str:
    """Return what is wrong with a reserved namespace, as the rest of a sentence that begins with the field."""
    return (
        f"must be a namespace that the infrastructure does not use, not {namespace}; "
        f"these are reserved: {', '.join(reserved())}"
    )


def check(identity: NamespacedName, invalid: Reason) -> None:
    """Raise InvalidSpec if an object is in a reserved namespace."""
    if is_reserved(identity.namespace):
        raise InvalidSpec(invalid(field=FIELD, problem=refusal(identity.namespace)))


def _matches(pattern: str, namespace: str) -> bool:
    return namespace.startswith(pattern[:-1]) if pattern.endswith("*") else namespace == pattern


def _refusal(problem: str) -> str:
    return f"{settings.RESERVED_NAMESPACES_VARIABLE}: {problem}"
