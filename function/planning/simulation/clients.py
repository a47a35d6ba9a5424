"""Clients of the API server whose reads are old, or whose writes fail.

Each is a `Store` that reads and writes through another one, the server. The reconciler cannot tell the difference.

What conflicts is as on an API server: an update has the resourceVersion that its writer has read, and is refused if
another one has written since. Server-side apply has none, and the answer to it is what its writer knows from then on.
Deletes have no precondition. An XR that is gone is not created again: its writer names the uid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from function.core import Manifest, Requirement, controller
from function.planning.simulation.invariants import INJECTED
from function.sandbox.errors import Conflict, Refused, RequestFailed
from function.sandbox.reconcile import XR_MANAGER
from function.sandbox.store import Ref, Store, ref_of

Write = Callable[[], None]


class Client(Store):
    """Reads and writes as the server has it."""

    def __init__(self, server: Store) -> None:
        super().__init__(server.kinds)
        self.server = server

    def get(self, ref: Ref) -> Manifest | None:
        return self.server.get(ref)

    def find(self, asked: Requirement) -> tuple[Manifest, ...]:
        return self.server.find(asked)

    def apply(self, manifest: Manifest, manager: str, *, subresource: str = "") -> Manifest:
        return self.server.apply(manifest, manager, subresource=subresource)

    def update(self, ref: Ref, change: Callable[[dict[str, Any]], None], *, status: bool = False) -> None:
        self.server.update(ref, change, status=status)

    def delete(self, ref: Ref, *, foreground: bool = False) -> bool:
        return self.server.delete(ref, foreground=foreground)

    def _finish(self, ref: Ref) -> None:
        self.server._finish(ref)


class Outdated(Client):
    """Reads from a cache that is behind, except what it has written itself."""

    def __init__(self, server: Store, cache: Callable[[str], Store], before_write: Write = lambda: None) -> None:
        """Make a client.

        Args:
            server: What it writes to.
            cache: Returns what it reads a kind from.
            before_write: Called before each of its writes.
        """
        super().__init__(server)
        self.cache = cache
        self.called = before_write
        self._written: dict[Ref, Manifest | None] = {}

    def get(self, ref: Ref) -> Manifest | None:
        return self._written[ref] if ref in self._written else self.cache(ref.kind).get(ref)

    def find(self, asked: Requirement) -> tuple[Manifest, ...]:
        return self.cache(asked.kind).find(asked)

    def apply(self, manifest: Manifest, manager: str, *, subresource: str = "") -> Manifest:
        self.called()
        ref = ref_of(manifest)
        live, mine = self.server.get(ref), self.get(ref)
        if manager == XR_MANAGER and _uid(live) != _uid(mine):
            raise Conflict(f"{ref}: uid mismatch")
        owner, wanted = _controller(live), _controller(manifest)
        if owner and wanted and owner != wanted:
            raise Refused(f"{ref}: only one reference can have Controller set to true ({INJECTED})")
        found = self._written[ref] = self.server.apply(manifest, manager, subresource=subresource)
        return found

    def update(self, ref: Ref, change: Callable[[dict[str, Any]], None], *, status: bool = False) -> None:
        self.called()
        live, mine = self.server.get(ref), self.get(ref)
        if mine is None:
            return
        if live is None or live["metadata"]["resourceVersion"] != mine["metadata"]["resourceVersion"]:
            raise Conflict(f"{ref}: the object has been modified; please apply your changes to the latest version")
        self.server.update(ref, change, status=status)
        self._written[ref] = self.server.get(ref)

    def delete(self, ref: Ref, *, foreground: bool = False) -> bool:
        self.called()
        return self.server.delete(ref, foreground=foreground)


class Failing(Client):
    """Applies some of what an XR composes. The next apply fails, and the reconcile with it."""

    def __init__(self, server: Store, applied: int) -> None:
        super().__init__(server)
        self.left = applied

    def apply(self, manifest: Manifest, manager: str, *, subresource: str = "") -> Manifest:
        if manager != XR_MANAGER:
            if self.left <= 0:
                raise RequestFailed(f"the server was unable to return a response in the time allotted ({INJECTED})")
            self.left -= 1
        return super().apply(manifest, manager, subresource=subresource)


class Denying(Client):
    """Applies all that an XR composes but one object, which an admission policy denies."""

    def __init__(self, server: Store, number: int) -> None:
        super().__init__(server)
        self.left = number

    def apply(self, manifest: Manifest, manager: str, *, subresource: str = "") -> Manifest:
        if manager != XR_MANAGER:
            self.left -= 1
            if self.left == -1:
                raise Refused(f"ValidatingAdmissionPolicy 'frozen' denied request ({INJECTED})")
        return super().apply(manifest, manager, subresource=subresource)


def _uid(manifest: Manifest | None) -> str:
    return str(manifest["metadata"]["uid"]) if manifest is not None else ""


def _controller(manifest: Manifest | None) -> str:
    reference = controller(manifest["metadata"]) if manifest is not None else None
    return str(reference["uid"]) if reference else ""
