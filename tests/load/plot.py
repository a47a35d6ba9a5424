"""A plot of memory over calls as SVG, with linear axes. It reads well on a light and on a dark page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.bench.plot import STYLE

_WIDTH, _HEIGHT = 760, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 190, 44, 56
_LABEL_GAP = 17
_LINES = 6
"""Lines of the grid in each direction, at most."""
_DESCRIBED = "Memory of one process of the function over its calls, which never repeat"


class Series(NamedTuple):
    """A line: its label, its style, and MiB by calls."""

    label: str
    style: str
    points: Sequence[tuple[float, float]]


class _Scale(NamedTuple):
    """A linear axis from zero, between two pixels."""

    most: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return round(self.start + value / self.most * (self.end - self.start), 1)


def svg(series: Sequence[Series], large: Sequence[int], levels: Sequence[tuple[str, float]]) -> str:
    """Return the plot.

    Args:
        series: The lines.
        large: The numbers of calls with a large fleet in the request, which are marked on the axis.
        levels: Labels and MiB of horizontal lines.
    """
    points = [point for one in series for point in one.points]
    x = _Scale(max(p[0] for p in points), _LEFT, _WIDTH - _RIGHT)
    highest = max(*(p[1] for p in points), *(level for _, level in levels))
    y = _Scale(_step(highest) * math.ceil(highest / _step(highest)), _HEIGHT - _BOTTOM, _TOP)
    parts = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{_DESCRIBED}</title>",
        f"<style>\n{STYLE}\n</style>",
        f'<text class="title" x="{_LEFT}" y="22">{_DESCRIBED}</text>',
        *_axes(x, y),
        *(f'<path class="grid" d="M{x.at(at)} {y.start}v6" style="stroke-opacity: 1"/>' for at in large),
        *(part for label, level in levels for part in _level(label, level, x, y)),
        *(part for one in series for part in _line(one, x, y)),
        *_labels(series, x, y),
        "</svg>",
    )
    return "\n".join(parts) + "\n"


def _step(most: float) -> float:
    """A round distance of grid lines."""
    rough = most / _LINES
    power = 10 ** math.floor(math.log10(rough))
    return next(step for factor in (1, 2, 2.5, 5, 10) if (step := factor * power) >= rough)


def _ticks(scale: _Scale) -> list[float]:
    step = _step(scale.most)
    return [step * i for i in range(round(scale.most / step) + 1)]


def _axes(x: _Scale, y: _Scale) -> Iterator[str]:
    for tick in _ticks(y):
        yield f'<path class="grid" d="M{x.start} {y.at(tick)}H{x.end}"/>'
        yield f'<text x="{x.start - 8}" y="{y.at(tick) + 4}" text-anchor="end">{tick:.0f}</text>'
    for tick in _ticks(x):
        yield f'<text x="{x.at(tick)}" y="{y.start + 20}" text-anchor="middle">{tick:,.0f}</text>'
    middle, half = (x.start + x.end) / 2, (y.start + y.end) / 2
    yield f'<text x="{middle}" y="{_HEIGHT - 12}" text-anchor="middle">calls; marks: 1,000 clusters at once</text>'
    yield f'<text x="16" y="{half}" text-anchor="middle" transform="rotate(-90 16 {half})">MiB</text>'


def _level(label: str, level: float, x: _Scale, y: _Scale) -> Iterator[str]:
    yield f'<path class="line dashed grid" d="M{x.start} {y.at(level)}H{x.end}" style="stroke-opacity: 1"/>'
    yield f'<text x="{x.end + 12}" y="{y.at(level) + 4}">{label}</text>'


def _line(one: Series, x: _Scale, y: _Scale) -> Iterator[str]:
    places = " L".join(f"{x.at(calls)} {y.at(size)}" for calls, size in one.points)
    yield f'<path class="line {one.style}" d="M{places}"/>'


def _labels(series: Sequence[Series], x: _Scale, y: _Scale) -> Iterator[str]:
    """Label lines at their ends, from the top; a label that would cover the one above moves down."""
    above = -math.inf
    for one in sorted(series, key=lambda s: y.at(s.points[-1][1])):
        above = max(y.at(one.points[-1][1]) + 4, above + _LABEL_GAP)
        last = f"{one.label}, {one.points[-1][1]:.0f} MiB"
        yield f'<text class="{one.style.partition(" ")[0]}" x="{x.end + 12}" y="{above}">{last}</text>'
