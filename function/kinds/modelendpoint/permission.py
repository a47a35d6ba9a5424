"""Whether an endpoint may lead where its URL says, by the lists of the platform team.

The endpoints of a ModelDeployment lead to the gateways that InferenceClusters publish: only the built-in lists apply to
them, and the InferenceGateway is not read. An admission policy keeps users from writing endpoints that look like them.
"""

from __future__ import annotations

from collections.abc import Mapping

from function.api import inferencegateway, modeldeployment
from function.core import (
    ComposedResource,
    InvalidSpec,
    Manifest,
    NotYet,
    Request,
    Requirement,
    dig,
    doubt,
    is_controlled_by,
)
from function.kinds.modelendpoint import target
from function.kinds.modelendpoint.target import Target
from function.vocabulary import conditions as c
from function.vocabulary.egress import Denial, Policy

_GATEWAY = Requirement("gateway", inferencegateway.API_VERSION, inferencegateway.KIND, match_name=inferencegateway.NAME)


def requirements(request: Request) -> tuple[Requirement, ...]:
    return () if is_replicas(request.xr) else (_GATEWAY,)


def is_replicas(xr: Manifest) -> bool:
    """Return whether a ModelDeployment composed an endpoint."""
    return is_controlled_by(xr["metadata"], modeldeployment.API_VERSION, modeldeployment.KIND)


def policy(request: Request, where: Target) -> Policy:
    """Return the lists that apply. Raises NotYet while the InferenceGateway is not looked up.

    That there is none is believed the second time if an edit could get by the lists of one that was only missed.
    """
    if is_replicas(request.xr):
        return Policy()
    found = request.resolved(_GATEWAY)
    if found is None:
        raise NotYet(c.WAITING_FOR_BACKEND(why=f"Crossplane has not looked up {_GATEWAY} yet"))
    on = noted(request, where)
    if on and not doubt.is_believed(request, _GATEWAY.name, on):
        why = f"{_GATEWAY} was not found; the edit waits until a second look-up confirms that"
        raise NotYet(c.WAITING_FOR_BACKEND(why=why), decided=doubt.keep(request, on, _GATEWAY.name))
    return inferencegateway.policy(found[0] if found else None)


def noted(request: Request, where: Target) -> str | None:
    """Return the resource that has the note of a missing InferenceGateway; None if nothing depends on it."""
    published = dig(request.xr, "status", "routing", "upstream", "host")
    is_edit = published is not None and published != where.host and bool(request.observed)
    return min(request.observed) if is_edit and not is_replicas(request.xr) and not request.resolved(_GATEWAY) else None


def with_note(request: Request, where: Target, composed: Mapping[str, ComposedResource]) -> dict[str, ComposedResource]:
    """Return resources with the note of a missing InferenceGateway, for the next pass."""
    on = noted(request, where)
    return {key: doubt.with_note(one, [_GATEWAY.name]) if key == on else one for key, one in composed.items()}


def remark(request: Request, where: Target, lists: Policy) -> str:
    """Return a remark about a host that is denied by now, but which the endpoint leads to already.

    Raises InvalidSpec for a denied host that it does not lead to yet.
    """
    denial = lists.denial(where.host, request.identity.namespace)
    if denial is None:
        return ""
    if not _leads_there(request, where):
        raise refusal(where, denial)
    kept = "this one serves on until its url is edited"
    return f"; {where.host} is denied to new endpoints ({denial.why}), and {kept}: {denial.permission}"


def refusal(where: Target, denial: Denial) -> InvalidSpec:
    return target.refused(f"no endpoint may lead to {where.host}: {denial.why}; {denial.remedy}")


def _leads_there(request: Request, where: Target) -> bool:
    """Return whether the endpoint serves at the same host and port, by what it published."""
    published = dig(request.xr, "status", "routing", "upstream")
    is_serving = dig(request.xr, "status", "serving") is True
    return is_serving and (dig(published, "host"), dig(published, "port")) == (where.host, where.port)
