"""Reads where and how a ModelEndpoint is reached, from `status.routing.upstream`, for the proxies of ModelServices.

The endpoint's composer publishes it once it is carried out, so that a refused or unfinished edit changes nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from function.core import Manifest, dig, dig_fields, plain
from function.manifests.envoy import places
from function.manifests.envoy.secrets import Mounted
from function.manifests.envoy.upstream import Key, Upstream
from function.vocabulary import names


@dataclass(frozen=True, slots=True, order=True)
class SecretKey:
    """A key of a Secret in the namespace of a ModelService, its endpoints and its callers."""

    secret: str
    key: str

    def __str__(self) -> str:
        return f"{self.secret}/{self.key}"

    @property
    def mounted(self) -> Mounted:
        """The key as a file in the pods of a service's proxy."""
        name = f"secret-{names.content_hash([self.secret, self.key])}"
        return Mounted(name, f"{places.SECRETS_DIRECTORY}/{self.secret}", self.key)


@dataclass(frozen=True, slots=True)
class Reached:
    """How an endpoint is reached."""

    upstream: Upstream
    secrets: tuple[SecretKey, ...]
    """The keys of Secrets that its requests need."""
    revision: str
    """Identifies all of it. A service's status says by it which state of the endpoint its proxy leads to."""


def of_endpoint(endpoint: Manifest) -> Reached | None:
    """Return how an endpoint is reached; None if it is not published, or if it is not legible."""
    return of_published(dig(endpoint, "status", "routing", "upstream"))


def of_published(published: Any) -> Reached | None:
    """Return how an endpoint is reached, from what it published; None if that is not legible."""
    if not isinstance(published, Mapping):
        return None
    host, port, address_type = (published.get(name) for name in ("host", "port", "addressType"))
    if not isinstance(host, str) or not isinstance(address_type, str) or not isinstance(port, int | float):
        return None
    auth, authority = dig(published, "auth"), _secret(published.get("caSecretRef"))
    key = _secret(dig(auth, "secretRef"))
    return Reached(
        Upstream(
            host=host,
            port=int(port),
            address_type=address_type,
            tls=published.get("tls") is True,
            base_path=_text(published.get("basePath")),
            rewrite_path=_text(published.get("rewritePath")),
            query=tuple(sorted((str(k), str(v)) for k, v in dig_fields(published, "query").items())),
            key=Key(secret=key.mounted, header=str(dig(auth, "header")), prefix=_prefix(auth)) if key else None,
            authority=authority.mounted if authority else None,
            model=_text(published.get("model")),
        ),
        tuple(one for one in (key, authority) if one),
        names.content_hash(plain(published)),
    )


def _prefix(auth: Any) -> str:
    scheme = dig(auth, "scheme")
    return f"{scheme} " if scheme else ""


def _secret(reference: Any) -> SecretKey | None:
    name, key = dig(reference, "name"), dig(reference, "key")
    return SecretKey(name, key) if isinstance(name, str) and isinstance(key, str) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
