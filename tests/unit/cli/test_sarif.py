"""The SARIF output: its structure, and the URIs of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from function.cli import locations
from function.cli.findings import UNREADABLE
from function.main import main
from function.validation.finding import SEVERITIES

ENDPOINT = """apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {name: outside, namespace: ml-team}
spec: {url: "https://qwen.ml-team.svc", auth: {secretRef: {name: key}}, priority: 1}
"""


def of(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": [*required],
        "additionalProperties": False,
    }


NUMBER = {"type": "integer", "minimum": 1}
TEXT = {"type": "string", "minLength": 1}
MESSAGE = of({"text": TEXT})
LEVEL = {"enum": ["none", "note", "warning", "error"]}
URI = {"type": "string", "pattern": r"^[A-Za-z0-9._~:/@!$&'()*+,;=%-]+$"}
REGION = of({"startLine": NUMBER, "startColumn": NUMBER, "endLine": NUMBER, "endColumn": NUMBER})
PLACE = of({"artifactLocation": of({"uri": URI}, {"uriBaseId": TEXT}), "region": REGION})
RESULT = of(
    {
        "ruleId": TEXT,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": MESSAGE,
        "locations": {"type": "array", "items": of({"physicalLocation": PLACE}), "minItems": 1, "maxItems": 1},
    }
)
RULE = of({"id": TEXT, "shortDescription": MESSAGE, "defaultConfiguration": of({"level": LEVEL})})
RUN = of(
    {
        "tool": of({"driver": of({"name": TEXT, "version": TEXT, "rules": {"type": "array", "items": RULE}})}),
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "originalUriBaseIds": of({locations.ROOT: of({"description": MESSAGE})}),
        "results": {"type": "array", "items": RESULT},
    },
    {"properties": {"type": "object"}},
)
SARIF = of({"$schema": TEXT, "version": {"const": "2.1.0"}, "runs": {"type": "array", "items": RUN, "minItems": 1}})
"""The part of SARIF 2.1.0 that we write (docs.oasis-open.org/sarif/sarif/v2.1.0, sections 3.13 to 3.49)."""


def run(*arguments: str, stdin: str | None = None) -> dict[str, Any]:
    log = json.loads(CliRunner().invoke(main, ["validate", "-o", "sarif", *arguments], input=stdin).output)
    jsonschema.validate(log, SARIF)
    (found,) = log["runs"]
    assert isinstance(found, dict)
    return found


def test_every_rule_has_an_id_a_meaning_and_a_level() -> None:
    rules = run("-", stdin=ENDPOINT)["tool"]["driver"]["rules"]

    known = {code: severity for severity, codes in SEVERITIES.items() for code in codes}
    told = {rule["id"]: rule["defaultConfiguration"]["level"] for rule in rules}
    of_files = told.keys() - known.keys()
    assert told == known | dict.fromkeys(of_files, "error")
    assert UNREADABLE in of_files
    assert list(told) == sorted(told)


def test_a_result_has_the_level_and_the_rule_of_its_finding() -> None:
    found = run("-", stdin=ENDPOINT)

    got = [(result["level"], result["ruleId"]) for result in found["results"]]
    assert got == [("error", "unknown-field")] + [("note", "unchecked")] * ("unchecked" in dict(map(reversed, got)))
    rules = found["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in found["results"])


def test_all_levels_are_those_of_sarif(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(ENDPOINT.replace(", priority: 1", ""))
    (tmp_path / "b.yaml").write_text(ENDPOINT.replace("outside", "other"))

    assert {result["level"] for result in run(str(tmp_path))["results"]} == {"error", "warning", "note"}


def test_a_region_ends_behind_its_last_character() -> None:
    (result, *_) = run("-", stdin=ENDPOINT)["results"]

    line = ENDPOINT.split("\n")[3]
    start = line.index("priority") + 1
    region = {"startLine": 4, "startColumn": start, "endLine": 4, "endColumn": start + len("priority")}
    assert result["locations"][0]["physicalLocation"]["region"] == region


NAMES = {
    "a b.yaml": "a%20b.yaml",
    "a#b.yaml": "a%23b.yaml",
    "a?b.yaml": "a%3Fb.yaml",
    "a%b.yaml": "a%25b.yaml",
    "a:b.yaml": "a%3Ab.yaml",
    "größe.yaml": "gr%C3%B6%C3%9Fe.yaml",
    "日本/a.yaml": "%E6%97%A5%E6%9C%AC/a.yaml",
}


@pytest.mark.parametrize(("name", "uri"), NAMES.items(), ids=NAMES.values())
def test_a_file_below_the_root_is_relative_and_escaped(
    name: str, uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(ENDPOINT)
    monkeypatch.chdir(tmp_path)

    (result, *_) = run(name)["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": uri, "uriBaseId": "%SRCROOT%"}


@pytest.mark.parametrize("spelled", ["../fleet/a.yaml", "./a.yaml", "{folder}/fleet/a.yaml"])
def test_the_root_is_that_of_the_repository(spelled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "fleet").mkdir()
    monkeypatch.chdir(tmp_path / "fleet")

    got = locations.artifact(spelled.format(folder=tmp_path))
    assert got == {"uri": "fleet/a.yaml", "uriBaseId": "%SRCROOT%"}
    assert locations.shown(spelled.format(folder=tmp_path)) == "fleet/a.yaml"


def test_a_file_elsewhere_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    assert locations.artifact("../there/a b.yaml") == {"uri": f"{tmp_path.as_uri()}/there/a%20b.yaml"}
    assert locations.shown("../there/a b.yaml") == "../there/a b.yaml"


def test_standard_input_is_no_file_of_the_repository() -> None:
    (result, *_) = run("-", stdin=ENDPOINT)["results"]

    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "%3Cstdin%3E"}


def test_a_name_that_is_not_utf_8_is_escaped_byte_by_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert locations.artifact("a\udcff.yaml")["uri"] == "a%FF.yaml"
