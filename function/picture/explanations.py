"""Documents of explanations, from their data as `-o json` has it, with `fleet`, and from their text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from function.picture.document import Data, Document, Entry, Reason, Section, Verdict
from function.picture.plans import clean, sections

_MOST_LINES = 200


def of_explanation(data: Data, lines: Iterable[str], *, is_complete: bool) -> Document:
    """The page of an explanation. Of an object that is no deployment, the text is what it shows."""
    is_deployment = "placed" in data
    summary, *rest = [clean(line) for line in lines]
    text = tuple(Entry("", line) for line in rest[:_MOST_LINES] if line)
    found = (*_deployment(data),) if is_deployment else (Section("Explanation", "plain", text),)
    outcome, tone = ("Nothing is missing", "good") if is_complete else ("Something is missing", "near")
    return Document(
        command="explain",
        summary=summary,
        outcome=outcome,
        tone=tone,
        before=None,
        after=tuple(data["fleet"]["after"]["clusters"]),
        sections=sections(*found),
        verdicts={one["name"]: _verdict(one) for one in data["clusters"]} if is_deployment else {},
    )


def _deployment(data: Data) -> Iterator[Section]:
    yield Section("Cause", "lost", tuple(Entry("", clean(cause["message"])) for cause in data["cause"]))
    waiting = (Entry(one["replica"], clean(one["message"])) for one in data.get("waiting", ()))
    yield Section("Does not serve", "waits", tuple(waiting))
    yield Section("Conditions", "waits", tuple(Entry("", clean(line)) for line in data["conditions"]))
    groups = _groups(data["clusters"])
    near, far = ([g for g in groups if _helps(g[0]) is is_near] for is_near in (True, False))
    yield Section("Nearest misses", "waits", tuple(map(_entry, near)))
    yield Section("Rejected", "lost", tuple(map(_entry, far)))


def _groups(clusters: Iterable[Data]) -> list[list[Data]]:
    """The clusters that reject for the same reason, together."""
    found: dict[int, list[Data]] = {}
    for one in clusters:
        found.setdefault(one["group"], []).append(one)
    return [*found.values()]


def _helps(cluster: Data) -> bool:
    """Whether a change that was tried places a replica there."""
    return any(remedy["helps"] for remedy in cluster["remedies"])


def _entry(group: list[Data]) -> Entry:
    first = group[0]
    names = ", ".join(one["name"] for one in group[:8])
    more = f" and {len(group) - 8} more" if len(group) > 8 else ""  # noqa: PLR2004
    return Entry(f"{names}{more}", "", tuple(_reasons(first)))


def _reasons(cluster: Data) -> Iterator[Reason]:
    yield Reason(cluster["reason"], clean(cluster["message"]))
    for pool in cluster["pools"]:
        for problem in (*pool["problems"], *([pool["note"]] if pool["note"] else ())):
            yield Reason(f"pool {pool['name']}", clean(problem))
    for remedy in cluster["remedies"]:
        changes, why = "; ".join(remedy["changes"]), f" ({remedy['why']})" if remedy["why"] else ""
        label = "would help" if remedy["helps"] else "does not help" if remedy["tried"] else "may help, not tried"
        yield Reason(label, clean(f"{changes}{why}"), helps=remedy["helps"])


def _verdict(cluster: Data) -> Verdict:
    helping = next((remedy for remedy in cluster["remedies"] if remedy["helps"]), None)
    if helping is None:
        return Verdict("bad", cluster["reason"], clean(cluster["message"]))
    return Verdict("near", cluster["reason"], clean(f"would help: {'; '.join(helping['changes'])}"))
