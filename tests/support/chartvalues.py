"""Values of charts: what a chart knows by its own values.yaml, and what of that we send."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

Values = Mapping[str, Any]
Place = tuple[str, ...]


def leaves(values: Values, before: Place = ()) -> Iterator[Place]:
    """The place of every value that is not a map."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*before, key))
        else:
            yield (*before, key)


def at(values: Values, place: Place) -> Any:
    """The value at a place. None where there is none."""
    here: Any = values
    for key in place:
        here = here.get(key) if isinstance(here, Mapping) else None
    return here


def without(values: Values, place: Place) -> Values:
    """The values, but for one."""
    head, *rest = place
    if rest:
        return {**values, head: without(values[head], tuple(rest))}
    return {key: value for key, value in values.items() if key != head}


def unknown(values: Values, defaults: Values, passed_on: Collection[Place] = ()) -> list[str]:
    """The places of values that the chart's own values do not have: Helm takes them without a word.

    `passed_on` are places whose values the chart writes into a configuration as they are.
    """
    return [".".join(place) for place in leaves(values) if not _knows(defaults, place, passed_on)]


def _knows(defaults: Values, place: Place, passed_on: Collection[Place]) -> bool:
    """Whether a chart has a value. One that is null or an empty map by default takes anything below it."""
    here: Any = defaults
    for depth, key in enumerate(place):
        if place[:depth] in passed_on or here is None or here == {}:
            return True
        if not isinstance(here, Mapping) or key not in here:
            return False
        here = here[key]
    return True
