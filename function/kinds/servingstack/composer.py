"""The composer of ServingStacks: install the serving stack on a cluster, part by part."""

from __future__ import annotations

from function.api.servingstack import API_VERSION, KIND, Spec, is_public, parse
from function.core import Composer, Condition, InvalidSpec, Request, Result
from function.kinds.servingstack import compose, gateway, owner, status
from function.manifests.parts import describe_pending
from function.vocabulary import conditions as c


def _compose(request: Request) -> Result:
    owner.check(request.xr)
    spec = parse(request.xr)
    _check_config(spec)
    owner.check_access(request.xr, spec)
    gateway.check(spec)
    namespace = request.identity.namespace
    wanted = compose.parts(request, spec, namespace)
    waiting = [part.key for part in wanted if not request.is_ready(part.key)]
    address = compose.address(request)
    return Result(
        ready=not waiting,
        conditions=(_stack_ready(request, spec, waiting, address),),
        resources=compose.resources(request, wanted, namespace),
        status=status.status(request, spec, wanted, address),
        waiting=bool(waiting),
    )


def _check_config(spec: Spec) -> None:
    """Raises InvalidSpec for a ProviderConfig: Objects and Releases name ClusterProviderConfigs of two providers."""
    if spec.providerConfigRef.kind != "ClusterProviderConfig":
        problem = f"must be ClusterProviderConfig, not {spec.providerConfigRef.kind}"
        raise InvalidSpec(c.INVALID_STACK(field="spec.providerConfigRef.kind", problem=problem))


def _stack_ready(request: Request, spec: Spec, waiting: list[str], address: str | None) -> Condition:
    if waiting:
        return c.STACK_INSTALLING(why=f"Waiting for {', '.join(describe_pending(request, key) for key in waiting)}")
    where = f"; the gateway answers at {address}" if address else ""
    public = " (public, unauthenticated)" if where and is_public(spec) else ""
    return c.STACK_INSTALLED(why=f"Everything is installed{where}{public}")


COMPOSER = Composer(
    api_version=API_VERSION,
    kind=KIND,
    conditions=(c.STACK_READY,),
    invalid=c.INVALID_STACK,
    requirements=lambda _: (),
    compose=_compose,
    addresses=(("gateway", "address"),),
)
