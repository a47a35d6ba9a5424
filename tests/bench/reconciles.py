"""Reconciles of a ModelDeployment as Crossplane makes them, on the wire: each call with what the call before asked for.

Terms. A *look-up* finds the objects of a requirement in an index, as Crossplane's cache does. A reconcile is *seeded*
if its first call has the answers to what the last reconcile asked for. Crossplane 2.4 seeds, 2.3 does not. It ends when
two calls in a row ask for the same, after six calls at most (crossplane v2.4, internal/xfn/required_resources.go).

Nothing here knows the code of the function: any revision of it that answers bytes with bytes can be measured.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from tests.bench import fleet, shuffled
from tests.bench.fleet import Object

Call = Callable[[bytes], bytes]
"""The function: a RunFunctionRequest to a RunFunctionResponse."""
Asked = Mapping[str, fnv1.ResourceSelector]
Answers = Mapping[str, list[Object]]

_MOST_CALLS = 6
_ORDERS = 2
_MOST_RECONCILES = 20


class Index:
    """Objects by kind, and those of a kind by name and by label."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self._of_kind: dict[str, list[Object]] = defaultdict(list)
        self._having: dict[tuple[str, str, str], list[Object]] = defaultdict(list)
        for manifest in objects:
            self.add(manifest)

    def add(self, manifest: Object) -> None:
        """Add an object, which is not there yet."""
        kind, metadata = manifest["kind"], manifest["metadata"]
        self._of_kind[kind].append(manifest)
        for key, value in {**metadata.get("labels", {}), "": metadata["name"]}.items():
            self._having[kind, key, value].append(manifest)

    def of_kind(self, kind: str) -> list[Object]:
        """Return all objects of a kind."""
        return list(self._of_kind[kind])

    def look_up(self, asked: Asked) -> dict[str, list[Object]]:
        """Return the objects that requirements match, by requirement."""
        return {name: list(self._matches(selector)) for name, selector in asked.items()}

    def _matches(self, selector: fnv1.ResourceSelector) -> Iterable[Object]:
        wanted = {"": selector.match_name} if selector.HasField("match_name") else dict(selector.match_labels.labels)
        sets = [self._having.get((selector.kind, *pair), []) for pair in wanted.items()]
        for manifest in min(sets, key=len) if sets else self._of_kind[selector.kind]:
            metadata = manifest["metadata"]
            has = {**metadata.get("labels", {}), "": metadata["name"]}
            in_namespace = not selector.namespace or metadata.get("namespace") == selector.namespace
            if in_namespace and wanted.items() <= has.items():
                yield manifest


class Encoded:
    """Objects as Resources, each with its maps in one of a few orders. To encode a large fleet anew takes seconds.

    An object must not change once it was encoded.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Mapping[str, Any], list[bytes]]] = {}
        self._pick = random.Random(1)

    def __call__(self, manifest: Mapping[str, Any]) -> bytes:
        """Return an object as a Resource."""
        _, known = self._known.setdefault(id(manifest), (manifest, []))
        if len(known) < _ORDERS:
            known.append(shuffled.resource(manifest))
            return known[-1]
        return self._pick.choice(known)


class Reconciled(NamedTuple):
    """What a reconcile sent, and what came back."""

    sent: tuple[Answers, ...]
    """The answers in each call."""
    sizes: tuple[int, ...]
    """The bytes of each call."""
    asked: Asked
    response: fnv1.RunFunctionResponse

    @property
    def calls(self) -> int:
        """The number of calls."""
        return len(self.sizes)

    @property
    def size(self) -> int:
        """The bytes of all calls together."""
        return sum(self.sizes)


@dataclass(slots=True)
class Deployment:
    """A ModelDeployment in a fleet, and what is observed of it."""

    call: Call
    index: Index
    xr: Object
    observed: dict[str, Object] = field(default_factory=dict)
    asked: Asked | None = None
    """What its last reconcile asked for."""
    encoded: Encoded = field(default_factory=Encoded)

    def reconcile(self, *, seeded: bool = True) -> Reconciled:
        """Call until two calls in a row ask for the same. Changes nothing but `asked`."""
        asked = self.asked if seeded else None
        sent: list[Answers] = []
        sizes: list[int] = []
        for _ in range(_MOST_CALLS):
            sent.append(self.index.look_up(asked or {}))
            data = shuffled.request(self.xr, self.observed, sent[-1], tag="bench", encode=self.encoded)
            sizes.append(len(data))
            response = fnv1.RunFunctionResponse.FromString(self.call(data))
            if (now := dict(response.requirements.resources)) == (asked or {}):
                self.asked = now
                return Reconciled(tuple(sent), tuple(sizes), now, _sound(response))
            asked = now
        raise AssertionError(f"still asks for something else after {_MOST_CALLS} calls")

    def carry_out(self, done: Reconciled) -> bool:
        """Make all that was composed ready, and report the status. Returns whether anything is new."""
        composed = fleet.carried_out(done.response)
        new = {key: manifest for key, manifest in composed.items() if key not in self.observed}
        for manifest in new.values():
            self.index.add(manifest)
        self.observed |= new
        before, self.xr = self.xr, fleet.reported(self.xr, done.response)
        return bool(new) or self.xr["status"] != before["status"]

    def settle(self) -> list[Reconciled]:
        """Reconcile and carry out until nothing is new. Returns the reconciles."""
        done: list[Reconciled] = []
        while len(done) < _MOST_RECONCILES:
            done.append(self.reconcile())
            if not self.carry_out(done[-1]):
                return done
        raise AssertionError(f"still changes after {_MOST_RECONCILES} reconciles")


def _sound(response: fnv1.RunFunctionResponse) -> fnv1.RunFunctionResponse:
    for result in response.results:
        assert result.severity != fnv1.SEVERITY_FATAL, result.message
    return response
