"""One XR, reconciled as Crossplane does: observe, ask the function, delete, apply, say what came of it.

Source of the order and of every name here: crossplane v2.4, internal/controller/apiextensions/composite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from function.core import ComposedResource, Manifest, Request, Requirement, Result, dig, plain
from function.sandbox import settle
from function.sandbox.composed import COMPOSITE, controller_uid, decorated, digest, reference_to, referenced
from function.sandbox.conditions import conditions_after, conditions_after_failure
from function.sandbox.settle import Compose, Unsettled
from function.sandbox.store import Ref, Refused, Store, ref_of
from function.vocabulary import labels

STEP = "modelplane"
"""Name of the only step of our Compositions."""
FINALIZER = "composite.apiextensions.crossplane.io"
XR_MANAGER = "apiextensions.crossplane.io/composite"
_COMPOSED_MANAGER = "apiextensions.crossplane.io/composed/"
_KEPT = ("name", "namespace", "generateName")
"""What a composed resource that exists is called, whatever the function calls it."""


class Fatal(Exception):
    """The function stopped the reconcile: nothing is applied, nothing is deleted."""


class _Failed(Exception):
    """The reconcile stopped; the message is what Crossplane says in the Synced condition."""


@dataclass(slots=True)
class Reconciler:
    """Crossplane's reconciler for every composite kind."""

    store: Store
    compose: Compose
    asked: dict[Ref, tuple[Requirement, ...]] = field(default_factory=dict)
    """What each XR asked for when it was last reconciled."""
    events: list[tuple[Ref, str, str, str]] = field(default_factory=list)
    """XR, type (Normal, Warning), reason and message, in the order told."""
    calls: int = 0

    def __call__(self, ref: Ref) -> None:
        """Reconcile one XR."""
        xr = self.store.get(ref)
        if xr is None:
            return
        if dig(xr, "metadata", "deletionTimestamp"):
            self.store.remove_finalizer(ref, FINALIZER)
            self.asked.pop(ref, None)
            return
        self._adopt(ref)
        try:
            result, unsynced = self._compose(ref)
        except (_Failed, Fatal, Unsettled) as failure:
            self._say_failed(ref, failure)
            return
        self._say(ref, result, unsynced)

    def observed(self, xr: Manifest) -> dict[str, Manifest]:
        """What an XR composed before, by key. What another controls does not count."""
        found: dict[str, Manifest] = {}
        for reference in dig(xr, "spec", "crossplane", "resourceRefs") or ():
            composed = self.store.get(referenced(xr, reference))
            if composed is None or controller_uid(composed) not in ("", xr["metadata"]["uid"]):
                continue
            key = dig(composed, "metadata", "annotations", labels.COMPOSITION_KEY)
            if not key:
                raise _Failed(
                    "cannot get existing composed resources: encountered composed resource without required "
                    f'"{labels.COMPOSITION_KEY}" annotation'
                )
            found[key] = composed
        return found

    def _adopt(self, ref: Ref) -> None:
        composition = self.store.kinds.of(ref.api_version, ref.kind).composition

        def adopt(manifest: dict[str, Any]) -> None:
            manifest["metadata"].setdefault("labels", {}).setdefault(COMPOSITE, ref.name)
            manifest.setdefault("spec", {}).setdefault("crossplane", {})["compositionRef"] = {"name": composition}

        self.store.add_finalizer(ref, FINALIZER)
        self.store.update(ref, adopt)

    def _compose(self, ref: Ref) -> tuple[Result, list[str]]:
        xr = self._get(ref)
        observed = self.observed(xr)
        try:
            result = settle.settle_with(self._call, Request(xr=xr, observed=observed), self._find, self.asked.get(ref))
        except Fatal as fatal:
            raise _Failed(
                f'cannot compose resources: pipeline step "{STEP}" returned a fatal result: {fatal}'
            ) from fatal
        self.asked[ref] = result.requirements
        desired = {key: self._named(xr, key, composed, observed) for key, composed in sorted(result.resources.items())}
        self._collect(xr, observed, desired)
        self._refer(xr, desired)
        unsynced = self._apply(xr, desired)
        self.store.apply(_status_of(xr, result), XR_MANAGER, subresource="status")
        return result, unsynced

    def asked_and_answered(self, xr: Manifest) -> Request:
        """What the function would be given for an XR now, with all that it asks for looked up."""
        request = Request(xr=xr, observed=self.observed(xr))
        return replace(request, required=self._find(self.compose(request).requirements))

    def _call(self, request: Request) -> Result:
        self.calls += 1
        return self.compose(request)

    def _find(self, asked: tuple[Requirement, ...]) -> Mapping[str, tuple[Manifest, ...]]:
        return {r.name: self._found(r) for r in asked}

    def _found(self, asked: Requirement) -> tuple[Manifest, ...]:
        if asked.match_name is not None:
            one = self.store.get(Ref(asked.api_version, asked.kind, asked.namespace or "", asked.match_name))
            return (one,) if one and settle.matches(asked, one) else ()
        kind = asked.api_version, asked.kind
        found = self.store.labelled(*kind, asked.match_labels) if asked.match_labels else self.store.of_kind(*kind)
        if asked.namespace is None:
            return found
        return tuple(m for m in found if m["metadata"].get("namespace") == asked.namespace)

    def _get(self, ref: Ref) -> Manifest:
        found = self.store.get(ref)
        assert found is not None
        return found

    # What is desired

    def _named(
        self, xr: Manifest, key: str, composed: ComposedResource, observed: Mapping[str, Manifest]
    ) -> dict[str, Any]:
        """A desired resource as it is applied: with a name, an owner, and Crossplane's marks."""
        manifest = plain(composed.manifest)
        metadata = manifest.setdefault("metadata", {})
        if key in observed:
            kept = {k: v for k, v in observed[key]["metadata"].items() if k in _KEPT}
            manifest["metadata"] = {**{k: v for k, v in metadata.items() if k not in _KEPT}, **kept}
        self._placed(xr, key, manifest)
        return decorated(xr, key, manifest)

    def _placed(self, xr: Manifest, key: str, manifest: dict[str, Any]) -> None:
        namespace = xr["metadata"].get("namespace")
        if not namespace:
            return
        kind = self.store.kinds.of(manifest["apiVersion"], manifest["kind"])
        if not kind.namespaced:
            name = manifest["metadata"].get("name") or ""
            raise _Failed(
                f"cannot compose resources: cannot apply cluster scoped composed resource {key!r} (a {kind.kind} named "
                f"{name}) for a namespaced composite resource. Only namespaced composed resources are allowed"
            )
        manifest["metadata"]["namespace"] = namespace

    def _collect(self, xr: Manifest, observed: Mapping[str, Manifest], desired: Mapping[str, Any]) -> None:
        for key, manifest in sorted(observed.items()):
            if key in desired or controller_uid(manifest) != xr["metadata"]["uid"]:
                continue
            if not self.store.delete(ref_of(manifest), foreground=True):
                problem = f'cannot delete composed resource "{key}": {ref_of(manifest)} is in use'
                raise _Failed(f"cannot compose resources: cannot garbage collect composed resources: {problem}")

    def _refer(self, xr: Manifest, desired: Mapping[str, dict[str, Any]]) -> None:
        refs = sorted((reference_to(xr, m) for m in desired.values()), key=lambda r: "".join(r.values()))
        intent = {**_identity(xr), "spec": {"crossplane": {"resourceRefs": refs}}}
        if not refs:
            intent = _identity(xr)
        self.store.apply(intent, XR_MANAGER)

    def _apply(self, xr: Manifest, desired: Mapping[str, dict[str, Any]]) -> list[str]:
        """Returns the keys of what the API server did not take."""
        manager, unsynced = composed_manager(xr), []
        for key, manifest in desired.items():
            ref = ref_of(manifest)
            existing = self.store.get(ref)
            if existing is not None and controller_uid(existing) not in ("", xr["metadata"]["uid"]):
                problem = f"{ref} is controlled by another object"
                raise _Failed(f'cannot compose resources: cannot apply composed resource "{key}": {problem}')
            try:
                self.store.apply(manifest, manager)
            except Refused as refused:
                self._tell(
                    ref_of(xr), "Warning", "ComposeResources", f'cannot apply composed resource "{key}": {refused}'
                )
                unsynced.append(key)
        return unsynced

    # What is said

    def _say(self, ref: Ref, result: Result, unsynced: list[str]) -> None:
        self._mark(
            ref, lambda before, generation: conditions_after(before, result, unsynced, generation, later=generation)
        )
        for event in result.events:
            self._tell(ref, "Warning" if event.warning else "Normal", event.reason, event.message)

    def _say_failed(self, ref: Ref, failure: Exception) -> None:
        self._mark(ref, lambda conditions, generation: conditions_after_failure(conditions, str(failure), generation))
        self._tell(ref, "Warning", "ComposeResources", str(failure))

    def _mark(self, ref: Ref, say: Callable[[list[Any], int | None], list[dict[str, Any]]]) -> None:
        def mark(manifest: dict[str, Any]) -> None:
            status = manifest.setdefault("status", {})
            status["conditions"] = say(status.get("conditions") or [], manifest["metadata"].get("generation"))

        self.store.update(ref, mark, status=True)

    def _tell(self, ref: Ref, type_: str, reason: str, message: str) -> None:
        self.events.append((ref, type_, reason, message))


def composed_manager(xr: Manifest) -> str:
    """The field manager with which Crossplane applies what an XR composes."""
    return _COMPOSED_MANAGER + digest(xr["metadata"]["name"] + _group_kind(xr))


def _identity(manifest: Manifest) -> dict[str, Any]:
    metadata = {k: v for k, v in manifest["metadata"].items() if k in ("name", "namespace")}
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": metadata}


def _status_of(xr: Manifest, result: Result) -> dict[str, Any]:
    status = plain(result.status)
    return {**_identity(xr), "status": status} if status else _identity(xr)


def _group_kind(manifest: Manifest) -> str:
    group = manifest["apiVersion"].rpartition("/")[0]
    return f"{manifest['kind']}.{group}" if group else manifest["kind"]
