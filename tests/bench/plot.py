"""A plot of bytes over clusters as SVG, with logarithmic axes. It reads well on a light and on a dark page.

Lines are labelled at their ends, so there is no legend. Text and grid take their colour from the reader's scheme.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

Point = tuple[float, float]

_WIDTH, _HEIGHT = 760, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 222, 44, 56
_LABEL_GAP = 17
"""The least distance of two labels."""
_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #57606a }
.title { font-weight: 600; fill: #24292f }
.grid { stroke: #8c959f; stroke-opacity: .3 }
.line { fill: none; stroke-width: 2.5; stroke-linejoin: round }
.dashed { stroke-dasharray: 2 6; stroke-linecap: round }
.before { stroke: #bc4c00 } .before.dot { fill: #bc4c00 } text.before { stroke: none; fill: #bc4c00 }
.now { stroke: #0969da } .now.dot { fill: #0969da } text.now { stroke: none; fill: #0969da }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 }
.title { fill: #f0f6fc }
.before { stroke: #f0883e } .before.dot { fill: #f0883e } text.before { fill: #f0883e }
.now { stroke: #4493f8 } .now.dot { fill: #4493f8 } text.now { fill: #4493f8 }
}"""
"""Of all plots of the docs."""


class Series(NamedTuple):
    """A line."""

    label: str
    points: tuple[Point, ...]
    """Clusters and bytes, both above zero."""
    style: str
    """`before` or `now`, and `dashed`."""


class _Scale(NamedTuple):
    """A logarithmic axis, from a value at a pixel to another at another."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self.start + share * (self.end - self.start), 1)


def svg(series: Sequence[Series]) -> str:
    """Return the plot."""
    values = [point for one in series for point in one.points]
    x = _Scale(min(v[0] for v in values), max(v[0] for v in values), _LEFT, _WIDTH - _RIGHT)
    low, high = (math.log10(f(v[1] for v in values)) for f in (min, max))
    y = _Scale(10 ** math.floor(low), 10 ** math.ceil(high), _HEIGHT - _BOTTOM, _TOP)
    described = "Bytes of a reconcile's requests over the size of the fleet, on logarithmic axes"
    parts = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{described}</title>",
        f"<style>\n{STYLE}\n</style>",
        f'<text class="title" x="{_LEFT}" y="22">What one reconcile of a ModelDeployment reads</text>',
        *_axes(x, y, sorted({v[0] for v in values})),
        *(part for one in series for part in _line(one, x, y)),
        *_labels(series, x, y),
        "</svg>",
    )
    return "\n".join(parts) + "\n"


def _axes(x: _Scale, y: _Scale, ticks: Sequence[float]) -> Iterator[str]:
    for power in range(round(math.log10(y.low)), round(math.log10(y.high)) + 1):
        at = y.at(10**power)
        yield f'<path class="grid" d="M{x.start} {at}H{x.end}"/>'
        yield f'<text x="{x.start - 8}" y="{at + 4}" text-anchor="end">{_bytes(10**power)}</text>'
    for tick in ticks:
        at = x.at(tick)
        yield f'<path class="grid" d="M{at} {y.start}V{y.end}"/>'
        yield f'<text x="{at}" y="{y.start + 20}" text-anchor="middle">{tick:,.0f}</text>'
    middle, half = (x.start + x.end) / 2, (y.start + y.end) / 2
    yield f'<text x="{middle}" y="{_HEIGHT - 12}" text-anchor="middle">clusters, with ten replicas each</text>'
    turned = f'transform="rotate(-90 16 {half})"'
    yield f'<text x="16" y="{half}" text-anchor="middle" {turned}>bytes of all calls together</text>'


def _line(series: Series, x: _Scale, y: _Scale) -> Iterator[str]:
    places = [(x.at(a), y.at(b)) for a, b in series.points]
    yield f'<path class="line {series.style}" d="M{" L".join(f"{a} {b}" for a, b in places)}"/>'
    dot = f"dot {series.style.partition(' ')[0]}"
    yield from (f'<circle class="{dot}" cx="{a}" cy="{b}" r="3"/>' for a, b in places)


def _labels(series: Sequence[Series], x: _Scale, y: _Scale) -> Iterator[str]:
    """Label lines at their ends, from the top; a label that would cover the one above moves down."""
    above = -math.inf
    for one in sorted(series, key=lambda s: y.at(s.points[-1][1])):
        value = one.points[-1][1]
        above = max(y.at(value) + 4, above + _LABEL_GAP)
        text = escape(f"{one.label}, {_bytes(value)}")
        yield f'<text class="{one.style.partition(" ")[0]}" x="{x.end + 12}" y="{above}">{text}</text>'


def _bytes(value: float) -> str:
    for unit, name in _UNITS:
        if value >= unit:
            return f"{value / unit:.{1 if value / unit < 100 and value % unit else 0}f} {name}"
    return f"{value:.0f} B"
