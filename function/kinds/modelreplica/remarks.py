"""What a user should know of a replica's engines: how they were understood, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator

from function.engines import offline
from function.kinds.modelreplica import engine, pods
from function.kinds.modelreplica.engine import EnginePlan
from function.kinds.modelreplica.inputs import Site

_KNOWN_BY = {"runtime": "by spec.engines[].runtime", "command": "by its command", "image": "by its image"}


def engines(plans: tuple[EnginePlan, ...], site: Site) -> Iterator[str]:
    """Yield a remark for each engine: what it is, its port, and what it is given or not given."""
    for plan in plans:
        yield f"engine {plan.name}: {', '.join(_facts(plan, site))}"


def tls(plan: EnginePlan) -> str:
    """Return what a user should know of an engine that serves TLS; "" for another one."""
    if not plan.tls:
        return ""
    if plan.handover:
        return f"{plan.tls} makes it serve TLS, which neither the routing sidecar nor the endpoint picker speaks to it"
    return (
        f"{plan.tls} makes it serve TLS, so its probes ask over HTTPS; the cluster's gateway speaks plain HTTP to it, "
        "unless you attach a BackendTLSPolicy of the Gateway API to its Service"
    )


def _facts(plan: EnginePlan, site: Site) -> Iterator[str]:
    read = plan.reading
    if read.engine:
        yield f"{read.engine.name} ({_KNOWN_BY[read.known_by]})"
    else:
        yield "not recognised, so it is given no flags (spec.engines[].runtime can name it)"
    behind = " behind the routing sidecar" if plan.has_sidecar else ""
    yield f"port {plan.port} {f'from {plan.port_source}' if plan.port_source else 'by default'}{behind}"
    given = pods.injected(plan, site)
    if given.args:
        yield f"given {' '.join(given.args)}"
    if given.left_out and read.engine:
        yield f"not told of its weights at {pods.MODELS} ({given.left_out})"
    yield from _offline(plan, site)
    yield from filter(None, [tls(plan)])


def _offline(plan: EnginePlan, site: Site) -> Iterator[str]:
    variable = offline.variable(plan.reading)
    users = engine.engine_container(engine.serving(plan.engine)).get("env", ())
    if site.weights and variable and plan.needs_hub and all(one["name"] != variable for one in users):
        yield f"not given {variable}, because {plan.needs_hub} may need a hub"
