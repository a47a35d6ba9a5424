"""Where a simulation starts, and how its steps name objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from function.core import Manifest, controller, plain
from function.planning.control_plane import ControlPlane
from function.publish import catalog
from function.sandbox.store import Ref, ref_of
from function.vocabulary import versions

_FOREIGN = {"Object": versions.PROVIDER_KUBERNETES, "Release": versions.PROVIDER_HELM, "Secret": versions.CORE}
API_VERSIONS = {**{kind.kind: kind.api_version for kind in catalog.KINDS}, **_FOREIGN}
"""Of the kinds that steps name."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where every run of a simulation begins."""

    control: ControlPlane
    """The fleet, settled. Runs work on copies."""
    files: Mapping[Ref, Manifest]
    """What the user wrote."""

    @classmethod
    def of(cls, control: ControlPlane) -> Start:
        """The start from a control plane that has settled: the objects that nothing composed are the user's."""
        own = {ref_of(m): m for m in control.store.all() if controller(m["metadata"]) is None}
        return cls(control, {ref: _written(m) for ref, m in own.items() if ref.kind in API_VERSIONS})


def located(target: str) -> Ref:
    """The object that a target names: KIND/NAME, or KIND/NAMESPACE/NAME."""
    kind, *namespace, name = target.split("/")
    return Ref(API_VERSIONS.get(kind, ""), kind, "".join(namespace), name)


def spelled(ref: Ref) -> str:
    """An object as a target."""
    return "/".join(part for part in ref[1:] if part)


def _written(manifest: Manifest) -> dict[str, Any]:
    """What a user wrote of an object: without status, and without what the server and Crossplane set."""
    found = {k: v for k, v in plain(manifest).items() if k != "status"}
    kept = {k: v for k, v in found["metadata"].items() if k in ("name", "namespace", "labels", "annotations")}
    kept.get("labels", {}).pop("crossplane.io/composite", None)
    found.get("spec", {}).pop("crossplane", None)
    return {**found, "metadata": kept}
