"""The licences of what the locks name: `python -m package.licenses` writes docs/licenses.md.

A licence is read from the metadata of the installed distribution: `License-Expression`, then `License`, then the
classifiers, then the text of its licence file. Distributions without a readable licence, and licences that are not
allowed, are errors: somebody has to look.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from packaging.markers import Marker
from packaging.utils import canonicalize_name

from package import locks
from package.locks import Locked

PAGE = locks.ROOT / "docs/licenses.md"

ALLOWED = frozenset({"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0"})
"""SPDX identifiers of licences that let us pass distributions on with the image, unchanged and with their texts."""

SPELLINGS = {
    "apache": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "3-clause bsd license": "BSD-3-Clause",
    "bsd 2-clause license": "BSD-2-Clause",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "psfl": "PSF-2.0",
    "python software foundation license": "PSF-2.0",
}
"""SPDX identifiers by other spellings of metadata, in lower case. `BSD License` is none: there are several."""

ELSEWHERE = {
    "atheris": "Apache-2.0",
    "colorama": "BSD-3-Clause",
    "hf-xet": "Apache-2.0",
    "httpx2-jsfetch": "BSD-3-Clause",  # License-Expression of its wheel, 1.0
}
"""Licences of distributions that are not installed on all platforms, from their own metadata."""

_SPDX = re.compile(r"[A-Za-z0-9.+-]+( (AND|OR) [A-Za-z0-9.+-]+)*")
_TEXTS = (
    ("Apache-2.0", r"Apache License\s+Version 2\.0"),
    ("MPL-2.0", r"Mozilla Public License,? (Version|v\.) 2\.0"),
    ("BSD-3-Clause", r"Redistribution and use in source and binary forms[\s\S]+(Neither the name|names? of)"),
    ("BSD-2-Clause", r"Redistribution and use in source and binary forms"),
    ("MIT", r"Permission is hereby granted, free of charge"),
)
"""What a licence's text contains; the first that matches counts."""


class Unknown(Exception):
    """A licence cannot be read. The message names the distribution."""


@dataclass(frozen=True, slots=True)
class Licensed:
    """A distribution and its licence, an SPDX expression."""

    locked: Locked
    license: str


def licensed(distributions: Iterable[Locked]) -> tuple[Licensed, ...]:
    """Return distributions with their licences. Raises Unknown."""
    return tuple(Licensed(one, expression(one)) for one in distributions)


def expression(locked: Locked) -> str:
    """Return the licence of a distribution as an SPDX expression.

    Raises Unknown if the distribution is not installed in the locked version, unless its marker excludes this platform
    and ELSEWHERE has it, or if nothing in it can be read.
    """
    if locked.marker and not Marker(locked.marker).evaluate():
        others = [one for one in installed().values() if canonicalize_name(one.name) == locked.name]
        found = ELSEWHERE.get(locked.name) or (read(others[0]) if others else None)
    else:
        distribution = installed().get((locked.name, locked.version))
        if distribution is None:
            raise Unknown(f"{locked.name} {locked.version} is not installed: licences are read from what is")
        found = read(distribution)
    if found is None:
        raise Unknown(f"{locked.name} {locked.version} has no licence that can be read: look, and extend {__name__}")
    return found


@functools.cache
def installed() -> Mapping[tuple[str, str], importlib.metadata.Distribution]:
    """Return what is installed, by normalised name and version."""
    return {(canonicalize_name(one.name), one.version): one for one in importlib.metadata.distributions()}


def read(distribution: importlib.metadata.Distribution) -> str | None:
    """Return the licence that a distribution says it has, or None."""
    metadata = distribution.metadata
    said = [metadata.get("License-Expression"), metadata.get("License")]
    kinds = [one.rpartition(" :: ")[2] for one in metadata.get_all("Classifier", []) if one.startswith("License ::")]
    for each in ([one for one in said[:1] if one], [one for one in said[1:] if one], kinds):
        spelled = [spdx(one) for one in each]
        if spelled and all(spelled):
            return " AND ".join(sorted({one for one in spelled if one}))
    return recognised("\n".join(texts(distribution)))


def spdx(text: str) -> str | None:
    """Return the SPDX expression that a metadata field means, or None for a text that is none, such as `UNKNOWN`."""
    text = text.strip()
    if text.lower() in SPELLINGS:
        return SPELLINGS[text.lower()]
    words = re.split(r" (?:AND|OR) ", text)
    return text if _SPDX.fullmatch(text) and all(word in ALLOWED or "-" in word for word in words) else None


def recognised(text: str) -> str | None:
    """Return the licence whose text this is, or None."""
    return next((name for name, pattern in _TEXTS if re.search(pattern, text, re.IGNORECASE)), None)


def texts(distribution: importlib.metadata.Distribution) -> list[str]:
    """Return the texts of a distribution's licence files."""
    found = [one for one in distribution.files or () if re.search(r"(^|/)(licen[cs]e|copying)", str(one).lower())]
    return [one.read_text() for one in found if ".dist-info/" in str(one)]


def is_allowed(license_: str) -> bool:
    """Return whether an SPDX expression can be met with allowed licences. AND binds tighter than OR."""
    return any(all(one in ALLOWED for one in each.split(" AND ")) for each in license_.split(" OR "))


def refused(found: Iterable[Licensed]) -> list[str]:
    """Return a sentence for each distribution whose licence is not allowed."""
    return [
        f"{one.locked.name} {one.locked.version} has the licence {one.license}, which is not in package/licenses.py"
        for one in found
        if not is_allowed(one.license)
    ]


def page() -> str:
    """Return docs/licenses.md. Versions are in the locks, and not repeated here."""
    image = locks.read(locks.IMAGE)
    names = {one.name for one in image}
    tools = [one for one in (*locks.read(locks.DEVELOPMENT), *locks.read(locks.BUILD)) if one.name not in names]
    return "\n".join(
        (
            "# Licences",
            "",
            "<!-- Written by `python -m package.licenses` from the locks and the metadata of what they name. -->",
            "",
            "Modelplane is licensed under Apache-2.0. This page lists the licences of what it depends on, as SPDX",
            "expressions. The image contains the text of each licence, and its notices, in the `dist-info` folder of",
            "the distribution.",
            "",
            "## In the image of the function",
            "",
            *_table(licensed(image)),
            "",
            "The base image brings CPython and Debian packages with licences of their own, in `/usr/share/doc`.",
            "",
            "## Tools for tests and builds",
            "",
            "They are not in the image, in a package or in the wheel.",
            "",
            *_table(licensed(tools)),
            "",
            "## Copied data",
            "",
            "CRDs of Gateway API, the Gateway API Inference Extension and Envoy Gateway are copied into the source",
            "code under Apache-2.0. The README of each folder names its source.",
            "",
        )
    )


def _table(found: Iterable[Licensed]) -> list[str]:
    rows = sorted({(one.locked.name, one.license) for one in found})
    return ["| distribution | licence |", "|---|---|", *(f"| {name} | {license_} |" for name, license_ in rows)]


def main() -> int:
    try:
        text, found = page(), licensed(one for lock in locks.LOCKS for one in locks.read(lock))
    except Unknown as problem:
        print(problem, file=sys.stderr)  # noqa: T201  (a program's output)
        return 1
    for sentence in (wrong := refused(found)):
        print(sentence, file=sys.stderr)  # noqa: T201
    PAGE.write_text(text, encoding="utf-8")
    print(PAGE)  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
