"""Documents of plans, what-ifs and N-1 reports, from their data as `-o json` has it, with `fleet`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from function.core import plural, redaction
from function.picture.document import Data, Document, Entry, Move, Reason, Section, Verdict
from function.planning.exit_codes import ERROR, NOTHING_CHANGES, SOMETHING_IS_LOST

_OUTCOMES = {NOTHING_CHANGES: ("Nothing changes", "good"), ERROR: ("Refused", "bad")}
_MOST_ENTRIES = 60
"""Entries of a section. More are counted."""


def of_plan(data: Data) -> Document:
    """The page of a plan."""
    outcome, tone = _outcome(data, is_lost=bool(data["lost"] or data["silenced"]))
    return Document(
        command="plan",
        summary=data["summary"],
        outcome=outcome,
        tone=tone,
        before=_clusters(data["fleet"]["before"]),
        after=_clusters(data["fleet"]["after"]),
        moves=tuple(_plan_moves(data)),
        sections=sections(
            Section("Refused", "lost", tuple(Entry(e["object"], clean(e["message"])) for e in data["errors"])),
            Section("Lost", "lost", tuple(_losses(data))),
            Section("Waits", "waits", tuple(_waiting(data["deployments"]))),
            Section("Other problems", "waits", tuple(_troubles(data))),
            Section("Moves", "plain", tuple(_moved(_plan_moves(data)))),
            Section("Weights to stage", "plain", tuple(_staging(data))),
        ),
    )


def of_what_if(data: Data) -> Document:
    """The page of a what-if."""
    outcome, tone = _outcome(data, is_lost=not data["holds"])
    moves = tuple(_what_if_moves(data))
    is_stuck = any(move.change == "stays" for move in moves)
    return Document(
        command="what-if",
        summary=data["summary"],
        outcome=outcome,
        tone=tone,
        before=_clusters(data["fleet"]["before"]),
        after=_clusters(data["fleet"]["after"]),
        moves=moves,
        sections=sections(
            Section("Lost or stuck" if is_stuck else "Lost", "lost", tuple(_lost_replicas(moves))),
            Section("Below spec", "waits", tuple(_waiting(data["short"]))),
            Section("Services", "waits", tuple(_services(data))),
            Section("Moves", "plain", tuple(_moved(moves))),
            Section("Weights to stage", "plain", tuple(_staging(data))),
        ),
    )


def of_losses(data: Data) -> Document:
    """The page of an N-1 report: the fleet as it is, and whether the others can replace each cluster."""
    outcome, tone = ("N-1 holds", "good") if data["holds"] else ("N-1 does not hold", "bad")
    first = [Entry(data["first"]["summary"])] if "first" in data else []
    failing = [one for one in data["clusters"] if not one["holds"]]
    return Document(
        command="what-if",
        summary=data["summary"],
        outcome=outcome,
        tone=tone,
        before=None,
        after=_clusters(data["fleet"]["after"]),
        sections=sections(
            Section("First", "plain", tuple(first)),
            Section("Cannot be replaced", "lost", tuple(map(_without, failing))),
        ),
        verdicts={one["cluster"]: _n_minus_1(one) for one in data["clusters"]},
    )


def sections(*found: Section) -> tuple[Section, ...]:
    """The sections that have entries, each cut to a length that can be read."""
    return tuple(_cut(section) for section in found if section.entries)


def _cut(section: Section) -> Section:
    more = len(section.entries) - _MOST_ENTRIES
    rest = (Entry(f"{more} more", "-o json lists them all."),) if more > 0 else ()
    return Section(section.title, section.tone, (*section.entries[:_MOST_ENTRIES], *rest))


def clean(text: Any) -> str:
    """A message without what may be secret."""
    return redaction.message(str(text or ""))


def _clusters(fleet: Data | None) -> Any:
    return None if fleet is None else tuple(fleet["clusters"])


def _outcome(data: Data, *, is_lost: bool) -> tuple[str, str]:
    code = data["exitCode"]
    if code in _OUTCOMES:
        return _OUTCOMES[code]
    if is_lost:
        return "Something that serves would be lost", "bad"
    return ("--fail-on names what happens", "bad") if code == SOMETHING_IS_LOST else ("Something changes", "near")


# Moves


def _plan_moves(data: Data) -> Iterator[Move]:
    for deployment in data["deployments"]:
        name = f"{deployment['namespace']}/{deployment['name']}"
        for replica in deployment["replicas"]:
            if replica["change"] != "kept":
                source = replica["from"] or ("" if replica["change"] == "new" else replica["cluster"])
                yield Move(
                    replica["change"], name, replica["name"], replica["replaces"] or "", source, replica["cluster"],
                    clean(replica["why"]),
                )  # fmt: skip
    for gone in data["gone"]:
        yield Move("gone", f"{gone['namespace']}/{gone['deployment']}", gone["replica"], "", gone["cluster"], "")


def _what_if_moves(data: Data) -> Iterator[Move]:
    for one in data["replicas"]:
        name = f"{one['namespace']}/{one['deployment']}"
        yield Move(
            one["change"], name, one["name"], one["replaces"] or "", one["from"] or "", one["to"] or "",
            clean(one["why"]),
        )  # fmt: skip


def _moved(moves: Iterable[Move]) -> Iterator[Entry]:
    for move in moves:
        if move.change == "moved":
            yield Entry(move.deployment, f"{move.source} → {move.target}")


def _lost_replicas(moves: Iterable[Move]) -> Iterator[Entry]:
    verbs = {"stays": "cannot leave", "stops": "stops on", "lost": "is lost with", "gone": "is removed from"}
    for move in moves:
        if move.is_loss and move.change != "removed":
            told = f"{move.replica} {verbs[move.change]} {move.source}"
            yield Entry(move.deployment, f"{told}. {move.why}".strip())


# What to read beside the picture


def _losses(data: Data) -> Iterator[Entry]:
    for loss in data["lost"]:
        told = f"{loss['after']} of {plural(loss['wanted'], 'replica')} would serve ({loss['before']} now)"
        yield Entry(loss["deployment"], told)
    yield from (Entry(f"ModelService {name}", "no endpoint would be ready") for name in data["silenced"])


def _waiting(deployments: Iterable[Data]) -> Iterator[Entry]:
    for one in deployments:
        if one["why"] or one["rejections"]:
            yield Entry(f"{one['namespace']}/{one['name']}", clean(one["why"]), tuple(_reasons(one["rejections"])))


def _reasons(rejections: Iterable[Data]) -> Iterator[Reason]:
    """Rejections for the same reason together."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for one in rejections:
        grouped.setdefault((one["reason"], clean(one["message"])), []).append(one["cluster"])
    for (reason, message), names in grouped.items():
        yield Reason(reason, message, tuple(names))


