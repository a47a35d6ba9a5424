"""The check of converted objects: what `modelplane validate` says of them, and their selectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.conversion.convert import Converted, is_ours
from function.conversion.notes import Notes, Path
from function.conversion.selectors import NamedDevice, Reading, differing
from function.core import dig, dig_list
from function.validation import Finding, validate

_UNKNOWN = "unknown-field"


@dataclass(frozen=True, slots=True)
class Left:
    """What validation finds in a target."""

    result: Converted
    target: Mapping[str, Any]
    finding: Finding


def left(results: Sequence[Converted]) -> list[Left]:
    """Validate all targets together, and return what is found.

    Fields that our kinds do not have are taken out of objects of Modelplane, and noted as not carried: they come from
    another version.
    """
    held = [(result, target) for result in results for target in result.targets]
    for finding in validate([target for _, target in held]):
        result, target = held[finding.index]
        if finding.code == _UNKNOWN and is_ours(result.source):
            _take_out(target, finding.path)
            Notes(written=result.notes).lost(finding.path, finding.message)
    return [Left(*held[finding.index], finding) for finding in validate([target for _, target in held])]


def _take_out(target: dict[str, Any], path: Path) -> None:
    holder: Any = dig(target, *path[:-1]) if path[:-1] else target
    if isinstance(holder, dict):
        holder.pop(path[-1], None)


def different(results: Sequence[Converted], devices: Sequence[NamedDevice]) -> dict[str, list[Reading]]:
    """The selectors of ModelDeployments that mean something else to cel-python on a device.

    Selectors that the conversion wrote were never read by cel-python.
    """
    written = (target for result in results if is_ours(result.source) for target in result.targets)
    return differing(dict.fromkeys(text for target in written for text in _selectors(target)), devices)


def _selectors(target: Mapping[str, Any]) -> Iterator[str]:
    """The selectors of a ModelDeployment."""
    for engine in dig_list(target, "spec", "engines"):
        for member in dig_list(engine, "members"):
            for request in dig_list(member, "nodeSelector", "devices"):
                for selector in dig_list(request, "selectors"):
                    if isinstance(text := dig(selector, "cel"), str):
                        yield text
