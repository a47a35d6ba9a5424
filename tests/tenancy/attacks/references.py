"""References across namespaces: to Secrets, ConfigMaps and other objects, in every field that names one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.core import Manifest
from tests.tenancy.attack import HARMLESS, attacks
from tests.tenancy.fleet import SECRET, VICTIM, cache, caller, deployment, endpoint, of, template

_NAMES = (f"{VICTIM}/{SECRET}", f"../{VICTIM}/{SECRET}", "..", "", f"{VICTIM}%2F{SECRET}", "a" * 254, "UPPER")


def _put(name: str, ref: dict[str, Any]) -> dict[str, tuple[Manifest, str]]:
    """An object for each field that names another, with the field."""
    proxy = {"httpsProxy": "http://proxy.example.org:3128"}
    hub = cache(f"{name}-bundle")
    hub_of_secret = cache(f"{name}-proxy")
    hub["spec"]["proxy"] = {**proxy, "caBundle": {"configMapRef": ref}}
    hub_of_secret["spec"]["proxy"] = {"secretRef": ref}
    claim = of("ModelCache", f"{name}-s3", source="S3", s3={"bucket": "abc", "sizeGiB": 1, "authSecret": ref})
    whole = template({"envFrom": [{"secretRef": ref}]})
    value = template({"env": [{"name": "X", "valueFrom": {"configMapKeyRef": {"key": "k", **ref}}}]})
    call = caller(f"{name}-keys")
    call["spec"]["keys"] = [{"secretRef": ref}]
    return {
        "the key of a provider": (endpoint(f"{name}-auth", auth={"secretRef": ref}), "spec.auth.secretRef"),
        "its certificates": (
            endpoint(f"{name}-tls", url="https://api.example.org", tls={"caSecretRef": ref}),
            "spec.tls.caSecretRef",
        ),
        "the key of a caller": (call, "spec.keys[0].secretRef"),
        "the token of a hub": (cache(f"{name}-hub", authSecret=ref), "spec.huggingFace.authSecret"),
        "the key of a bucket": (claim, "spec.s3.authSecret"),
        "certificates of a proxy": (hub, "spec.proxy.caBundle.configMapRef"),
        "the user of a proxy": (hub_of_secret, "spec.proxy.secretRef"),
        "the cache of a deployment": (deployment(f"{name}-cache", modelCacheRef=ref), "spec.modelCacheRef"),
        "variables of a Secret": (deployment(f"{name}-from", pods=whole), "envFrom[0].secretRef"),
        "a variable of a ConfigMap": (deployment(f"{name}-value", pods=value), "env[0].valueFrom.configMapKeyRef"),
    }


def _made() -> Iterator[tuple[str, tuple[Manifest, str]]]:
    for number, name in enumerate(_NAMES):
        for what, (made, field) in _put(f"name-{number}", {"name": name}).items():
            yield f"{what}: {name[:40]!r}", (made, field)
    for what, (made, _) in _put("namespace", {"name": SECRET, "namespace": VICTIM}).items():
        refused = "namespace" if what.startswith(("variables", "a variable")) else HARMLESS
        yield f"{what}, with a namespace", (made, refused)
    for what, (made, _) in _put("own", {"name": SECRET}).items():
        yield f"{what}, by the name of the victim's", (made, HARMLESS)


ATTACKS = attacks("references", dict(_made()))
