"""Device selectors that ask for what no device of the given InferenceClasses has.

Of an alternative, such as `a || b`, only names that resemble another are told: the other part may match.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from function import cel
from function.api import inferenceclass, modeldeployment
from function.core import Manifest, dig, dig_list
from function.validation import devices
from function.validation.dangling import Unchecked
from function.validation.finding import Finding
from function.validation.nearest import meant, nearest

_MAPS: tuple[Literal["attributes", "capacity"], ...] = ("attributes", "capacity")
_ONE = {"attributes": "attribute", "capacity": "capacity"}
_NO_DEVICE = "no device of the given InferenceClasses has"

Names = dict[str, dict[str, set[str]]]
"""Names by domain, each with the strings that it has."""


@dataclass(frozen=True, slots=True)
class Published:
    """What the devices of the given classes publish."""

    drivers: set[str] = field(default_factory=set)
    attributes: Names = field(default_factory=dict)
    capacity: Names = field(default_factory=dict)

    def of(self, where: str) -> Names:
        return self.attributes if where == "attributes" else self.capacity

    @property
    def domains(self) -> set[str]:
        return {*self.drivers, *self.attributes, *self.capacity}


def judged(
    objects: Iterable[tuple[int, Manifest]], given: Iterable[tuple[int, Manifest]]
) -> Iterator[Finding | Unchecked]:
    """Yield what selectors ask for in vain, and the selectors that cannot be checked.

    Args:
        objects: Valid objects of our kinds, each with its index.
        given: These, and those that are not valid.
    """
    classes = [manifest for _, manifest in given if manifest["kind"] == inferenceclass.KIND]
    published = _published(classes)
    for index, manifest in objects:
        if manifest["kind"] == modeldeployment.KIND:
            for path, text in devices.written(manifest):
                if classes:
                    for told in _of_text(text, published):
                        yield Finding(index, path, told.problem, told.code, span=devices.word(text, told.word.at))
                else:
                    yield Unchecked(index, path, inferenceclass.KIND, "asks for attributes of devices")


def _published(classes: Sequence[Manifest]) -> Published:
    found = Published()
    for device in (device for one in classes for device in dig_list(one, "spec", "devices")):
        driver = str(dig(device, "driver") or "")
        found.drivers.add(driver)
        for where in _MAPS:
            values: Any = dig(device, where)
            for name, value in values.items() if isinstance(values, Mapping) else ():
                domain, slash, bare = str(name).partition("/")
                of_domain = found.of(where).setdefault(domain if slash else driver, {})
                text = dig(value, "string")
                of_domain.setdefault(bare if slash else domain, set()).update({text} if isinstance(text, str) else ())
    return found


@dataclass(frozen=True, slots=True)
class _Told:
    """What a selector asks for in vain: the word, its problem, and the code."""

    word: cel.Word
    problem: str
    code: str


def _of_text(text: str, published: Published) -> Iterator[_Told]:
    """Yield what a selector that compiles asks for in vain. A domain is told once."""
    told: set[str] = set()
    for read in cel.reads(text):
        for one in _of_read(read, published):
            if read.domain is None or one.word != read.domain or read.domain.text not in told:
                yield one
            told |= {read.domain.text} if read.domain else set()


def _of_read(read: cel.Read, published: Published) -> Iterator[_Told]:
    if read.domain is None or read.name is None:
        yield from _of_values(read, published.drivers)
        return
    domain, name, of_domain = read.domain, read.name, published.of(read.where).get(read.domain.text, {})
    if domain.text not in published.domains:
        problem = f"reads {read.where} of domain {domain.text}, which {_NO_DEVICE}"
        yield from _unknown(read, domain, problem, published.domains)
    elif name.text not in of_domain:
        problem = f"reads {_ONE[read.where]} {name.text} of {domain.text}, which {_NO_DEVICE}"
        yield from _unknown(read, name, problem, of_domain)
    else:
        yield from _of_values(read, of_domain[name.text])


def _unknown(read: cel.Read, word: cel.Word, problem: str, known: Iterable[str]) -> Iterator[_Told]:
    names = set(known)
    if read.is_certain or nearest(word.text, names):
        yield _Told(word, f"{problem}; {meant(word.text, names)}" if names else problem, "unknown-attribute")


def _of_values(read: cel.Read, known: set[str]) -> Iterator[_Told]:
    """Yield the first value of a comparison that no device can satisfy. Values of other types are not known."""
    if read.is_certain and read.values and known and not known & {value.text for value in read.values}:
        value, what = read.values[0], read.name.text if read.name else read.where
        quoted = {json.dumps(one, ensure_ascii=False) for one in known}
        near = nearest(value.text, known)
        hint = f"did you mean {json.dumps(near, ensure_ascii=False)}?" if near else meant("", quoted)
        problem = f"asks for {what} {json.dumps(value.text, ensure_ascii=False)}, which {_NO_DEVICE}; {hint}"
        yield _Told(value, problem, "unknown-value")
