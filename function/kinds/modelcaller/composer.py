"""Accept a ModelCaller: publish its keys and limits, by which ModelServices know it.

It composes nothing, and reads no Secret: a key is mounted where it is checked. Services go by the status, which a
refused edit does not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from function.api.modelcaller import API_VERSION, KIND, Spec, parse
from function.core import Composer, HoldDecision, InvalidSpec, Manifest, Request, Requirement, Result, plural
from function.fleet import callers
from function.fleet.upstreams import SecretKey
from function.kinds.modelcaller import claims
from function.vocabulary import conditions as c
from function.vocabulary import settings


def _requirements(request: Request) -> tuple[Requirement, ...]:
    return (callers.required(request.identity.namespace),)


def _compose(request: Request) -> Result:
    spec = parse(request.xr)
    _check_limits(spec)
    keys = [SecretKey(key.secretRef.name, key.secretRef.key) for key in spec.keys]
    _check_keys(request.xr, keys, claims.others(request))
    limits = [{"tokens": limit.tokens, "per": limit.per} for limit in spec.limits]
    return Result(
        ready=True,
        conditions=(c.KEYS_ACCEPTED(keys=plural(len(keys), "key"), limits=_said(spec)),),
        status={"keys": _published(keys), "limits": limits},
    )


def _check_limits(spec: Spec) -> None:
    if spec.limits and settings.rate_limit_server() is None:
        problem = (
            f"need a rate-limit server, and Modelplane has none: remove them, or set {settings.RATELIMIT_VARIABLE} of"
            " the function to the host and port of one"
        )
        raise InvalidSpec(c.NO_RATE_LIMIT_SERVER(field="spec.limits", problem=problem))


def _check_keys(mine: Manifest, keys: Sequence[SecretKey], theirs: Sequence[Manifest]) -> None:
    for index, key in enumerate(keys):
        name = claims.holder(key, mine, theirs)
        if name is not None:
            problem = (
                f"key {key.key} of Secret {key.secret} belongs to ModelCaller {name}; each caller needs keys of its own"
            )
            raise InvalidSpec(c.KEY_TAKEN(field=f"spec.keys[{index}].secretRef", problem=problem))


def _said(spec: Spec) -> str:
    limits = " and ".join(f"{limit.tokens} tokens per {limit.per}" for limit in spec.limits)
    return f"at most {limits}" if limits else "no limit"


def _published(keys: Sequence[SecretKey]) -> list[dict[str, Any]]:
    return [{"secretName": key.secret, "key": key.key} for key in keys]


def _held(request: Request) -> HoldDecision:
    """Give up the keys that an older caller has published as well. Requests with them are known as that caller's."""
    yielded = claims.yielded(request)
    kept = [key for key in claims.published(request.xr) if key not in yielded]
    return HoldDecision(status={"keys": _published(kept)} if yielded else {})


COMPOSER = Composer(
    api_version=API_VERSION,
    kind=KIND,
    conditions=(c.CALLER_ACCEPTED,),
    invalid=c.INVALID_CALLER,
    requirements=_requirements,
    compose=_compose,
    held=_held,
)
