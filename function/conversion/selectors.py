"""Selectors whose meaning on given devices differs between cel-python (Modelplane v0.3) and Kubernetes.

cel-python is imported only when selectors are read, so that no other command loads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from function import cel

if TYPE_CHECKING:
    from function.conversion import cel_python

ERROR, REFUSED = "error", "refused"
"""Outcomes besides those of `cel`: the evaluation failed, and the selector did not compile."""


@dataclass(frozen=True, slots=True)
class NamedDevice:
    """A device, and its name in the output."""

    name: str
    device: cel.Device


@dataclass(frozen=True, slots=True)
class Reading:
    """How both evaluators read a selector on one device."""

    device: str
    """Name of the device."""
    kubernetes: str
    """match, no match, error, or refused where Kubernetes does not compile the selector."""
    cel_python: str
    """The same words. A device that gives an error was passed over by v0.3."""
    error: str = ""
    """Why Kubernetes fails on the device, or refuses the selector."""

    @property
    def differs(self) -> bool:
        """Whether the selector means something else.

        An error of cel-python is no match. An error of Kubernetes is not: its scheduler may give up on a claim because
        of one.
        """
        theirs = (
            str(cel.NO_MATCH) if (self.kubernetes, self.cel_python) == (str(cel.NO_MATCH), ERROR) else self.cel_python
        )
        return self.kubernetes != theirs


def read(text: str, devices: Iterable[NamedDevice]) -> list[Reading]:
    """Evaluate a selector both ways on each device."""
    from function.conversion import cel_python

    theirs = cel_python.compiled(text)
    try:
        ours, refused = cel.compiled(text), ""
    except cel.InvalidSelector as invalid:
        ours, refused = None, str(invalid)
    return [_reading(ours, refused, theirs, one) for one in devices]


def differing(texts: Iterable[str], devices: Sequence[NamedDevice]) -> dict[str, list[Reading]]:
    """The selectors whose meaning differs on a device, each with the devices on which it does."""
    found = {text: [one for one in read(text, devices) if one.differs] for text in texts}
    return {text: readings for text, readings in found.items() if readings}


def _reading(ours: cel.Selector | None, refused: str, theirs: cel_python.Program | None, named: NamedDevice) -> Reading:
    other = theirs.evaluate(named.device) if theirs else REFUSED
    if ours is None:
        return Reading(named.name, REFUSED, other, refused)
    outcome = ours.evaluate(named.device)
    if isinstance(outcome, cel.EvaluationError):
        return Reading(named.name, ERROR, other, str(outcome))
    return Reading(named.name, str(outcome), other)
