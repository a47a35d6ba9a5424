"""What a user of the sandbox passes in: a composition function, controllers, admission, and a delete guard.

The kinds themselves are data: `schemas.load` reads them from XRDs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from function.core import Manifest, Request, Result

if TYPE_CHECKING:
    from function.sandbox.schemas import ServedKind
    from function.sandbox.store import Ref, Store


class CompositionFunction(Protocol):
    """The one step of every Composition.

    Called up to six times in each reconcile of an XR: again as long as its requirements differ from the call before.
    It must be a pure function of the request, because a reconcile can be repeated in any order.
    """

    def __call__(self, request: Request, /) -> Result:
        """Compose an XR.

        Args:
            request: The XR, the composed resources that exist, and the objects that the last call required. It shares
                objects with the store, so it must not be changed.

        Raises:
            Fatal: The reconcile stops. Nothing is applied or deleted, and the XR's Synced condition has the message.
            Unreachable: The whole control loop stops.

        Any other exception also stops the loop: it is a bug in the function.
        """
        ...


class Controller(Protocol):
    """Anything beside Crossplane that acts on objects: a provider, the controllers of a cluster.

    Called once in each round of the control loop, after the XRs of that round were reconciled. The loop ends when a
    round has no XR to reconcile, no controller changes the store, and none is at work. A controller must therefore
    become idle.
    """

    def __call__(self, store: Store, /) -> bool | None:
        """Read what was composed, and write statuses with `store.update(…, status=True)`.

        Args:
            store: The whole control cluster. `store.version` and `store.changed` tell what is new since the last call.

        Returns:
            Whether it is at work: called again with an unchanged store, it may still write something.

        Raises:
            Refused: The status that was written does not match the kind's schema. The loop stops.
        """
        ...


class Admit(Protocol):
    """Admission of the API server: defaulting, pruning and validation.

    Called once for every object that is loaded, applied or updated, before it is stored; not for an update that changes
    only status and metadata.
    """

    def __call__(self, kind: ServedKind, manifest: dict[str, Any], old: Manifest | None, /) -> None:
        """Default an object in place.

        Args:
            kind: What the API server knows of the object's kind. Kinds that no XRD defines have no schema.
            manifest: The object as it would be stored; may be changed.
            old: The stored object; None if the object is new.

        Raises:
            Refused: The object is not stored, and the request that brought it fails.
        """
        ...


class DeleteGuard(Protocol):
    """Decides whether an object may be deleted, as a validating webhook does. Called for every delete request."""

    def __call__(self, store: Store, ref: Ref, policy: str, /) -> bool:
        """Return True to block the request. `policy` is Foreground or Background. May write to the store."""
        ...
