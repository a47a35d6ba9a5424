"""A consumer of the ModelServices of its namespace: the keys by which it is known, and how many tokens it may use."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, get_args

from annotated_types import Len, MaxLen

from function import schema
from function.core import Manifest
from function.vocabulary import conditions as c
from function.vocabulary import patterns, versions

API_VERSION = versions.MODELPLANE
KIND = "ModelCaller"
PLURAL = "modelcallers"
SHORT_NAMES = ("mcl",)
SCOPE = "Namespaced"
AUDIENCE = schema.Audience.TEAM
RUNS_IN_NAMESPACE = False

DEFAULT_KEY = "api-key"
MOST_TOKENS = 2**32 - 1
"""A rate-limit server holds a limit as a uint32 (envoyproxy/go-control-plane, ratelimit/config/ratelimit/v3,
RateLimitPolicy.requests_per_unit)."""
Unit: TypeAlias = Literal["Minute", "Hour", "Day"]
COLUMNS = tuple(
    schema.Column(f"TOKENS/{unit.upper()}", "integer", f".status.limits[?(@.per=='{unit}')].tokens")
    for unit in get_args(Unit)
)
"""The limits that services keep. One that the caller does not have is empty."""


class SecretRef(schema.Api):
    name: Annotated[str, schema.Text(253, patterns.SUBDOMAIN, patterns.SUBDOMAIN_WORDS, secret=True)]
    """Name of a Secret in the same namespace."""
    key: Annotated[str, schema.Text(253, patterns.FILE_KEY, patterns.FILE_KEY_WORDS, secret=True)] = DEFAULT_KEY
    """Key of the Secret that holds the API key."""


class Key(schema.Api):
    secretRef: SecretRef
    """The Secret that holds an API key."""


class Limit(schema.Api):
    tokens: Annotated[int, schema.Count(MOST_TOKENS)]
    """Tokens that the caller may use in each unit of time."""
    per: Unit
    """Unit of time. Each limit needs its own."""


class Spec(schema.Api):
    keys: Annotated[tuple[Key, ...], Len(1, 8), schema.Distinct(("secretRef.name", "secretRef.key"), "Secret and key")]
    """The caller's API keys. Each of them is accepted, so that one can replace another without a gap."""
    limits: Annotated[tuple[Limit, ...], MaxLen(len(get_args(Unit))), schema.ListMap("per")] = ()
    """Tokens that the caller may use. They need a rate-limit server (MODELPLANE_RATELIMIT). If omitted, the caller has
    no limit."""


class AcceptedKey(schema.Api):
    secretName: str
    """Name of the Secret."""
    key: str
    """Key of the Secret."""


class AcceptedLimit(schema.Api):
    tokens: int
    """Tokens that the caller may use in each unit of time."""
    per: str
    """Unit of time: Minute, Hour or Day."""


class Status(schema.Status):
    keys: tuple[AcceptedKey, ...] = ()
    """The API keys by which services know the caller."""
    limits: tuple[AcceptedLimit, ...] = ()
    """The limits of the caller."""


def parse(xr: Manifest) -> Spec:
    """Return the spec of an XR. Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_CALLER)
