"""Renders a document as one HTML file that needs no other.

The page may load nothing and run only its own script: its Content-Security-Policy names the hashes of the style sheet
and of the script, and forbids everything else. All text is escaped by jinja2; the data of the details is JSON in which
no `<` is left.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from function.core import plural, visible
from function.picture import cells, fleet, layout, shapes
from function.picture.composition import Picture, picture
from function.picture.document import Data, Document
from function.picture.fleet import Cluster, Region

_TEMPLATES = resources.files("function.picture") / "templates"
MOST_LEGEND = 40
"""Deployments in the legend."""
_MOST_ROWS = 1_000
"""Rows of the table."""


def render(document: Document) -> str:
    """A document as HTML."""
    found = picture(document)
    style, script = f"{_text('style.css')}{''.join(_places(found))}", _text("page.js")
    return _environment().get_template("page.html.j2").render(
        document=document,
        picture=found,
        width=shapes.WIDTH,
        style=Markup(style),  # noqa: S704 - our own file and numbers
        script=Markup(script),  # noqa: S704 - our own file
        style_hash=_hash(style),
        script_hash=_hash(script),
        data=Markup(_json(_details(found))),  # noqa: S704 - no `<` is left in it
        legend=[*found.marks.items()],
        rows=[*_rows(found)][:_MOST_ROWS],
        stats=[*_stats(found)],
        states=_states(found),
        has_change=document.before is not None,
    )  # fmt: skip


@cache
def _environment() -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("function.picture"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters["shown"] = visible
    found.filters["px"] = lambda value: f"{value:g}"
    return found


def _text(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _json(value: Any) -> str:
    """JSON for a script element: `<` would end it, and some line breaks are none in HTML."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _places(found: Picture) -> Iterator[str]:
    """The style rules that place the cards in each layout, from the narrowest."""
    for placed in found.layouts:
        rules = [f"#c{n}{{transform:translate({x:g}px,{y:g}px)}}" for n, (x, y) in enumerate(placed.cards)]
        rules += [f"#r{n}{{transform:translate({h.x:g}px,{h.y:g}px)}}" for n, h in enumerate(placed.headings)]
        rules += [f"#l{n}{{width:{h.width:g}px}}" for n, h in enumerate(placed.headings)]
        rules.append(f"#map{{width:{placed.width:g}px;height:{placed.height:g}px}}.a{placed.columns}{{display:inline}}")
        rules += [f".a{other}{{display:none}}" for other in layout.COLUMNS if other != placed.columns]
        yield f"@container map (min-width:{placed.width if placed.columns > 1 else 0:g}px){{{''.join(rules)}}}"


# What the templates list


def _details(found: Picture) -> dict[str, Any]:
    """What the panel shows: the facts of each card, of its pools, and of each item."""
    return {
        "cards": [{"facts": card.facts, "pools": card.pools, "title": card.title} for card in found.cards],
        "items": [
            [number, item.pool, visible(item.title), item.facts]
            for number, card in enumerate(found.cards)
            for item in card.items
        ],
    }


def _slots(found: Picture) -> Iterator[shapes.Slot]:
    return (slot for card in found.cards for item in card.items for slot in item.slots)


def _states(found: Picture) -> list[str]:
    """The states that the picture shows, for the legend."""
    there = {item.state for card in found.cards for item in card.items if item.kind == "node"}
    tones = {tone for slot in _slots(found) for tone in slot.tone.split()}
    extra = {
        "reserved": any(slot.colour == cells.OTHERS for slot in _slots(found)),
        "was": any(slot.side == "before" and "loss" not in slot.tone for slot in _slots(found)),
        "moves": any(found.arrows),
    }
    return sorted((there | tones | {name for name, is_so in extra.items() if is_so}) - {"ready", "left"})


def _stats(found: Picture) -> Iterator[tuple[str, str]]:
    """Numbers of the fleet, each with what it was before if that differs."""
    after = _numbers(found.document.after)
    before = _numbers(found.document.before) if found.document.before is not None else after
    for name, (number, text_of_all) in after.items():
        was = before.get(name, (number, ""))[0]
        yield name, f"{number} {text_of_all}" if was == number else f"{was} → {number} {text_of_all}"


def _numbers(clusters: Sequence[Data]) -> dict[str, tuple[int, str]]:
    pools = [pool for cluster in clusters for pool in cluster["pools"]]
    whole, shared = ([p for p in pools if (p["sharing"] == "Devices") is is_shared] for is_shared in (False, True))
    replicas = {(o["namespace"], o["replica"], o["serving"]) for pool in pools for o in pool["occupants"]}
    found = {
        "Replicas serving": (sum(serving for *_, serving in replicas), f"of {len(replicas)} placed"),
        "Clusters": (sum(c["serving"] for c in clusters), f"of {len(clusters)} serve"),
    }
    if whole:
        found["Nodes free"] = _left(whole), f"of {sum(p['nodes'] for p in whole)}"
    if shared:
        found["Shared devices free"] = _left(shared), f"of {sum(p['nodes'] * p['slots'] for p in shared)}"
    return found


def _left(pools: Sequence[Data]) -> int:
    return sum(max(0, pool["free"]) for pool in pools)


def _rows(found: Picture) -> Iterator[tuple[str, ...]]:
    """The rows of the table: a pool each, or a cluster each where clusters are folded."""
    for region in found.regions:
        for cluster in region.clusters:
            if found.is_folded and not cluster.is_touched:
                yield _cluster_row(region, cluster)
            else:
                yield from _pool_rows(region, cluster)


def _cluster_row(region: Region, cluster: Cluster) -> tuple[str, ...]:
    pools = plural(len(cluster.pools), "pool")
    left = sum(pool.left for pool in cluster.pools)
    taken = ", ".join(cluster.deployments)
    return region.name, cluster.name, _state(cluster), pools, f"{left} free", taken, taken


def _pool_rows(region: Region, cluster: Cluster) -> Iterator[tuple[str, ...]]:
    for pool in cluster.pools:
        was, now = (_taken(pool, side) for side in ("before", "after"))
        yield region.name, cluster.name, _state(cluster), f"{pool.name} ({pool.devices})", pool.free, was, now


def _state(cluster: Cluster) -> str:
    told = cluster.change or ("serves" if cluster.serving else "does not serve")
    return f"{told}; {cluster.verdict.label}: {cluster.verdict.text}" if cluster.verdict else told


def _taken(pool: fleet.Pool, side: str) -> str:
    """The replicas on a pool, with the nodes or devices that each deployment takes."""
    counts: dict[str, int] = {}
    for node in pool.nodes:
        for pod in getattr(node.cell, side):
            if pod is not None:
                counts[pod.deployment] = counts.get(pod.deployment, 0) + 1
    return ", ".join(f"{name}: {count}" for name, count in sorted(counts.items())) or "nothing"
