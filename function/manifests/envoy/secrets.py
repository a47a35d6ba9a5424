"""Keys and certificates that Envoy reads from files of mounted Secrets, and reads again when a Secret changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from function.manifests.envoy.language import TYPES


@dataclass(frozen=True, slots=True)
class Mounted:
    """One key of a Secret as a file in the proxy's pods."""

    name: str
    """Name of the Secret in Envoy's configuration, and of its SDS file."""
    directory: str
    """Where the Secret is mounted. Kubernetes swaps a link in it when the Secret changes."""
    file: str
    """Path of the file in it."""

    @property
    def path(self) -> str:
        return f"{self.directory}/{self.file}"


def source(secret: Mounted, sds: str) -> dict[str, Any]:
    """Refer to a secret by its SDS file, whose path is `sds`."""
    watched = {"path": secret.directory}
    return {"name": secret.name, "sds_config": {"path_config_source": {"path": sds, "watched_directory": watched}}}


def generic(secret: Mounted) -> dict[str, Any]:
    """Return the SDS file of a key. Envoy takes one secret from each file."""
    return _resources(secret.name, generic_secret={"secret": {"filename": secret.path}})


def authority(secret: Mounted) -> dict[str, Any]:
    """Return the SDS file of certificates."""
    return _resources(secret.name, validation_context={"trusted_ca": {"filename": secret.path}})


def _resources(name: str, **secret: Any) -> dict[str, Any]:
    type_ = f"{TYPES}.extensions.transport_sockets.tls.v3.Secret"
    return {"resources": [{"@type": type_, "name": name, **secret}]}
