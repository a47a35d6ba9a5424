"""What `make audit` says: it never takes silence for safety."""

import datetime as dt
import json
from typing import Any

import pytest

from package import audit, locks
from package.audit import NotRead
from package.locks import Locked

FOUND = "one 1.0 (requirements.lock) has the vulnerability PYSEC-1 (CVE-1), fixed in 1.1."
TODAY = dt.date(2026, 6, 1)


def locked(name: str, version: str = "1.0") -> Locked:
    return Locked(name, version, "", ("0" * 64,), ())


def printed(*dependencies: dict[str, Any]) -> str:
    return json.dumps({"dependencies": list(dependencies), "fixes": []})


def vulnerable(name: str) -> dict[str, Any]:
    found = {"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["1.1"], "description": ""}
    return {"name": name, "version": "1.0", "vulns": [found]}


EXCEPTION = """
[[exception]]
id = "CVE-1"
package = "one"
reason = "our code does not call it"
expires = {expires}
"""


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("", "could not be read, and nothing is known about any version: no route to host"),
        ("{}", "could not be read"),
        (printed({"name": "one", "version": "1.0", "vulns": []}), "The advisories of two 1.0 could not be read"),
        (
            printed(*({"name": name, "skip_reason": "not found on PyPI"} for name in ("one", "two"))),
            r"2 versions could not be read, and nothing is known about them: one 1\.0 and others \(not found on PyPI\)",
        ),
    ],
)
def test_a_version_without_an_answer_is_an_error(answer: str, sentence: str) -> None:
    with pytest.raises(NotRead, match=sentence):
        audit.answers([locked("one"), locked("two")], answer, "Traceback\nno route to host\n")


def test_answers_for_all_versions_are_read() -> None:
    found = audit.answers([locked("one"), locked("two")], printed(vulnerable("one"), {"name": "two", "vulns": []}))
    assert [(one.of.name, one.id, one.aliases, one.fixed_in) for one in found] == [
        ("one", "PYSEC-1", ("CVE-1",), ("1.1",))
    ]


@pytest.mark.parametrize(
    ("expires", "wrong"),
    [
        ("2026-06-02", []),
        (
            "2026-06-01",
            [f"{FOUND} The exception expired on 2026-06-01."],
        ),
        ("2026-12-31", ["The exception CVE-1 of one lasts longer than 90 days."]),
    ],
)
def test_an_exception_lasts_until_its_day(expires: str, wrong: list[str]) -> None:
    [found] = audit.answers([locked("one")], printed(vulnerable("one")))
    exempt = audit.exemptions(EXCEPTION.format(expires=expires))
    assert audit.verdicts([found], exempt, {"requirements.lock": [locked("one")]}, TODAY) == wrong


def test_an_exception_without_its_vulnerability_is_to_be_removed() -> None:
    exempt = audit.exemptions(EXCEPTION.format(expires="2026-06-02"))
    assert audit.verdicts([], exempt, {}, TODAY) == [
        "The exception CVE-1 of one matches nothing that was found: remove it."
    ]


def test_every_version_of_every_lock_is_asked_about_once() -> None:
    contents = [locks.read(path) for path in locks.LOCKS]
    parts = audit.parts(contents)
    asked = [(one.name, one.version) for part in parts for one in part]
    assert sorted(asked) == sorted({(one.name, one.version) for lock in contents for one in lock})
    assert all(len({one.name for one in part}) == len(part) for part in parts)


def test_our_exceptions_can_be_read() -> None:
    for one in audit.exemptions(audit.EXCEPTIONS.read_text("utf-8")):
        assert len(one.reason) > 20
        assert isinstance(one.expires, dt.date)
