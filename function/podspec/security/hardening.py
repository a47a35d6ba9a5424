"""Sets what restricted asks of a pod, wherever the user has not set it and the pod can have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.core import Manifest, dig_list, plain
from function.core.manifest import is_list
from function.podspec.security import pod as pods
from function.podspec.security.privileges import ALL_CAPABILITIES

_SECURITY = "securityContext"
_ADMINISTRATOR = "CAP_SYS_ADMIN"
"""The spelling of the capability beside which the API server refuses `allowPrivilegeEscalation: false` (kubernetes
v1.37, pkg/apis/core/validation, ValidateSecurityContext)."""


def hardened(template: Manifest) -> dict[str, Any]:
    """Return a copy of a pod template with the fields that restricted asks for, except `runAsNonRoot`.

    The copy has `seccompProfile` RuntimeDefault for the pod, and for each container `allowPrivilegeEscalation` false
    and capability ALL dropped. A field that is set stays as it is, even if restricted forbids it. `runAsNonRoot` is
    never set, because only the image decides whether a process can run as another user. A pod for Windows, which can
    have none of these fields, stays as it is.
    """
    copy: dict[str, Any] = plain(template)
    spec = copy.get("spec")
    if not isinstance(spec, dict) or pods.read(copy).is_windows:
        return copy
    security = _block(spec.get(_SECURITY))
    if security is not None:
        spec[_SECURITY] = {**security, **_unless_set(security, "seccompProfile", {"type": "RuntimeDefault"})}
    for field in pods.CONTAINERS:
        if is_list(spec.get(field)):
            spec[field] = [_container(each) for each in spec[field]]
    return copy


def _container(container: Any) -> Any:
    if not isinstance(container, Mapping):
        return container
    security = _block(container.get(_SECURITY))
    if security is None:
        return container
    return {**container, _SECURITY: {**security, **_escalation(security), **_capabilities(security)}}


def _escalation(security: Mapping[str, Any]) -> dict[str, Any]:
    """The API server refuses `allowPrivilegeEscalation: false` beside what is an escalation by itself."""
    added = dig_list(security, "capabilities", "add")
    if security.get("privileged") is True or _ADMINISTRATOR in added:
        return {}
    return _unless_set(security, "allowPrivilegeEscalation", value=False)


def _capabilities(security: Mapping[str, Any]) -> dict[str, Any]:
    capabilities = _block(security.get("capabilities"))
    if capabilities is None:
        return {}
    return {"capabilities": {**capabilities, **_unless_set(capabilities, "drop", [ALL_CAPABILITIES])}}


def _unless_set(block: Mapping[str, Any], field: str, value: Any) -> dict[str, Any]:
    return {} if block.get(field) is not None else {field: value}


def _block(value: Any) -> Mapping[str, Any] | None:
    """Return an object, or an empty one in place of a missing one; None for a value of another type."""
    if value is None:
        return {}
    return value if isinstance(value, Mapping) else None