def _troubles(data: Data) -> Iterator[Entry]:
    for cluster in data["clusters"]:
        if cluster["why"]:
            yield Entry(f"InferenceCluster {cluster['name']}", clean(cluster["why"]))
    for one in data["troubles"]:
        name = f"{one['namespace']}/{one['name']}" if one["namespace"] else one["name"]
        yield Entry(f"{one['kind']} {name}", clean(one["why"]))


def _services(data: Data) -> Iterator[Entry]:
    for one in data["services"]:
        ends = one["endpoints"]
        told = f"{plural(ends['before'], 'endpoint')} now, {ends['meanwhile']} meanwhile, {ends['after']} then"
        yield Entry(f"{one['namespace']}/{one['name']}", told)


def _staging(data: Data) -> Iterator[Entry]:
    for one in data["staging"]:
        yield Entry(f"{one['namespace']}/{one['name']}", f"{one['gib']} GiB on {one['cluster']}")


# N-1


def _n_minus_1(one: Data) -> Verdict:
    if one["holds"]:
        counts = Counter(replica["change"] for replica in one["replicas"])
        return Verdict("good", "holds", f"if lost, {plural(counts['moved'], 'replica')} would move")
    short = [f"{s['namespace']}/{s['name']} ({s['serving']['after']} of {s['wanted']})" for s in one["short"]]
    return Verdict("bad", "fails", f"if lost: {', '.join(short)}" if short else "something that serves would be lost")


def _without(one: Data) -> Entry:
    return Entry(f"Without {one['cluster']}", one["summary"], tuple(_why(one)))


def _why(one: Data) -> Iterator[Reason]:
    for short in one["short"][:3]:
        reason, _, message = clean(short["why"]).partition(": ")
        yield Reason(reason, message)
