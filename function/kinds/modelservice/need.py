"""Whether a ModelService needs a proxy of its own, because a gateway's route cannot do what it asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from function.api.modelservice import Spec
from function.kinds.modelservice.inputs import Endpoint


def reasons(spec: Spec, found: Collection[Endpoint], *, most: int, is_proxied: bool) -> tuple[str, ...]:
    """Return why a service needs a proxy, each as a noun; none if a route will do.

    `most` is the room of a route for backends. A service that got a proxy for its number of endpoints keeps it until a
    route has room for twice as many, so that it does not change back and forth.
    """
    return (*asked(spec), *_of_endpoints(found, most // 2 if is_proxied else most))


def asked(spec: Spec) -> Iterator[str]:
    """Yield the fields of the spec that a route does not have."""
    if any(entry.priority for entry in spec.endpoints):
        yield "priorities"
    if any(entry.model for entry in spec.endpoints):
        yield "another name of the model"
    yield from (field for field in ("retry", "ejection", "callers", "usage") if getattr(spec, field) is not None)


def _of_endpoints(found: Collection[Endpoint], most: int) -> Iterator[str]:
    if any(one.is_outside for one in found if not one.leaving):
        yield "an outside provider"
    if sum(one.ready and not one.leaving for one in found) > most:
        yield f"more than {most} endpoints"
