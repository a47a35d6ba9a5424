"""What Upjet reports of a managed resource: conditions, and errors in its words.

Sources: crossplane-runtime v2.4, pkg/reconciler/managed; upjet v2, pkg/controller and pkg/resource/conditions.go.
"""

from __future__ import annotations

import re

from function.core import Condition
from function.planning import provider
from function.sandbox.store import Ref

CREATING = Condition("Ready", "False", "Creating")
DELETING = Condition("Ready", "False", "Deleting")
_LAST = "LastAsyncOperation"
_DONE = Condition(_LAST, "True", "Success")

Report = tuple[Condition, ...]
"""The conditions that one reconcile writes."""
REQUESTED: Report = (provider.SYNCED, CREATING)
AVAILABLE: Report = (provider.SYNCED, provider.AVAILABLE, _DONE)
GOING: Report = (provider.SYNCED, DELETING)


def unresolved(path: str, problem: str) -> Report:
    """Return that a reference, such as vpcConfig.subnetIdRefs, cannot be resolved. Ready stays as it was."""
    fields = (re.sub(r"Id$", "ID", f[0].upper() + f[1:]) for f in re.sub(r"Refs?$", "", path).split("."))
    return (_error(f"cannot resolve references: mg.Spec.ForProvider.{'.'.join(fields)}: {problem}"),)


def absent(referred: Ref) -> str:
    """Return the problem of a reference to an object that does not exist."""
    return f"cannot get referenced resource: {_not_found(referred)}"


UNNAMED = "referenced field was empty (referenced resource may not yet be ready)"
"""The problem of a reference to a resource without external name."""


def unconnected(config: Ref) -> Report:
    """Return that a provider config does not exist."""
    problem = f"cannot get terraform setup: cannot get referenced ProviderConfig: {_not_found(config)}"
    return (_error(f"connect failed: {problem}"),)


def uncreated(message: str, *, is_async: bool) -> Report:
    """Return that the cloud refused to create a resource."""
    return (*_failure("create", f"failed to create the resource: [{{0 {message}  []}}]", is_async=is_async), CREATING)


def unchanged(path: str, was: object, wanted: object) -> Report:
    """Return that a field below spec.forProvider was changed which only a new resource could have. Ready stays."""
    argument = re.sub(r"(?<!^)([A-Z])", r"_\1", re.sub(r"Refs?$", "", path)).lower()
    problem = f'cannot change the value of the argument "{argument}" from "{was}" to "{wanted}"'
    refusal = "refuse to update the external resource because the following update requires replacing it"
    return _failure("update", f"{refusal}: {problem}", is_async=True)


def undeleted(message: str) -> Report:
    """Return that the cloud refused to delete a resource."""
    return (*_failure("delete", f"failed to delete the resource: [{{0 {message}  []}}]", is_async=True), DELETING)


def _failure(operation: str, problem: str, *, is_async: bool) -> Report:
    """A failed operation. One that goes on after the reconcile is reported a second time, as the last of its kind."""
    if not is_async:
        return (_error(f"{operation} failed: {problem}"),)
    problem = f"async {operation} failed: {problem}"
    last = Condition(_LAST, "False", f"Async{operation.capitalize()}Failure", problem)
    return _error(f"{operation} failed: {problem}"), last


def _error(message: str) -> Condition:
    return Condition("Synced", "False", "ReconcileError", message)


def _not_found(ref: Ref) -> str:
    """The error of an API server for a missing object, as a client with a cache has it."""
    return f'{ref.kind}.{ref.api_version.rpartition("/")[0]} "{ref.name}" not found'
