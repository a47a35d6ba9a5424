"""What must hold of a fleet, whatever a tenant of it writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from function.core import Manifest, dig, plain
from function.planning.control_plane import ControlPlane
from function.vocabulary import names
from tests.tenancy.attack import HARMLESS, Attack
from tests.tenancy.fleet import ATTACKER, VICTIM, key

_STAMPS = ("resourceVersion", "generation", "creationTimestamp", "managedFields")
_UID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CAPACITY = ("allocations",)
"""Fields of an InferenceCluster's status by which tenants compete."""
_SHARED: Mapping[str, frozenset[str]] = {
    "HTTPRoute": frozenset({names.SYSTEM_NAMESPACE}),  # its gateway
    "Object": frozenset({names.SYSTEM_NAMESPACE, ""}),  # what the observer wrote of this namespace, and its gateway
}
"""Namespaces of the infrastructure that what is composed for a tenant names, by kind."""


def others(control: ControlPlane) -> dict[str, Any]:
    """Everything that is not the attacker's, without stamps of the API server and without capacity."""
    return {key(m): _bare(m) for m in control.store.all() if m["metadata"].get("namespace") != ATTACKER}


def _bare(manifest: Manifest) -> Any:
    bare = plain(manifest)
    for stamp in _STAMPS:
        bare["metadata"].pop(stamp, None)
    if bare["kind"] == "InferenceCluster":
        for field in _CAPACITY:
            bare.get("status", {}).pop(field, None)
    return bare


def without_uids(objects: Mapping[str, Any]) -> str:
    """Objects as text, with the same word in place of each uid: those count what was created before."""
    return _UID.sub("a uid", json.dumps(objects, indent=1, sort_keys=True))


def reached(control: ControlPlane, attacks: Iterable[Attack]) -> list[str]:
    """What the attacker's objects have of others: a namespace, an object's name, a Secret's value.

    Words that the attacker wrote tell nothing.
    """
    written = [manifest for attack in attacks for manifest in attack.objects]
    given, mine = json.dumps(written), {key(manifest) for manifest in written}
    marks = [mark for mark in _marks(control) if mark not in given]
    found = []
    for manifest in control.store.all():
        if manifest["metadata"].get("namespace") == ATTACKER:
            of_others = {"status": manifest.get("status")} if key(manifest) in mine else manifest
            found += [
                f"{key(manifest)}: {'.'.join(map(str, path))} is {text!r}"
                for path, text in _texts(of_others, ())
                if any(mark in text for mark in marks)
                or (path[-1] in ("namespace", "namespaces") and not _is_own(manifest, path, text))
            ]
    return found


def _marks(control: ControlPlane) -> list[str]:
    """Texts that only the victim's objects have."""
    owned = [m for m in control.store.all() if m["metadata"].get("namespace") == VICTIM]
    values = [str(value) for m in owned if m["kind"] == "Secret" for value in m["data"].values()]
    uids = [str(m["metadata"]["uid"]) for m in owned]
    paths = [f"{VICTIM}/{m['metadata']['name']}" for m in owned]
    return [*values, *uids, *paths, f"/{VICTIM}/", f"secret of {VICTIM}"]


def _is_own(manifest: Manifest, path: tuple[str | int, ...], namespace: str) -> bool:
    """Whether a namespace is the attacker's, or one of the infrastructure that is named for every tenant.

    A ModelReplica has the template as it was written. Nothing reads the namespace in the metadata of a template.
    """
    is_inert = manifest["kind"] == "ModelReplica" and path[-3:-1] == ("template", "metadata")
    return is_inert or namespace in _SHARED.get(manifest["kind"], frozenset()) | {ATTACKER}


def _texts(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, Mapping):
        for name, child in value.items():
            yield from _texts(child, (*path, name))
    elif isinstance(value, str):
        yield path, value
    elif isinstance(value, Iterable):
        for index, child in enumerate(value):
            yield from _texts(child, (*path, index))


def answers(control: ControlPlane, refused: Mapping[str, str], attacks: Iterable[Attack]) -> Iterator[tuple[str, str]]:
    """What the attacker is told, for every attack that did not go as it must: the attack, and the texts.

    A refusal is the API server's, a condition that is not true, or the rejection of a cluster.
    """
    there = {key(manifest): manifest for manifest in control.store.all()}
    for attack in attacks:
        who = [key(manifest) for manifest in attack.objects]
        if attack.refused == HARMLESS:
            said = [refused.get(one) or _invalid(there.get(one, {})) for one in who]
            if any(said):
                yield str(attack), "; ".join(filter(None, said))
        elif attack.refused not in (said := refused.get(who[0]) or _said(there.get(who[0], {}))):
            yield str(attack), f"{attack.refused} is not in: {said}"


def _invalid(manifest: Manifest) -> str:
    conditions = dig(manifest, "status", "conditions") or ()
    return "; ".join(str(c["message"]) for c in conditions if c["reason"].startswith("Invalid"))


def _said(manifest: Manifest) -> str:
    conditions = [c for c in dig(manifest, "status", "conditions") or () if c["status"] != "True"]
    return "; ".join(str(one.get("message")) for one in (*conditions, *(dig(manifest, "status", "rejections") or ())))
