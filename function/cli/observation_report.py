"""An observation of a cluster that is not in the fleet, for people: nodes by pool, devices, and who holds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from function.cli.report import Lines, Part, Table
from function.core import enumerate_names, plural

if TYPE_CHECKING:
    from function.observe.once import Seen

_NAMED = 3


def observation(seen: Seen) -> dict[str, Any]:
    """The observation of a cluster as it is: its own devices are the declaration."""
    from function.observe import unclaimed

    return unclaimed.observed(seen)


def parts(found: Mapping[str, Any]) -> list[Part]:
    out: list[Part] = []
    for name, pool in found["pools"].items():
        out.append(
            Table(
                _title(name, pool), ("nodes", "state", "devices", "held", "requested", "allocatable"), list(_rows(pool))
            )
        )
        out.append(Lines("", [*_notes(pool)]))
    out.append(Lines("", [*_general(found)]))
    return out


def _title(name: str, pool: Mapping[str, Any]) -> str:
    labelled = "" if pool["labelled"] else ", without the label modelplane.ai/pool"
    return f"Pool {name} ({plural(sum(record['count'] for record in pool['nodes']), 'node')}{labelled})"


def _rows(pool: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for record in pool["nodes"]:
        taint = f" {record['taint']}" if "taint" in record else ""
        yield (
            enumerate_names(record["names"], _NAMED),
            f"{record['state']}{taint}",
            _counts(record["devices"]),
            ", ".join(_held(record)),
            _amounts(record["requested"]),
            _amounts(record["allocatable"]),
        )


def _held(record: Mapping[str, Any]) -> Iterator[str]:
    for holder, held in record.get("ours", {}).items():
        yield f"{_counts(held)} by {holder}"
    if "foreign" in record:
        yield f"{_counts(record['foreign'])} by others"


def _counts(devices: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in devices.items()) or "none"


def _amounts(given: Mapping[str, str]) -> str:
    return f"cpu {given['cpu']}, memory {given['memory']}"


def _notes(pool: Mapping[str, Any]) -> Iterator[str]:
    for one in pool["differs"]:
        published = "nothing" if one["published"] is None else one["published"]
        yield f"{plural(one['nodes'], 'node')}: {one['device']} {one['fact']} is {published}, on most {one['declared']}"
    for one in pool["counts"]:
        yield f"{plural(one['nodes'], 'node')}: {one['published']} {one['device']}, on most {one['declared']}"
    for one in pool["unknown"]:
        yield f"{plural(one['nodes'], 'node')}: {one['count']} more of {one['driver']}, such as {one['device']}"


def _general(found: Mapping[str, Any]) -> Iterator[str]:
    if found["without"]:
        yield f"{plural(found['without'], 'node')} without devices and without a pool"
    for missing in found["missing"]:
        yield f"not read: {missing}"
