"""Managed resources of the clouds' providers (Upjet, `*.m.upbound.io`), and the references between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from function.core import Manifest, dig
from function.core.manifest import is_list
from function.manifests.metadata import metadata
from function.vocabulary import crossplane

NO_LATE_INITIALIZATION = ("Observe", "Create", "Update", "Delete")
"""Management policies without LateInitialize. Only then is initProvider applied at creation and ignored afterwards."""


def managed_resource(
    *,
    api_version: str,
    kind: str,
    name: str,
    namespace: str,
    labels: Mapping[str, str],
    provider_config: Mapping[str, str],
    for_provider: Mapping[str, Any],
    init_provider: Mapping[str, Any] | None = None,
    external_name: str | None = None,
    secret: str | None = None,
    management_policies: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a managed resource.

    Args:
        api_version: Its apiVersion.
        kind: Its kind.
        name: Its name.
        namespace: Its namespace.
        labels: Its labels.
        provider_config: Kind and name of the provider config.
        for_provider: What the cloud is to have.
        init_provider: What the cloud is to have at creation only.
        external_name: The cloud's name for it, where that differs from `name`.
        secret: Name of the Secret, in its own namespace, to which the provider writes connection details.
        management_policies: What the provider may do. Empty means everything.
    """
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": metadata(
            name=name,
            namespace=namespace,
            labels=labels,
            annotations={crossplane.EXTERNAL_NAME: external_name} if external_name else None,
        ),
        "spec": {
            "providerConfigRef": dict(provider_config),
            **({"managementPolicies": list(management_policies)} if management_policies else {}),
            **({"writeConnectionSecretToRef": {"name": secret}} if secret else {}),
            "forProvider": dict(for_provider),
            **({"initProvider": dict(init_provider)} if init_provider else {}),
        },
    }


def external_name(manifest: Manifest) -> str | None:
    """Return the cloud's name for an observed managed resource; None before the cloud has made it."""
    found = dig(manifest, "metadata", "annotations", crossplane.EXTERNAL_NAME)
    return found if isinstance(found, str) and found else None


def references(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield each reference of a managed resource: the field, without its path, and the name that it refers to."""
    for path, name in reference_paths(manifest):
        yield path.rpartition(".")[2], name


def reference_paths(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield each reference of a managed resource: the path of its field, without indexes, and the name."""
    for parameters in ("forProvider", "initProvider"):
        yield from _references(dig(manifest, "spec", parameters), "")


def _references(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if is_list(value):
        for item in value:
            yield from _references(item, path)
    if not isinstance(value, Mapping):
        return
    for field, child in value.items():
        at = f"{path}.{field}" if path else field
        if field.endswith(("Ref", "Refs")):
            named = child if is_list(child) else (child,)
            yield from ((at, name) for each in named if isinstance(name := dig(each, "name"), str))
        else:
            yield from _references(child, at)
