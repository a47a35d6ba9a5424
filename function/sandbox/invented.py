"""Values that only a real cluster or cloud gives, and that the sandbox makes up in their place: addresses, uids, ids.

Whoever makes a value up notes it here. Reports then show KNOWN_LATER in its place, also where it is a part of a longer
text, such as a URL. A value that the input gives is not made up, so nobody notes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from function.core.manifest import is_list

KNOWN_LATER = "(known after apply)"
_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
"""A word of a text, such as a whole address. What is noted never begins or ends within one."""
_DIGIT = re.compile(r"[0-9]")
_SHORTEST = 7
"""Characters of an address, such as 1.2.3.4."""


@dataclass(slots=True)
class Invented:
    """The values that were made up."""

    _by_word: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By its first word, each value."""
    _given: set[str] = field(default_factory=set)
    """The words of the input that may be addresses or ids: those with a digit."""

    def give(self, value: Any) -> None:
        """Take note of what the input gives: an address in a dump is known, whoever would make up the same one."""
        if isinstance(value, Mapping):
            for one in value.values():
                self.give(one)
        elif is_list(value):
            for one in value:
                self.give(one)
        elif isinstance(value, str):
            self._given.update(word for word in _WORD.findall(value) if len(word) >= _SHORTEST and _DIGIT.search(word))

    def note(self, *values: str) -> None:
        """Note values that were made up."""
        for value in values:
            first = _WORD.search(value)
            known = self._by_word.get(first[0], ()) if first else ()
            if first and value not in known and first[0] not in self._given:
                self._by_word[first[0]] = tuple(sorted((*known, value), key=len, reverse=True))

    def marked(self, text: str, mark: Callable[[str], str] = lambda _: KNOWN_LATER) -> str:
        """Return a text with a mark in place of each value that was made up. The mark gets the value."""
        parts, end = [], 0
        for word in _WORD.finditer(text):
            found = self._at(text, word) if word.start() >= end else None
            if found:
                parts += [text[end : found[0]], mark(text[slice(*found)])]
                end = found[1]
        return "".join([*parts, text[end:]]) if parts else text

    def _at(self, text: str, word: re.Match[str]) -> tuple[int, int] | None:
        """Where the longest value is that begins with a word."""
        for value in self._by_word.get(word[0], ()):
            start = word.start() - value.index(word[0])
            end = start + len(value)
            if start >= 0 and text[start:end] == value and not text[end : end + 1].isalnum():
                return start, end
        return None

    def marked_in(self, value: Any, mark: Callable[[str], str] = lambda _: KNOWN_LATER) -> Any:
        """Return an object, or a part of one, with every text in it marked."""
        if isinstance(value, Mapping):
            return {key: self.marked_in(one, mark) for key, one in value.items()}
        if is_list(value):
            return [self.marked_in(one, mark) for one in value]
        return self.marked(value, mark) if isinstance(value, str) else value
