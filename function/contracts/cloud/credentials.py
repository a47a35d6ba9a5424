"""The provider config with whose rights a cloud makes a cluster, and the Secret that it names.

Both are looked up, so that missing credentials are named instead of leaving every managed resource in error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.core import Manifest, Missing, NotYet, Request, Requirement, dig
from function.vocabulary import conditions as c
from function.vocabulary import names, versions

CONFIG = "credentials"
"""Name of the requirement for the provider config."""
_SECRET = "credentials-secret"  # noqa: S105  (a requirement's name)
KINDS = ("ClusterProviderConfig", "ProviderConfig")
"""Kinds of provider configs. Their plurals are the kinds in lower case with an s."""


def requirements(request: Request, provider: str) -> tuple[Requirement, ...]:
    """Return the provider config, and once that was found the Secret that it names.

    Called before the spec is parsed. `provider` is the apiVersion of the provider's configs.
    """
    return tuple(_requirements(request, provider))


def _requirements(request: Request, provider: str) -> Iterator[Requirement]:
    yield _config(request, provider)
    named = _secret(found_config(request))
    if named:
        yield named


def _config(request: Request, provider: str) -> Requirement:
    given = dig(request.xr, "spec", "credentials")
    kind, name = dig(given, "type"), dig(given, "name")
    kind = kind if kind in KINDS else KINDS[0]
    namespace = names.SYSTEM_NAMESPACE if kind == "ProviderConfig" else None
    name = name if isinstance(name, str) and name else "default"
    return Requirement(CONFIG, provider, kind, match_name=name, namespace=namespace)


def found_config(request: Request) -> Manifest | None:
    """Return the provider config; None while it is not known, and where it does not exist."""
    answer = request.required.get(CONFIG)
    return answer[0] if answer else None


def _secret(config: Manifest | None) -> Requirement | None:
    """The Secret with the credentials of a config; None where it takes them from elsewhere, such as an identity of the
    provider's pod."""
    reference = dig(config, "spec", "credentials", "secretRef")
    name, namespace = dig(reference, "name"), dig(reference, "namespace") or dig(config, "metadata", "namespace")
    if dig(config, "spec", "credentials", "source") != "Secret" or not name:
        return None
    return Requirement(_SECRET, versions.CORE, "Secret", match_name=str(name), namespace=str(namespace or ""))


def check(request: Request, provider: str) -> None:
    """Raises NotYet while the credentials are not known, and Missing while they are not there.

    The message says which, and where.
    """
    wanted = _config(request, provider)
    where = f" in namespace {wanted.namespace}" if wanted.namespace else ""
    title = f"{wanted.kind} {wanted.match_name} of {provider.partition('/')[0]}{where}"
    answer = request.required.get(CONFIG)
    if answer is None:
        raise NotYet(c.PROVISIONING(why=f"Waiting to see {title}"))
    if not answer:
        raise _missing(f"{title} does not exist; create it, with the credentials that make the cluster")
    secret = _secret(answer[0])
    if secret:
        _check_secret(request, secret, title, str(dig(answer[0], "spec", "credentials", "secretRef", "key") or ""))


def _check_secret(request: Request, secret: Requirement, config: str, key: str) -> None:
    found: Any = request.required.get(_SECRET)
    title = f"Secret {secret.namespace}/{secret.match_name}"
    if found is None:
        raise NotYet(c.PROVISIONING(why=f"Waiting to see {title}"))
    if not found:
        raise _missing(f"{title} does not exist; {config} takes its credentials from it")
    if key and not any(dig(found[0], field, key) is not None for field in ("data", "stringData")):
        raise _missing(f"{title} has no key {key}; {config} takes its credentials from it")


def _missing(why: str) -> Missing:
    return Missing(c.CREDENTIALS_MISSING(why=why))
