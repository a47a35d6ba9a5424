"""A fleet on the stand-in for an API server, as it is on a control cluster after it has settled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from function.cli import files
from function.core import plain
from function.live import kinds
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from tests.support.api_server_standin import ApiServer

EXAMPLES = Path(__file__).parents[2] / "examples"
PATHS = {(kind.api_version, kind.kind): kind.path for kind in kinds.ours()}
"""Of the lists of our kinds."""


@cache
def settled(example: str) -> tuple[dict[str, Any], ...]:
    """Everything that is on the control cluster of an example."""
    control = ControlPlane()
    manifests = [one.manifest for one in files.load([EXAMPLES / example])]
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    return tuple(plain(m) for m in control.store.all())


def serve(api: ApiServer, objects: Iterable[dict[str, Any]]) -> ApiServer:
    """Serve some objects, and all of our kinds."""
    for path in PATHS.values():
        api.serve(path)
    for one in plain(list(objects)):
        api.serve(path_of(one), one)
    return api


def path_of(one: dict[str, Any]) -> str:
    """The path of the list that has an object."""
    of = one["apiVersion"], one["kind"]
    return PATHS.get(of) or next(_foreign(one))


def _foreign(one: dict[str, Any]) -> Iterator[str]:
    owner = {"kind": "Any", "spec": {"crossplane": {"resourceRefs": [one]}}}
    yield from (kind.path for kind in kinds.composed([owner]))
    group = "api" if "/" not in one["apiVersion"] else "apis"
    yield f"/{group}/{one['apiVersion']}/{one['kind'].lower()}s"
