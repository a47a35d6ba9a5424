"""The kinds of managed resources that a cloud's composite composes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedKind:
    """A kind of managed resource that a cloud's composite composes, as RBAC and activation policies name it."""

    api_version: str
    kind: str
    plural: str
    references: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Fields of spec.forProvider by which it refers to other managed resources, such as vpcIdRef or subnetIdRefs, at
    any depth, each with the kind that it refers to: a managed kind of the cloud, or Secret. Where fields of one name
    refer to several kinds, each is given by the end of its path, such as gpuCluster.idRef. No other field that ends
    with Ref or Refs is composed."""
    immutable: tuple[str, ...] = ()
    """Paths below spec.forProvider that the cloud does not change in place, such as vpcConfig.subnetIdRefs.

    The provider refuses to change them, or makes the resource anew. Once the resource was composed they keep their
    values (composition.py).
    """

    def referred(self, path: str) -> str:
        """Return the kind that a reference refers to, by the path of its field. Raises KeyError for an unknown one."""
        steps = path.split(".")
        ends = (".".join(steps[start:]) for start in range(len(steps)))
        return next((self.references[end] for end in ends if end in self.references), "") or self.references[path]
