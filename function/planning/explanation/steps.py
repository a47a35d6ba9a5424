"""Changes as edits of a store, so that they can be tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

from function import scheduling
from function.core import dig
from function.planning.explanation.references import Dangling, Path, text
from function.sandbox.store import Ref
from function.vocabulary import versions

Edit: TypeAlias = Callable[[dict[str, Any]], None]
"""Changes a manifest in place."""
_APART = "apart"
"""The name of a pool that is added: short enough for every cloud."""


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a user."""

    words: str
    edits: tuple[tuple[Ref, Edit], ...] = field(default=(), compare=False)
    untried: str = ""
    """Why nobody can try it; empty if somebody can."""
    change: scheduling.Change | None = None
    """The change that it is, of a cluster or of the deployment."""
    on: str = ""
    """The cluster that it edits; empty if it edits none."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Makes steps for one deployment."""

    deployment: Ref
    cache: Ref | None
    """The ModelCache that it names."""

    def rename(self, missing: Dangling, *more: Dangling) -> Step | None:
        """The step that names the nearest thing that exists; None if nothing is near. `more` name the same."""
        nearest, fields = missing.nearest, missing.fields
        if nearest is None or not fields:
            return None
        of = "" if missing.by == self.deployment else f" of {missing.by}"
        also = f" and of {len(more)} more" if more else ""
        edits = tuple((one.by, _renamed(one.fields, nearest)) for one in (missing, *more))
        return Step(f"set {' and '.join(map(text, fields))}{of}{also} to {nearest}", edits)

    def of(self, change: scheduling.Change, cluster: str) -> Step:
        """A change as a step. `cluster` is the one that rejects."""
        match change:
            case scheduling.AddNodes() | scheduling.ShareNodes() | scheduling.AddPool() | scheduling.PromisePlacement():
                return self._on(cluster, change, _of_capacity(change))
            case scheduling.LabelCluster(key=key, value=value):
                return self._on(cluster, change, lambda m: m["metadata"].setdefault("labels", {}).update({key: value}))
            case scheduling.EnforceLevel(level=level):
                admits = {"enforce": level}
                return self._on(cluster, change, lambda m: m["spec"].setdefault("podSecurity", {}).update(admits))
            case scheduling.Tolerate():
                return self._ours(change, lambda m: _tolerate(m, change))
            case scheduling.Reword(before=before, after=after):
                return self._ours(change, lambda m: _reword(m, before, after))
            case scheduling.Deselect() | scheduling.Reselect():
                selecting = tuple((ref, lambda m: _select(m, change)) for ref in self._selecting(change.selectors))
                return Step(str(change), selecting, change=change)
            case scheduling.ChangePods() | scheduling.MakeServe() | scheduling.GiveAddress():
                return Step(str(change), untried=change.untried, change=change)
        assert_never(change)

    def _ours(self, change: scheduling.Change, edit: Edit) -> Step:
        return Step(str(change), ((self.deployment, edit),), change=change)

    def _on(self, cluster: str, change: scheduling.Change, edit: Edit) -> Step:
        ref = Ref(versions.MODELPLANE, "InferenceCluster", "", cluster)
        return Step(str(change), ((ref, edit),), change=change, on=cluster)

    def _selecting(self, selectors: tuple[str, ...]) -> list[Ref]:
        """The objects that have selectors of clusters."""
        of = {scheduling.DEPLOYMENTS_SELECTOR: self.deployment, scheduling.CACHES_SELECTOR: self.cache}
        return [ref for words in selectors if (ref := of[words])]


def _renamed(fields: tuple[Path, ...], nearest: str) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        for *to, last in fields:
            holder: Any = dig(manifest, "spec", *to)
            holder[last] = nearest

    return edit


def _tolerate(manifest: dict[str, Any], change: scheduling.Tolerate) -> None:
    toleration = {"key": change.key, "operator": "Equal", "value": change.value, "effect": change.effect}
    manifest["spec"]["tolerations"] = [*(manifest["spec"].get("tolerations") or ()), toleration]


def _reword(manifest: dict[str, Any], before: str, after: str) -> None:
    for engine in manifest["spec"]["engines"]:
        for member in engine["members"]:
            for request in (member.get("nodeSelector") or {}).get("devices") or ():
                for selector in request.get("selectors") or ():
                    selector["cel"] = after if selector["cel"] == before else selector["cel"]


def _select(manifest: dict[str, Any], change: scheduling.Deselect | scheduling.Reselect) -> None:
    selector: dict[str, Any] = manifest["spec"]["clusterSelector"]["matchLabels"]
    selector.pop(change.key, None)
    if isinstance(change, scheduling.Reselect):
        selector.update([change.label])
    if not selector:
        del manifest["spec"]["clusterSelector"]


_OfCapacity: TypeAlias = scheduling.AddNodes | scheduling.ShareNodes | scheduling.AddPool | scheduling.PromisePlacement


def _of_capacity(change: _OfCapacity) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        pools = manifest["spec"]["nodePools"]
        match change:
            case scheduling.AddNodes(pool=name, nodes=nodes):
                pool = next(pool for pool in pools if pool["name"] == name)
                for field in ("nodeCount", "maxNodeCount"):
                    pool |= {field: pool[field] + nodes} if field in pool else {}
            case scheduling.ShareNodes(pool=name):
                next(pool for pool in pools if pool["name"] == name)["sharing"] = "Devices"
            case scheduling.AddPool(like=name, nodes=nodes):
                like = next(pool for pool in pools if pool["name"] == name)
                own = {k: v for k, v in like.items() if k not in ("sharing", "minNodeCount", "maxNodeCount")}
                pools.append({**own, "name": _APART, "nodeCount": nodes})
            case scheduling.PromisePlacement():
                manifest["spec"].setdefault("capacity", {})["promise"] = "Placement"

    return edit
