"""Handles a ModelDeployment in a reserved namespace: its spec is refused, and its replicas can only be scaled down.

Such a deployment was created before the namespace was reserved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from function.api import modelreplica, tenancy
from function.core import (
    InvalidSpec,
    Manifest,
    Request,
    Result,
    dig,
    dig_fields,
    dig_number,
    identity,
    is_ready,
    mappings,
    serves,
)
from function.kinds.modeldeployment import stages, withdraw
from function.vocabulary import conditions as c


def refusal(request: Request) -> InvalidSpec | None:
    """Return why the deployment is refused; None if its namespace is not reserved."""
    namespace = request.identity.namespace
    if not tenancy.is_reserved(namespace):
        return None
    problem = f"{tenancy.refusal(namespace)}. Existing replicas stay until spec.replicas is lowered"
    return InvalidSpec(c.INVALID_DEPLOYMENT(field=tenancy.FIELD, problem=problem))


def scaled_down(request: Request, held: Result) -> Result:
    """Return a held result without the replicas, and their endpoints, that exceed spec.replicas.

    They are drained before they are removed.
    """
    surplus = set(_surplus(request))
    if not surplus or request.resolved(stages.services(request.xr)) is None:
        return held
    kept = {key: r for key, r in held.resources.items() if identity(r.manifest).name not in surplus}
    return withdraw.drain(request, replace(held, resources=kept, status=_status(held.status, request, surplus)))


def _surplus(request: Request) -> Iterator[str]:
    """Yield the names of the replicas that exceed spec.replicas."""
    wanted = dig(request.xr, "spec", "replicas")
    if isinstance(wanted, int) and not isinstance(wanted, bool) and wanted >= 0:
        yield from (identity(m).name for m in sorted(_replicas(request), key=_last_to_go)[wanted:])


def _replicas(request: Request) -> list[Manifest]:
    return [m for m in request.observed.values() if m.get("kind") == modelreplica.KIND]


def _last_to_go(replica: Manifest) -> tuple[Any, ...]:
    """Return a key that sorts the replicas to keep first: those that serve, then those that are ready, then the oldest.

    The scheduler's order (`_first_to_go` in scheduling/solve.py) agrees on health and differs in the rest: it prefers
    the current spec and spreads over clusters. A reserved deployment has no parsed spec and no fleet to do so.
    """
    created = str(replica["metadata"].get("creationTimestamp") or "")
    is_going = "deletionTimestamp" in replica["metadata"]
    return is_going, not serves(replica, "ModelReady"), not is_ready(replica), created, identity(replica).name


def _status(status: Any, request: Request, surplus: set[str]) -> dict[str, Any]:
    """Return the status without the replicas that go, since autoscalers read the counts."""
    staying = [m for m in _replicas(request) if identity(m).name not in surplus]
    serving = sum(serves(m, "ModelReady") for m in staying)
    counts = {**dig_fields(status, "replicas"), "total": len(staying), "ready": serving}
    counts["updated"] = min(int(dig_number(counts, "updated")), len(staying))
    placements = [p for p in mappings(status.get("placements")) if p.get("replica") not in surplus]
    rest = {key: value for key, value in status.items() if key not in ("replicas", "placements")}
    return {**rest, "replicas": counts, **({"placements": placements} if placements else {})}
