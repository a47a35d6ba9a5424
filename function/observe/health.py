"""Tells the kubelet whether the observer lives, and whether what it writes is true.

- `/healthz` (liveness) fails when its loop no longer turns. Only a restart helps then.
- `/readyz` (readiness) fails when what it wrote may be out of date: a kind is not read yet, the API server has been
  silent about one for too long, or an observation cannot be written. Then the control plane stops believing it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from function import probes
from function.observe.view import View
from function.probes import LIVE, READY, Check, ListenAddress


@dataclass(slots=True)
class Health:
    clock: Callable[[], float]
    """Seconds that only grow."""
    views: Sequence[View] = ()
    vital: View | None = None
    """Of the observer's own ConfigMaps. Without them it cannot do its work; other kinds can be refused."""
    turned_at: float = 0.0
    """When the loop last turned."""
    unwritten: Mapping[str, str] = field(default_factory=dict)
    """ConfigMaps that could not be written, each with the reason."""
    unwritten_since: float | None = None
    stalled: float = 60.0
    """Seconds after which a loop that does not turn is dead."""
    silence: float = 180.0
    """Seconds after which a silent watch, or a ConfigMap that cannot be written, fails the readiness probe."""

    def turn(self) -> None:
        self.turned_at = self.clock()

    def wrote(self, unwritten: Mapping[str, str]) -> None:
        """Take the result of writing."""
        self.unwritten = dict(unwritten)
        if not unwritten:
            self.unwritten_since = None
        elif self.unwritten_since is None:
            self.unwritten_since = self.clock()

    def live(self) -> Iterator[Check]:
        is_stalled = self.clock() - self.turned_at > self.stalled
        yield Check("loop", "the loop does not turn" if is_stalled else "")

    def ready(self) -> Iterator[Check]:
        """What keeps the observation from being believed."""
        now = self.clock()
        yield from self.live()
        yield Check("started", "" if self.views else "not started yet")
        for view in self.views:
            yield Check(str(view.kind), self._unheard(view, now))
        yield Check("rights", (self.vital and self.vital.refusal) or "")
        yield Check("writes", self._unwritten(now))

    def _unheard(self, view: View, now: float) -> str:
        if not view.is_known:
            return f"{view.kind} are not read yet"
        silent = now - view.heard_at
        return f"no word about {view.kind} for {silent:.0f} seconds" if silent > self.silence else ""

    def _unwritten(self, now: float) -> str:
        if self.unwritten_since is None or now - self.unwritten_since <= self.silence:
            return ""
        return "; ".join(f"cannot write {name}: {reason}" for name, reason in sorted(self.unwritten.items()))


@contextmanager
def serving(health: Health, address: ListenAddress) -> Iterator[ListenAddress]:
    """Serve the probes, and yield the address with its port. Raises CannotListen."""
    pages = {LIVE: probes.page(LIVE, health.live), READY: probes.page(READY, health.ready)}
    with probes.serving(pages, address) as bound:
        yield bound
