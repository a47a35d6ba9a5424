"""Crossplane's reconcile of one XR. Source of the order and of every name: crossplane v2.4,
internal/controller/apiextensions/composite.

Terms. The *observed* resources are those that the XR's `resourceRefs` name, by their composition key. The *desired*
resources are those that the function returned. A resource is *unsynced* if the API server refused it.

Phases of a reconcile, in call order:

1. A paused XR gets the condition that says so, and nothing else happens, also if it is deleted. A deleted XR loses
   Crossplane's finalizer, and nothing else happens: the garbage collector deletes what it composed.
2. `_adopt` adds the finalizer, the composite label and the reference to the Composition.
3. `settle.settle_with` calls the function until its requirements settle.
4. `_collect` deletes observed resources that are no longer desired.
5. `_refer` writes the references of the desired resources into the XR, before they exist: a crash leaks none.
6. `_apply` applies the desired resources, then the status.
7. `_report` writes the conditions and records the events.

A failure in phases 3 to 6 skips the rest, and `_report_failure` sets Synced to False.

Deliberately coarse: there is one function in the pipeline, the composition is the XRD's default, and connection secrets
and composition revisions do not exist. None of them affects what a function is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from function.core import (
    ComposedResource,
    Manifest,
    Request,
    Requirement,
    Result,
    dig,
    dig_fields,
    dig_objects,
    dig_text,
    plain,
)
from function.sandbox import settle
from function.sandbox.composed import controller_uid, decorated, digest, keep_name, reference_to, referenced
from function.sandbox.conditions import PAUSED, conditions_after, conditions_after_failure, with_conditions
from function.sandbox.counts import Counts, Weigh
from function.sandbox.errors import Conflict, Fatal, Refused, RequestFailed, Unsettled
from function.sandbox.extensions import CompositionFunction
from function.sandbox.store import Ref, Store, ref_of
from function.vocabulary import crossplane

FINALIZER = "composite.apiextensions.crossplane.io"
XR_MANAGER = "apiextensions.crossplane.io/composite"
_COMPOSED_MANAGER = "apiextensions.crossplane.io/composed/"


class _ReconcileFailed(Exception):
    """The reconcile stopped. The message is the one that Crossplane writes into the Synced condition."""


@dataclass(slots=True)
class Reconciler:
    """Crossplane's reconciler for every composite kind."""

    store: Store
    function: CompositionFunction
    step: str = "compose"
    """Name of the only step of every Composition; messages mention it."""
    asked: dict[Ref, tuple[Requirement, ...]] = field(default_factory=dict)
    """The requirements of each XR's last reconcile."""
    events: list[tuple[Ref, str, str, str]] = field(default_factory=list)
    """XR, type (Normal or Warning), reason and message, in the order in which they were recorded."""
    counts: Counts = field(default_factory=Counts)
    shuffle: Callable[[list[str]], None] = list.sort
    """Puts the keys of resources that are to be deleted into an order: Crossplane deletes them in any."""
    weigh: Weigh | None = None
    """Weighs the objects of each request. None leaves the weights at zero, which costs nothing."""
    find: settle.Find = field(init=False)
    """Looks requirements up: in the store, unless something else is set to play a cache that is behind."""

    def __post_init__(self) -> None:
        self.find = self.look_up

    @property
    def calls(self) -> int:
        """How often the function was called."""
        return self.counts.calls.total()

    def __call__(self, ref: Ref) -> None:
        """Reconcile one XR. Does nothing if it does not exist.

        Raises:
            Unreachable: The function cannot be called. Any other failure is written into the XR's conditions.
        """
        xr = self.store.get(ref)
        if xr is None:
            return
        self.counts.reconciles[ref.kind] += 1
        if dig(xr, "metadata", "annotations", crossplane.PAUSED) == "true":
            self._write_conditions(ref, lambda before, generation: with_conditions(before, (PAUSED,), generation))
            return
        if dig(xr, "metadata", "deletionTimestamp"):
            self.store.remove_finalizer(ref, FINALIZER)
            self.asked.pop(ref, None)
            return
        self._adopt(ref)
        try:
            result, unsynced = self._compose(ref)
        except (_ReconcileFailed, Fatal, Unsettled) as failure:
            self._report_failure(ref, failure)
            return
        self._report(ref, result, unsynced)

    def observed(self, xr: Manifest) -> dict[str, Manifest]:
        """The composed resources that exist, by composition key. Those that another object controls are left out."""
        found: dict[str, Manifest] = {}
        for reference in dig_objects(xr, "spec", "crossplane", "resourceRefs"):
            composed = self.store.get(referenced(xr, reference))
            if composed is None or controller_uid(composed) not in ("", xr["metadata"]["uid"]):
                continue
            key = dig_text(composed, "metadata", "annotations", crossplane.COMPOSITION_KEY)
            if not key:
                raise _ReconcileFailed(
                    "cannot get existing composed resources: encountered composed resource without required "
                    f'"{crossplane.COMPOSITION_KEY}" annotation'
                )
            found[key] = composed
        return found

    def _adopt(self, ref: Ref) -> None:
        composition = self.store.kinds.of(ref.api_version, ref.kind).composition

        def adopt(manifest: dict[str, Any]) -> None:
            manifest["metadata"].setdefault("labels", {}).setdefault(crossplane.COMPOSITE, ref.name)
            manifest.setdefault("spec", {}).setdefault("crossplane", {})["compositionRef"] = {"name": composition}

        self.store.add_finalizer(ref, FINALIZER)
        xr = self._get(ref)
        is_adopted = crossplane.COMPOSITE in dig_fields(xr, "metadata", "labels")
        if not is_adopted or dig(xr, "spec", "crossplane", "compositionRef") != {"name": composition}:
            self.store.update(ref, adopt)

    def _compose(self, ref: Ref) -> tuple[Result, list[str]]:
        xr = self._get(ref)
        observed = self.observed(xr)
        try:
            result = settle.settle_with(self._call, Request(xr=xr, observed=observed), self.find, self.asked.get(ref))
        except Fatal as fatal:
            raise _ReconcileFailed(
                f'cannot compose resources: pipeline step "{self.step}" returned a fatal result: {fatal}'
            ) from fatal
        self.asked[ref] = result.requirements
        desired = {key: self._named(xr, key, composed, observed) for key, composed in sorted(result.resources.items())}
        self._collect(xr, observed, desired)
        self._refer(xr, desired)
        unsynced = self._apply(xr, desired)
        self.store.apply(_status_of(xr, result), XR_MANAGER, subresource="status")
        return result, unsynced

    def request(self, xr: Manifest) -> Request:
        """The request that the function would get for an XR now, before any requirement is resolved."""
        return Request(xr=xr, observed=self.observed(xr))

    def answered(self, request: Request, asked: tuple[Requirement, ...]) -> Request:
        """A request with the objects that requirements match now."""
        return replace(request, required=self.find(asked))

    def _call(self, request: Request) -> Result:
        kind = request.xr["kind"]
        self.counts.calls[kind] += 1
        if self.weigh is not None:
            objects = chain((request.xr,), request.observed.values(), *request.required.values())
            self.counts.weights[kind] += sum(map(self.weigh, objects))
        return self.function(request)

    def look_up(self, asked: tuple[Requirement, ...]) -> Mapping[str, tuple[Manifest, ...]]:
        """The objects in the store that requirements match, by the names of the requirements."""
        return {r.name: self.store.find(r) for r in asked}

    def _get(self, ref: Ref) -> Manifest:
        found = self.store.get(ref)
        assert found is not None
        return found

    # Composed resources

    def _named(
        self, xr: Manifest, key: str, composed: ComposedResource, observed: Mapping[str, Manifest]
    ) -> dict[str, Any]:
        """A desired resource as it is applied: with its name, owner reference, label and annotation."""
        manifest = plain(composed.manifest)
        keep_name(manifest, observed.get(key))
        self._set_namespace(xr, key, manifest)
        return decorated(xr, key, manifest)

    def _set_namespace(self, xr: Manifest, key: str, manifest: dict[str, Any]) -> None:
        namespace = xr["metadata"].get("namespace")
        if not namespace:
            return
        kind = self.store.kinds.of(manifest["apiVersion"], manifest["kind"])
        if not kind.namespaced:
            name = manifest["metadata"].get("name") or ""
            raise _ReconcileFailed(
                f"cannot compose resources: cannot apply cluster scoped composed resource {key!r} (a {kind.kind} named "
                f"{name}) for a namespaced composite resource. Only namespaced composed resources are allowed"
            )
        manifest["metadata"]["namespace"] = namespace

    def _collect(self, xr: Manifest, observed: Mapping[str, Manifest], desired: Mapping[str, Any]) -> None:
        """Delete what is no longer desired. Stops at the first delete that is refused.

        The label of a composed resource goes first. So a Usage that is no longer desired does not wait for its user.
        """
        keys = [key for key in observed if key not in desired]
        self.shuffle(keys)
        for key in keys:
            manifest = observed[key]
            if controller_uid(manifest) != xr["metadata"]["uid"]:
                continue
            self.store.update(ref_of(manifest), _unlabel, status=True)
            if not self.store.delete(ref_of(manifest), foreground=True):
                problem = f'cannot delete composed resource "{key}": {ref_of(manifest)} is in use'
                raise _ReconcileFailed(
                    f"cannot compose resources: cannot garbage collect composed resources: {problem}"
                )

    def _refer(self, xr: Manifest, desired: Mapping[str, dict[str, Any]]) -> None:
        refs = sorted((reference_to(xr, m) for m in desired.values()), key=lambda r: "".join(r.values()))
        intent = {**_identity(xr), "spec": {"crossplane": {"resourceRefs": refs}}}
        if not refs:
            intent = _identity(xr)
        self.store.apply(intent, XR_MANAGER)

    def _apply(self, xr: Manifest, desired: Mapping[str, dict[str, Any]]) -> list[str]:
        """Apply the desired resources. Returns the keys of those that the API server refused."""
        manager, unsynced = composed_manager(xr), []
        for key, manifest in desired.items():
            ref = ref_of(manifest)
            existing = self.store.get(ref)
            if existing is not None and controller_uid(existing) not in ("", xr["metadata"]["uid"]):
                problem = f"{ref} is controlled by another object"
                raise _ReconcileFailed(f'cannot compose resources: cannot apply composed resource "{key}": {problem}')
            try:
                self.store.apply(manifest, manager)
            except Refused as refused:
                self._record(
                    ref_of(xr), "Warning", "ComposeResources", f'cannot apply composed resource "{key}": {refused}'
                )
                unsynced.append(key)
            except Conflict:
                raise
            except RequestFailed as problem:
                raise _ReconcileFailed(
                    f'cannot compose resources: cannot apply composed resource "{key}": {problem}'
                ) from problem
        return unsynced

    # Conditions and events

    def _report(self, ref: Ref, result: Result, unsynced: list[str]) -> None:
        self._write_conditions(
            ref, lambda before, generation: conditions_after(before, result, unsynced, generation, later=generation)
        )
        for event in result.events:
            self._record(ref, "Warning" if event.warning else "Normal", event.reason, event.message)

    def _report_failure(self, ref: Ref, failure: Exception) -> None:
        self._write_conditions(
            ref, lambda conditions, generation: conditions_after_failure(conditions, str(failure), generation)
        )
        self._record(ref, "Warning", "ComposeResources", str(failure))

    def _write_conditions(self, ref: Ref, after: Callable[[list[Any], int | None], list[dict[str, Any]]]) -> None:
        def write(manifest: dict[str, Any]) -> None:
            status = manifest.setdefault("status", {})
            status["conditions"] = after(status.get("conditions") or [], manifest["metadata"].get("generation"))

        self.store.update(ref, write, status=True)

    def _record(self, ref: Ref, type_: str, reason: str, message: str) -> None:
        self.events.append((ref, type_, reason, message))


def _unlabel(manifest: dict[str, Any]) -> None:
    (manifest["metadata"].get("labels") or {}).pop(crossplane.COMPOSITE, None)


def composed_manager(xr: Manifest) -> str:
    """The field manager with which Crossplane applies the composed resources of an XR."""
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
