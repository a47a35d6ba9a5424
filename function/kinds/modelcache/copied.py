"""What a Job reads from Secrets and ConfigMaps beside the cache. It is copied to every cluster that stages."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from function.api.modelcache import Spec
from function.api.weights import S3, HuggingFace
from function.core import Condition, Manifest, Request, Requirement, dig, dig_text, identity
from function.vocabulary import conditions as c
from function.vocabulary import versions

HF_TOKEN = "HF_TOKEN"  # noqa: S105  (the name of a variable)
CA_BUNDLE = "ca.crt"
"""Key of the certificates in the copy. The other keys are names of variables."""
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_SESSION_TOKEN = "AWS_SESSION_TOKEN"  # noqa: S105  (the name of a variable)
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY")
_LONGEST_VALUE = 8192
"""Characters in base64. A token or an access key has about forty, a Secret may hold 1 MiB, and every cluster gets a
copy."""
_LONGEST_BUNDLE = 262_144
"""Characters. All public authorities together have about 220,000."""


@dataclass(frozen=True, slots=True)
class Copied:
    """The values for a Job, or what is missing."""

    values: Mapping[str, str] = field(default_factory=dict)
    """In base64, by key of the copy."""
    missing: Condition | None = None

    @property
    def size(self) -> int:
        return sum(map(len, self.values.values()))


def requirements(xr: Manifest) -> tuple[Requirement, ...]:
    """Return the requirements. The spec need not be valid."""
    return tuple(
        Requirement(name, versions.CORE, kind, match_name=found, namespace=identity(xr).namespace)
        for name, kind, *path in _REFERENCES
        if isinstance(found := dig(xr, "spec", *path, "name"), str)
    )


_REFERENCES = (
    ("token", "Secret", "huggingFace", "authSecret"),
    ("keys", "Secret", "s3", "authSecret"),
    ("proxy", "Secret", "proxy", "secretRef"),
    ("ca-bundle", "ConfigMap", "proxy", "caBundle", "configMapRef"),
)
"""Name of the requirement, kind and path of each reference in a spec."""


def read(request: Request, spec: Spec) -> Copied:
    """Return the values. A Secret that is there in part counts as missing."""
    values: dict[str, str] = {}
    for got in _read(request, spec):
        if isinstance(got, Condition):
            return Copied(values, got)
        values |= got
    return Copied(values)


def _read(request: Request, spec: Spec) -> Iterator[dict[str, str] | Condition]:
    block, proxy = spec.block, spec.proxy
    if isinstance(block, HuggingFace) and block.authSecret:
        got = _secret(request, "token", block.authSecret.name, (block.authSecret.key,))
        yield got if isinstance(got, Condition) else {HF_TOKEN: got[block.authSecret.key]}
    if isinstance(block, S3) and block.authSecret:
        yield _secret(request, "keys", block.authSecret.name, _KEYS, (_SESSION_TOKEN,))
    if proxy and proxy.secretRef:
        got = _secret(request, "proxy", proxy.secretRef.name, (), _PROXIES)
        nothing = (
            f"Secret {request.identity.namespace}/{proxy.secretRef.name} has no key {' and no key '.join(_PROXIES)}"
        )
        yield got or c.AUTH_SECRET_MISSING(why=nothing)
    if proxy and proxy.caBundle:
        yield _bundle(request, proxy.caBundle.configMapRef.name, proxy.caBundle.configMapRef.key)


def _secret(
    request: Request, requirement: str, name: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, str] | Condition:
    found, missing = _found(request, requirement, "Secret", name)
    if missing:
        return c.AUTH_SECRET_MISSING(why=missing)
    values = {}
    for key in (*needed, *optional):
        value = dig(found, "data", key)
        if isinstance(value, str) and len(value) > _LONGEST_VALUE:
            much = f"has {len(value)} characters in key {key}; a token has at most {_LONGEST_VALUE}"
            return c.AUTH_SECRET_MISSING(why=f"{_where(request, 'Secret', name)} {much}")
        if isinstance(value, str):
            values[key] = value
        elif key in needed:
            return c.AUTH_SECRET_MISSING(why=f"{_where(request, 'Secret', name)} has no key {key}")
    return values


def _bundle(request: Request, name: str, key: str) -> dict[str, str] | Condition:
    found, missing = _found(request, "ca-bundle", "ConfigMap", name)
    text = dig_text(found, "data", key)
    if not missing and text is None:
        missing = f"{_where(request, 'ConfigMap', name)} has no key {key}"
    if missing or text is None:
        return c.CA_BUNDLE_MISSING(why=missing)
    if "-----BEGIN CERTIFICATE-----" not in text:
        missing = f"{_where(request, 'ConfigMap', name)} has no certificate in PEM in key {key}"
    elif len(text) > _LONGEST_BUNDLE:
        much = f"has {len(text)} characters in key {key}; the certificates may have at most {_LONGEST_BUNDLE}"
        missing = f"{_where(request, 'ConfigMap', name)} {much}"
    if missing:
        return c.CA_BUNDLE_MISSING(why=missing)
    return {CA_BUNDLE: base64.b64encode(text.encode()).decode()}


def _found(request: Request, requirement: str, kind: str, name: str) -> tuple[Any, str]:
    """Return the object that was looked up, or why there is none."""
    found = request.required.get(requirement)
    if not found:
        why = "has not been looked up yet" if found is None else "does not exist"
        return None, f"{_where(request, kind, name)} {why}"
    return found[0], ""


def _where(request: Request, kind: str, name: str) -> str:
    return f"{kind} {request.identity.namespace}/{name}"
