"""The golden cases: a folder each; the first line of its xr.yaml says what it shows.

xr.yaml is the XR, observed.yaml what was composed before (with Crossplane's annotation for its key), required.yaml all
that can be looked up, want.yaml the whole answer. A case without required.yaml has nothing to be found.

The first document of an observed.yaml may be `like: CASE`, another case of the kind: the same is observed as there, but
for the objects that follow, which are merged into those of the same key (JSON Merge Patch), and for the keys in
`without`. In want.yaml, a resource that is composed as it is observed is AS_OBSERVED.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from function import registry
from function.core import Manifest, Request, Result, dig, identity, plain
from function.fleet.replicas import takes_nodes
from function.kinds.inferencecluster.allocations import allocations
from function.sandbox.settle import settle
from function.vocabulary import crossplane, labels, names

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
ROOT = Path(__file__).parents[1] / "golden"
CASES = sorted(path.parent for path in ROOT.glob("*/*/xr.yaml"))
AS_OBSERVED = "as observed"
_MADE_BY_SERVERS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences")
each_case = pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")


def load(case: Path) -> tuple[Request, list[Manifest]]:
    """A case's request before anything was looked up, and what there is to find.

    A ModelReplica that is observed exists, so a look-up finds it. Replicas have the label of their cluster, and
    clusters publish their free nodes, unless the case says otherwise. The namespace of an installation is there.
    """
    observed = {_key(m): m for m in documents(case / "observed.yaml")}
    objects = documents(case / "required.yaml")
    there = {identity(m) for m in objects if m["kind"] == "ModelReplica"}
    also = [m for m in observed.values() if m["kind"] == "ModelReplica" and identity(m) not in there]
    there_is = [
        *objects,
        *also,
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": names.SYSTEM_NAMESPACE}},
    ]
    for manifest in there_is:
        _complete(manifest, there_is)
    return Request(xr=documents(case / "xr.yaml")[0], observed=observed), there_is


def _complete(manifest: Manifest, objects: list[Manifest]) -> None:
    """Add what composers write on every replica and publish of every cluster."""
    name, pools = dig(manifest, "spec", "clusterName"), dig(manifest, "status", "gpuPools")
    if manifest["kind"] == "ModelReplica" and isinstance(name, str):
        manifest["metadata"].setdefault("labels", {}).setdefault(labels.CLUSTER, names.label_value(name))
    if manifest["kind"] == "InferenceCluster" and isinstance(pools, list):
        there = [m for m in objects if dig(m, "spec", "clusterName") == manifest["metadata"]["name"] and takes_nodes(m)]
        sound = [pool for pool in pools if isinstance(dig(pool, "nodes"), int) and dig(pool, "name")]
        manifest["status"].setdefault("allocations", allocations(sound, there))


def answer(case: Path) -> Result:
    """What the composer says once all that it asks for was looked up: a new one each time, computed once in a process.

    Thirty tests ask for it of each case.
    """
    found: Result = pickle.loads(_pickled(case))
    return found


@cache
def _pickled(case: Path) -> bytes:
    return pickle.dumps(compute(case))


def compute(case: Path) -> Result:
    """The same, computed anew."""
    request, objects = load(case)
    return settle(registry.compose, request, objects)


def documents(path: Path) -> list[Manifest]:
    """The objects of a file, new ones each time: a test may change them. YAML is parsed once in a process."""
    found: list[Manifest] = json.loads(_as_json(path))
    return found


@cache
def _as_json(path: Path) -> str:
    if not path.exists():
        return "[]"
    found = [doc for doc in yaml.load_all(path.read_text(), Loader=_Loader) if doc]
    if found and "like" in found[0]:
        found = _changed(path.parents[1] / found[0]["like"] / path.name, found[0].get("without", ()), found[1:])
    return json.dumps(found)


def _changed(path: Path, without: Sequence[str], patches: Sequence[Manifest]) -> list[Manifest]:
    """The objects of another case, some of them changed, and others after them."""
    there = {_key(manifest): manifest for manifest in documents(path)}
    there = {key: manifest for key, manifest in there.items() if key not in without}
    for patch in patches:
        there[_key(patch)] = merged(there.get(_key(patch), {}), patch)
    return list(there.values())


def _key(manifest: Manifest) -> str:
    return str(manifest["metadata"]["annotations"][crossplane.COMPOSITION_KEY])


def merged(target: Any, patch: Any) -> Any:
    """What a JSON Merge Patch makes of a value (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    there = target if isinstance(target, dict) else {}
    changed = {name: merged(there.get(name), value) for name, value in patch.items()}
    return {name: value for name, value in {**there, **changed}.items() if patch.get(name, value) is not None}


def text(result: Result, observed: Mapping[str, Manifest]) -> str:
    """An answer to what was observed, as a person reads it."""
    shown = {
        "ready": result.ready,
        "ttl": result.ttl,
        "conditions": [f"{c.type}={c.status} {c.reason}: {c.message}" for c in result.conditions],
        "status": plain(result.status),
        "events": [f"{'Warning' if e.warning else 'Normal'} {e.reason}: {e.message}" for e in result.events],
        "requirements": [_asked(r) for r in result.requirements],
        "resources": {
            key: {"ready": composed.ready, "manifest": _shown(plain(composed.manifest), observed.get(key))}
            for key, composed in sorted(result.resources.items())
        },
    }
    return yaml.dump(shown, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)


def _shown(manifest: dict[str, Any], observed: Manifest | None) -> dict[str, Any] | str:
    """A manifest, or AS_OBSERVED if it is all that is observed, but for what API servers and providers write."""
    if observed is None:
        return manifest
    there = {name: value for name, value in plain(observed).items() if name != "status"}
    metadata = {name: value for name, value in there.pop("metadata").items() if name not in _MADE_BY_SERVERS}
    metadata["annotations"] = {k: v for k, v in metadata["annotations"].items() if k != crossplane.COMPOSITION_KEY}
    if manifest == there | {"metadata": _without_empty(metadata)}:
        return AS_OBSERVED
    named = metadata["annotations"].pop(crossplane.EXTERNAL_NAME, None)
    if named and manifest == there | {"metadata": _without_empty(metadata)}:
        return f"{AS_OBSERVED}, without {crossplane.EXTERNAL_NAME}"
    return manifest


def _without_empty(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if value != {}}


def _asked(requirement: Any) -> str:
    narrowed = [requirement.match_name, *(f"{k}={v}" for k, v in sorted(requirement.match_labels.items()))]
    where = f" in {requirement.namespace}" if requirement.namespace else ""
    which = " ".join(part for part in narrowed if part)
    return f"{requirement.name}: {requirement.kind} {which or 'all'}{where}"


class _Dumper(yaml.SafeDumper):
    """Without anchors, and with long texts as blocks: a case is read by people."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _str(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _str)


def of_an_earlier_version(manifest: Manifest) -> dict[str, Any]:
    """A ModelReplica as an earlier version of the function has left it. Other objects stay as they are."""
    written: dict[str, Any] = plain(manifest)
    if labels.RENDERING in (dig(written, "metadata", "annotations") or {}):
        written["metadata"]["annotations"][labels.RENDERING] = "1"
    return written
