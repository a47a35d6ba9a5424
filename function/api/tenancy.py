"""Namespaces that the infrastructure uses, in which tenants may not run anything.

A model's pods run on the inference clusters in the same namespace as on the control cluster. In the namespace of a
serving stack component they would run beside it and could use its ServiceAccounts.
"""

from __future__ import annotations

import re
from functools import cache

from function import gateways
from function.core import InvalidSpec, NamespacedName, Reason
from function.vocabulary import charts, names, namespaces, settings

FIELD = "metadata.namespace"
_PATTERN = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?|[a-z0-9][-a-z0-9]{0,61}\*")
_ACCEPTED = "must be a list of +NAME or -NAME, with commas between; a NAME is a namespace, or a prefix with * behind it"


def built_in() -> tuple[str, ...]:
    """Return the namespaces that are reserved by default, sorted, including those of the charts."""
    ours = (value for value in vars(charts).values() if isinstance(value, charts.Chart))
    gateways_own = (chart for implementation in gateways.IMPLEMENTATIONS for chart in implementation.charts)
    installed = {chart.namespace for chart in (*ours, *gateways_own) if not _is_kubernetes(chart.namespace)}
    return tuple(sorted({*namespaces.KUBERNETES, namespaces.CROSSPLANE, names.SYSTEM_NAMESPACE, *installed}))


def _is_kubernetes(namespace: str) -> bool:
    return any(_matches(pattern, namespace) for pattern in namespaces.KUBERNETES)


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
