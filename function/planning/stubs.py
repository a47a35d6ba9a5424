"""Stubs of what a fleet references and its files do not contain: Secrets, ConfigMaps, and clouds' provider configs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from function import clouds, podspec
from function.contracts.cloud import credentials
from function.core import Manifest, dig, dig_fields, dig_list, dig_text
from function.vocabulary import names, namespaces, versions

_VALUE = "YXNzdW1lZA=="
"""Base64 of `assumed`."""


_CERTIFICATE = "-----BEGIN CERTIFICATE-----"
_CA_BUNDLE, _CA_KEY = ("proxy", "caBundle", "configMapRef"), "ca.crt"
_REFERENCES = (
    ("Secret", ("auth", "secretRef"), ("api-key",)),
    ("Secret", ("huggingFace", "authSecret"), ("HF_TOKEN",)),
    ("Secret", ("s3", "authSecret"), ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")),
    ("Secret", ("proxy", "secretRef"), ("HTTPS_PROXY",)),
    ("ConfigMap", _CA_BUNDLE, (_CA_KEY,)),
)
"""Kind, path and keys of the references in the specs of ModelEndpoints and ModelCaches."""
_PROVIDER_CONFIGS = credentials.KINDS


def objects(manifests: Iterable[Manifest]) -> list[dict[str, Any]]:
    """A stub for each object that the manifests reference and do not contain, in order of kinds and names."""
    given = list(manifests)
    configs = _provider_configs(given)
    fleet = [*given, *configs]
    existing = {
        (m["kind"], m["metadata"].get("namespace") or namespaces.UNSTATED, m["metadata"]["name"]) for m in fleet
    }
    certificates = {one for m in fleet for one in _certificates(m)}
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for kind, namespace, name, key in (named for m in fleet for named in _named(m)):
        if (kind, namespace, name) in existing:
            continue
        stub = found.setdefault((kind, namespace, name), _stub(kind, namespace, name))
        if key:
            text = _CERTIFICATE if (namespace, name, key) in certificates else "assumed"
            stub["data"][key] = _VALUE if kind == "Secret" else text
    return [*_system_namespace(fleet), *configs, *(found[key] for key in sorted(found))]


def _system_namespace(fleet: Iterable[Manifest]) -> Iterator[dict[str, Any]]:
    """The namespace that an InferenceGateway looks up."""
    there = {(m["kind"], m["metadata"]["name"]) for m in fleet}
    if any(kind == "InferenceGateway" for kind, _ in there) and ("Namespace", names.SYSTEM_NAMESPACE) not in there:
        yield {"apiVersion": versions.CORE, "kind": "Namespace", "metadata": {"name": names.SYSTEM_NAMESPACE}}


def _provider_configs(fleet: Iterable[Manifest]) -> list[dict[str, Any]]:
    """The provider configs with whose rights clouds make clusters."""
    existing = {(m["apiVersion"], m["kind"], m["metadata"]["name"]) for m in fleet}
    wanted = {}
    for source in clouds.SOURCES:
        blocks = (dig(m, "spec", "cluster", source.block) for m in fleet if m["kind"] == "InferenceCluster")
        for block in (block for block in blocks if block is not None):
            kind = str(dig(block, "credentials", "type") or "ClusterProviderConfig")
            name = str(dig(block, "credentials", "name") or "default")
            if source.provisioner:
                wanted[source.provisioner.provider, kind, name] = source.provisioner.assumed_config
    return [_provider_config(*key, wanted[key]) for key in sorted(wanted.keys() - existing)]


def _provider_config(api_version: str, kind: str, name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    namespace = {"namespace": names.SYSTEM_NAMESPACE} if kind == "ProviderConfig" else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **namespace}, "spec": dict(spec)}


def _certificates(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    """Namespace, name and key of a ConfigMap that must hold certificates."""
    reference = dig_fields(manifest, "spec", *_CA_BUNDLE)
    if name := reference.get("name"):
        namespace = manifest["metadata"].get("namespace") or namespaces.UNSTATED
        yield namespace, str(name), str(reference.get("key") or _CA_KEY)


def _stub(kind: str, namespace: str, name: str) -> dict[str, Any]:
    return {
        "apiVersion": versions.CORE,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        **({"type": "Opaque"} if kind == "Secret" else {}),
        "data": {},
    }


def _named(manifest: Manifest) -> Iterator[tuple[str, str, str, str]]:
    """Kind, namespace, name and key of each reference of an object."""
    existing = dig_fields(manifest, "spec", "cluster", "existing")
    for reference, key in (("secretRef", "kubeconfig"), ("identitySecretRef", "")):
        if name := dig_text(existing, reference, "name"):
            yield "Secret", names.SYSTEM_NAMESPACE, name, dig_text(existing, reference, "key") or key
    yield from _credentials(manifest)
    namespace = manifest["metadata"].get("namespace") or namespaces.UNSTATED
    for kind, path, keys in _REFERENCES:
        if name := dig_text(manifest, "spec", *path, "name"):
            yield from ((kind, namespace, name, dig_text(manifest, "spec", *path, "key") or key) for key in keys)
    for template in _templates(manifest):
        yield from ((kind, namespace, name, key) for kind, name, key in _in_template(template))


def _credentials(manifest: Manifest) -> Iterator[tuple[str, str, str, str]]:
    """The Secret of a provider config. One in no namespace says in which its Secret is."""
    reference = dig(manifest, "spec", "credentials", "secretRef")
    if manifest["kind"] in _PROVIDER_CONFIGS and (name := dig(reference, "name")):
        namespace = dig(reference, "namespace") or manifest["metadata"].get("namespace") or names.SYSTEM_NAMESPACE
        yield "Secret", str(namespace), str(name), str(dig(reference, "key") or "")


def _in_template(template: Any) -> Iterator[tuple[str, str, str]]:
    for reference in podspec.references(template):
        is_pull = "imagePullSecrets" in reference.path
        keys = reference.keys or ([".dockerconfigjson"] if is_pull else [""])
        if not reference.optional:
            yield from ((reference.kind, reference.name, key) for key in sorted(keys))


def _templates(manifest: Manifest) -> Iterator[object]:
    for engine in dig_list(manifest, "spec", "engines"):
        for member in dig_list(engine, "members"):
            yield dig(member, "template")
