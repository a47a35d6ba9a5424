"""The known vulnerabilities of what the locks name: `python -m package.audit`, or `make audit`.

pip-audit asks the index for the advisories of each locked version. A version that the index does not answer for counts
as not audited, which is an error here: pip-audit itself skips it and reports that it found nothing. Every distribution
of every lock is asked about, whatever its marker says about this platform, and nothing is resolved or installed.

Exit codes: 0 if no version has a known vulnerability, 1 if one has, 2 if advisories could not be read.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from package import locks
from package.locks import Locked

EXCEPTIONS = Path(__file__).with_name("audit-exceptions.toml")
VULNERABLE, UNREAD = 1, 2
LONGEST = 90
"""Days that an exception may last."""


class NotRead(Exception):
    """Advisories could not be read. The message is a sentence that says whose."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A version to ask about."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Vulnerability:
    """A known vulnerability of a locked version."""

    of: Pinned
    id: str
    aliases: tuple[str, ...]
    fixed_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exemption:
    """A vulnerability that may be there until a day."""

    id: str
    package: str
    reason: str
    expires: dt.date

    def covers(self, found: Vulnerability) -> bool:
        return self.package == found.of.name and self.id in (found.id, *found.aliases)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m package.audit", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--vulnerability-service", default="pypi", choices=("pypi", "osv"), help="default: pypi")
    service = parser.parse_args(arguments).vulnerability_service
    contents = {lock.name: locks.read(lock) for lock in locks.LOCKS}
    try:
        found = [one for part in parts(contents.values()) for one in vulnerabilities(part, service)]
    except NotRead as problem:
        print(problem, file=sys.stderr)  # noqa: T201  (a program's output)
        return UNREAD
    wrong = verdicts(found, exemptions(EXCEPTIONS.read_text("utf-8")), contents, dt.datetime.now(dt.UTC).date())
    for sentence in wrong:
        print(sentence, file=sys.stderr)  # noqa: T201
    counts = ", ".join(f"{len(lock)} of {name}" for name, lock in contents.items())
    print(f"Audited: {counts}. Vulnerabilities: {len(found)}.")  # noqa: T201
    return VULNERABLE if wrong else 0


def parts(contents: Iterable[Iterable[Locked]]) -> list[list[Locked]]:
    """Return every version of all locks once, in lists that have no name twice, as a requirements file must be."""
    lists: list[dict[str, Locked]] = []
    for one in {(one.name, one.version): one for lock in contents for one in lock}.values():
        free = next((part for part in lists if one.name not in part), None)
        if free is None:
            lists.append(free := {})
        free[one.name] = one
    return [list(part.values()) for part in lists]


def vulnerabilities(part: Iterable[Locked], service: str) -> list[Vulnerability]:
    """Ask pip-audit about versions. Raises NotRead if it has no answer for one of them."""
    part = list(part)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "requirements.txt")
        path.write_text("".join(map(_requirement, part)), encoding="utf-8")
        command = [sys.executable, "-m", "pip_audit", "--progress-spinner=off", "--format=json", "--disable-pip"]
        command += ["--require-hashes", f"--vulnerability-service={service}", "--requirement", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (no input of others)
    return answers(part, done.stdout, done.stderr)


def _requirement(one: Locked) -> str:
    return " ".join((f"{one.name}=={one.version}", *(f"--hash=sha256:{digest}" for digest in one.hashes))) + "\n"


def answers(part: Iterable[Locked], printed: str, said: str = "") -> list[Vulnerability]:
    """Read what pip-audit printed. Raises NotRead if it is no answer for each of the versions."""
    try:
        found = json.loads(printed)["dependencies"]
    except (ValueError, KeyError, TypeError) as problem:
        last = (said.strip().splitlines() or ["it printed nothing"])[-1]
        raise NotRead(f"The advisories could not be read, and nothing is known about any version: {last}") from problem
    read = {one["name"] for one in found if "vulns" in one}
    unread = [f"{one.name} {one.version}" for one in part if one.name not in read]
    if unread:
        why = next((one["skip_reason"] for one in found if "skip_reason" in one), "pip-audit left them out")
        raise NotRead(
            f"The advisories of {len(unread)} versions could not be read, and nothing is known about them: "
            f"{unread[0]} and others ({why})"
            if len(unread) > 1
            else f"The advisories of {unread[0]} could not be read, and nothing is known about it ({why})"
        )
    return [_vulnerability(one, each) for one in found for each in one["vulns"]]


def _vulnerability(of: Mapping[str, Any], found: Mapping[str, Any]) -> Vulnerability:
    aliases, versions = tuple(found.get("aliases", ())), tuple(found.get("fix_versions", ()))
    return Vulnerability(Pinned(of["name"], of["version"]), found["id"], aliases, versions)


def exemptions(text: str) -> list[Exemption]:
    """Read the exceptions. Raises TypeError or KeyError for an exception with other fields than it has."""
    return [Exemption(**one) for one in tomllib.loads(text).get("exception", [])]


def verdicts(
    found: Iterable[Vulnerability],
    exempt: Iterable[Exemption],
    contents: Mapping[str, Iterable[Locked]],
    today: dt.date,
) -> list[str]:
    """Return a sentence for each vulnerability that no valid exception covers, and for each exception to be removed."""
    found, exempt = list(found), list(exempt)
    sentences = []
    for one in found:
        covering = [each for each in exempt if each.covers(one)]
        if not any(each.expires > today for each in covering):
            expired = "".join(f" The exception expired on {each.expires}." for each in covering)
            sentences.append(f"{_described(one, contents)}{expired}")
    for each in exempt:
        if not any(each.covers(one) for one in found):
            sentences.append(f"The exception {each.id} of {each.package} matches nothing that was found: remove it.")
        if (each.expires - today).days > LONGEST:
            sentences.append(f"The exception {each.id} of {each.package} lasts longer than {LONGEST} days.")
    return sentences


def _described(one: Vulnerability, contents: Mapping[str, Iterable[Locked]]) -> str:
    where = [name for name, lock in contents.items() if any(_same(each, one.of) for each in lock)]
    known = f"{one.id} ({', '.join(one.aliases)})" if one.aliases else one.id
    fixed = f"fixed in {', '.join(one.fixed_in)}" if one.fixed_in else "without a fixed version"
    return f"{one.of.name} {one.of.version} ({', '.join(where)}) has the vulnerability {known}, {fixed}."


def _same(locked: Locked, pinned: Pinned) -> bool:
    return (locked.name, locked.version) == (pinned.name, pinned.version)


if __name__ == "__main__":
    sys.exit(main())
