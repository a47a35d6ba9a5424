"""The manifests of a ModelEndpoint: a Service in front of its address, or of an egress proxy.

The proxies of ModelServices take over from the egress proxy. Its Service then stays alone, without pods.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from function.api.modelendpoint import Auth, Spec
from function.core import NamespacedName
from function.kinds.modelendpoint.target import Target, needs_proxy
from function.manifests import backends, copies, proxies
from function.manifests.envoy import addresses, places
from function.manifests.envoy import egress as configuration
from function.manifests.envoy.upstream import Key, Upstream
from function.vocabulary import labels, names, settings
from function.vocabulary.egress import Policy

PROXY = "egress-proxy"
CONFIG = "egress-config"
PROXY_SERVICE = "egress-service"
SERVICE = "service"
SLICE = "slice-"
"""Prefix of the slice's key. The address type follows."""


def manifests(
    endpoint: NamespacedName, spec: Spec, target: Target, checked: Policy | None
) -> dict[str, dict[str, Any]]:
    """Return all manifests by key. `checked` has the lists by which the addresses of a name are checked, if at all."""
    if needs_proxy(spec, target, is_checked=checked is not None):
        return _proxied(endpoint, spec, target, checked)
    return _direct(endpoint, target)


def routing(endpoint: NamespacedName, spec: Spec, target: Target, *, is_checked: bool) -> dict[str, Any]:
    """Return what a route to the endpoint needs. A proxy sets the Host header itself, and an IP address accepts any."""
    is_proxied = needs_proxy(spec, target, is_checked=is_checked)
    return {
        "backendName": names.egress(endpoint) if is_proxied else names.backend(endpoint),
        "rewritePath": target.rewrite_path,
        **({"hostname": target.host} if target.is_name and not is_proxied else {}),
        "upstream": _published(spec, target),
    }


def _published(spec: Spec, target: Target) -> dict[str, Any]:
    """Return what the proxy of a ModelService must know of the endpoint."""
    return {
        "host": target.host,
        "port": target.port,
        "addressType": target.address_type,
        **({"tls": True} if target.tls else {}),
        **({"rewritePath": target.rewrite_path} if target.base_path is None else {"basePath": target.base_path}),
        **({"query": dict(spec.query)} if spec.query else {}),
        **({"auth": _key(spec.auth)} if spec.auth else {}),
        **({"caSecretRef": spec.tls.caSecretRef.model_dump()} if spec.tls else {}),
        **({"model": spec.model} if spec.model else {}),
    }


def _key(auth: Auth) -> dict[str, Any]:
    """Return where the key is and how it is sent, with all defaults filled in."""
    return {"secretRef": auth.secretRef.model_dump(), "header": auth.header, "scheme": auth.prefix.rstrip()}


def _direct(endpoint: NamespacedName, target: Target) -> dict[str, dict[str, Any]]:
    """Return a Service and its slice. The slice's address type is immutable, so it is part of its name and key."""
    service, address_type = names.backend(endpoint), target.address_type.lower()
    address = backends.endpoint_slice(
        name=names.address_slice(endpoint, address_type),
        namespace=endpoint.namespace,
        service=service,
        address_type=target.address_type,
        address=target.host,
        port=target.port,
        labels=_labels(endpoint),
    )
    return {
        SERVICE: backends.service(name=service, namespace=endpoint.namespace, labels=_labels(endpoint)),
        f"{SLICE}{address_type}": address,
    }


def _proxied(endpoint: NamespacedName, spec: Spec, target: Target, checked: Policy | None) -> dict[str, dict[str, Any]]:
    named: dict[str, Any] = {
        "name": names.egress(endpoint),
        "namespace": endpoint.namespace,
        "labels": _labels(endpoint),
    }
    rules = addresses.rules(checked, target.host, endpoint.namespace) if checked and target.is_name else None
    is_completed = target.is_name and (checked or Policy()).completes(target.host, endpoint.namespace)
    to = replace(_upstream(spec, target), rules=rules, is_completed=is_completed)
    files = configuration.files(node=str(endpoint), to=to, policy=checked or Policy())
    return {
        CONFIG: copies.config_map(**named, data=files),
        PROXY: proxies.deployment(
            **named,
            image=settings.EGRESS_IMAGE,
            config_map=named["name"],
            config_hash=names.content_hash(configuration.read_at_startup(files)),
            secrets=_secrets(spec),
        ),
        "egress-budget": proxies.disruption_budget(**named),
        PROXY_SERVICE: backends.service(**named, selector=named["labels"], target_port=places.PORT),
    }


def _upstream(spec: Spec, target: Target) -> Upstream:
    """Return the provider as the egress proxy asks it. A route rewrites the path, unless clients' /v1 is replaced."""
    key = Key(secret=configuration.CREDENTIAL, header=spec.auth.header, prefix=spec.auth.prefix) if spec.auth else None
    return Upstream(
        host=target.host,
        port=target.port,
        address_type=target.address_type,
        tls=target.tls,
        base_path=target.base_path,
        query=tuple(sorted(spec.query.items())),
        key=key,
        authority=configuration.AUTHORITY if spec.tls else None,
        model=spec.model,
    )


def _secrets(spec: Spec) -> list[proxies.SecretFiles]:
    """Return the Secrets without which no proxy starts."""
    found = []
    if spec.auth:
        ref, place = spec.auth.secretRef, configuration.CREDENTIAL
        found.append(proxies.SecretFiles("credential", ref.name, place.directory, ((ref.key, place.file),)))
    if spec.tls:
        authority, place = spec.tls.caSecretRef, configuration.AUTHORITY
        found.append(proxies.SecretFiles("authority", authority.name, place.directory, ((authority.key, place.file),)))
    return found


def _labels(endpoint: NamespacedName) -> dict[str, str]:
    return {labels.ENDPOINT: names.label_value(endpoint.name)}
