"""Every golden case through Crossplane's own reconciler gives what our embedded control plane gives."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from function.core import Manifest, identity, plain
from function.planning import control_plane
from function.publish import xrd
from function.sandbox.composed import owner_reference
from function.sandbox.reconcile import XR_MANAGER, Reconciler, composed_manager
from function.sandbox.store import Store, ref_of
from function.vocabulary import crossplane
from tests.e2e import pins
from tests.e2e.control import FUNCTION, manifests
from tests.e2e.programs import Site
from tests.e2e.render import Rendered, Renderer, renderer
from tests.support.cases import each_case, load

DEFINITIONS = {one["spec"]["names"]["kind"]: one for one in manifests("xrds")}
COMPOSITIONS = {one["spec"]["compositeTypeRef"]["kind"]: one for one in manifests("compositions")}
SERVER_SET = ("creationTimestamp", "generation", "resourceVersion", "managedFields", "uid", "generateName")


@pytest.fixture(scope="session", params=pins.CROSSPLANES)
def render(request: pytest.FixtureRequest, site: Site, plaintext: str) -> Renderer:
    return renderer(site, request.param, FUNCTION, plaintext)


@each_case
def test_the_real_reconciler_agrees_with_ours(render: Renderer, case: Path) -> None:
    xr, observed, required = prepared(case)
    kind = xr["kind"]
    theirs = render(
        xr=xr, composition=COMPOSITIONS[kind], definition=DEFINITIONS[kind], observed=observed, required=required
    )
    ours = embedded(xr, observed, required)

    assert by_key(theirs.composed) == by_key(ours.composed)
    assert said(theirs.xr) == said(ours.xr)
    assert by_key(theirs.deleted) == by_key(ours.deleted)


def prepared(case: Path) -> tuple[Manifest, list[Manifest], list[Manifest]]:
    """A case as both take it: an XR with an identity, and what it composed, owned by it and found by look-ups too."""
    request, required = load(case)
    xr = plain(request.xr)
    xr["metadata"].setdefault("uid", "11111111-2222-3333-4444-555555555555")
    observed = [owned(xr, one) for one in map(plain, request.observed.values())]
    refs = [reference(xr, one) for one in observed]
    if refs:
        xr.setdefault("spec", {}).setdefault("crossplane", {})["resourceRefs"] = refs
    there = {(one["kind"], identity(one)): one for one in observed}
    return xr, observed, [there.get((one["kind"], identity(one)), plain(one)) for one in required]


def owned(xr: Manifest, manifest: dict[str, Any]) -> dict[str, Any]:
    metadata = manifest["metadata"]
    metadata["ownerReferences"] = [owner_reference(xr)]
    if xr["metadata"].get("namespace"):
        metadata["namespace"] = xr["metadata"]["namespace"]
    return manifest


def reference(xr: Manifest, manifest: Manifest) -> dict[str, str]:
    found = {key: manifest[key] for key in ("apiVersion", "kind")} | {"name": manifest["metadata"]["name"]}
    namespace = manifest["metadata"].get("namespace")
    return found | ({"namespace": namespace} if namespace and not xr["metadata"].get("namespace") else {})


def embedded(xr: Manifest, observed: list[Manifest], required: list[Manifest]) -> Rendered:
    """One reconcile on the embedded control plane."""
    store = Store(control_plane.kinds())
    for one in (*required, *observed, xr):
        store.load(one)
    for one in observed:  # the renderer takes all of it for applied: what is not said again goes
        store.apply(said_of(one), composed_manager(xr))
    store.apply(status_of(xr), XR_MANAGER, subresource="status")  # its composer's as well
    before = {ref_of(one) for one in observed}
    ref = ref_of(store.get(store_ref(store, xr)) or xr)
    reconcile = Reconciler(store, control_plane.in_process, xrd.STEP)
    reconcile(ref)
    found = store.get(ref) or {}
    composed = [plain(one) for one in reconcile.observed(found).values()]
    composed = [one for one in composed if "deletionTimestamp" not in one["metadata"]]  # it waits for what it owns
    kept = {ref_of(one) for one in composed}
    deleted = tuple(plain(one) for one in observed if ref_of(one) in before - kept)
    return Rendered(plain(found), tuple(composed), deleted)


def said_of(observed: Manifest) -> Manifest:
    """What its composer applied, to have it so."""
    metadata = {key: value for key, value in observed["metadata"].items() if key not in SERVER_SET}
    return {**{key: value for key, value in observed.items() if key != "status"}, "metadata": metadata}


def status_of(xr: Manifest) -> Manifest:
    """What the composer of an XR applied of its status. Conditions are not applied."""
    metadata = {key: xr["metadata"][key] for key in ("name", "namespace") if key in xr["metadata"]}
    status = {key: value for key, value in (plain(xr.get("status")) or {}).items() if key != "conditions"}
    return {"apiVersion": xr["apiVersion"], "kind": xr["kind"], "metadata": metadata, "status": status}


def store_ref(store: Store, manifest: Manifest) -> Any:
    return store.located(manifest)


def by_key(composed: tuple[Manifest, ...]) -> str:
    """What was written of each composed resource, by its key, as text: a difference is then one of lines."""
    return yaml.safe_dump(
        {one["metadata"]["annotations"][crossplane.COMPOSITION_KEY]: written(one) for one in composed}
    )


def written(manifest: Manifest) -> dict[str, Any]:
    """An object without what a server sets, and without its status, which nobody applies."""
    body = {key: value for key, value in manifest.items() if key not in ("metadata", "status")}
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in SERVER_SET}
    return dict(without_empty_lists(body | {"metadata": metadata}))


def without_empty_lists(value: Any) -> Any:
    """The renderer's stand-in for an API server loses them when it merges (core v2.4.0); a real one keeps them."""
    if isinstance(value, dict):
        return {key: without_empty_lists(one) for key, one in value.items() if one != []}
    return [without_empty_lists(one) for one in value] if isinstance(value, list) else value


def said(xr: Manifest) -> dict[str, Any]:
    """An XR's status: conditions by type, without times."""
    status = plain(xr.get("status") or {})
    told = status.pop("conditions", [])
    return status | {one["type"]: (one["status"], one["reason"], one.get("message", "")) for one in told}
