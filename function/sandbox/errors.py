"""Everything that the sandbox raises.

    Refused          the API server does not accept an object
    RequestFailed    the API server does not answer a request; Conflict if another writer was faster
    DidNotConverge   the control loop still changes objects after its last round
    Fatal            the composition function stopped a reconcile
    Unsettled        the composition function asks for something else after its last call
    Unreachable      the composition function cannot be called at all
    CannotRender     `render` has no output

Within a control loop, Fatal, Unsettled and Refused of a composed resource end one reconcile; they appear in the XR's
Synced condition, as in Crossplane. Everything else ends the loop.
"""

from __future__ import annotations


class Refused(Exception):
    """The API server does not accept an object. The message names the object and each violation."""


class RequestFailed(Exception):
    """The API server did not carry out a request, which says nothing about the object: a timeout, a webhook."""


class Conflict(RequestFailed):
    """Another writer has written an object since its writer has read it."""


class DidNotConverge(Exception):
    """The control loop still changes objects after its last round. The message names some of them."""


class Fatal(Exception):
    """The function returned a fatal result, or the call failed. Nothing is applied, and nothing is deleted."""


class Unsettled(RuntimeError):
    """The function's requirements differ from call to call, and Crossplane stops after the sixth."""


class Unreachable(RuntimeError):
    """The function cannot be called. Every reconcile would fail in the same way, so the loop stops."""


class CannotRender(Exception):
    """`render` has no output: the result is fatal, or Crossplane's renderer refuses the input too."""
