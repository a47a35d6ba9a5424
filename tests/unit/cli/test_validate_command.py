"""`modelplane validate`: findings with their place, in every format, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from function.main import main

BROKEN = """# a comment
apiVersion: modelplane.ai/v1alpha1
kind: ModelService
metadata:
  name: chat
  namespace: ml-team
spec:
  endpoint: []
  endpoints:
  - weight: 0
    selector: {matchLabels: {a: b}}
"""
DOUBTFUL = """apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {name: outside, namespace: ml-team}
spec: {url: "https://qwen.ml-team.svc"}
"""
GOOD = DOUBTFUL.replace("qwen.ml-team.svc", "api.example.org")


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["validate", *arguments], input=stdin)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "broken": BROKEN,
        "doubtful": DOUBTFUL,
        "not-yaml": f"{GOOD}a: [",
        "incomplete": "kind: ModelCache",
    }.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def test_a_finding_names_file_line_column_field_and_code(folder: Path) -> None:
    got = run(str(folder / "broken.yaml"))

    want = (
        f"{folder}/broken.yaml:8:3: error: spec.endpoint: is not a field; did you mean endpoints? [unknown-field]"
        " (ModelService ml-team/chat)\n"
        f"{folder}/broken.yaml:10:13: error: spec.endpoints[0].weight: must be a whole number from 1 to 1000000, not 0"
        " [value] (ModelService ml-team/chat)\n"
        "1 object: 2 errors, 0 warnings\n"
    )
    assert (got.exit_code, got.output) == (1, want)


def test_good_objects_exit_with_0() -> None:
    got = run("-", stdin=GOOD)

    assert (got.exit_code, got.output) == (0, "1 object: 0 errors, 0 warnings\n")


def test_a_warning_is_said_and_is_no_failure() -> None:
    got = run("-", stdin=DOUBTFUL)

    want = (
        "<stdin>:4:13: warning: spec.url: points into the control cluster or its own network [in-cluster]"
        " (ModelEndpoint ml-team/outside)\n"
        "1 object: 0 errors, 1 warning\n"
    )
    assert (got.exit_code, got.output) == (0, want)


def test_what_cannot_be_read_does_not_hide_the_rest(folder: Path) -> None:
    got = run("--format", "json", str(folder))

    findings = json.loads(got.output)["findings"]
    assert got.exit_code == 1
    assert [(Path(f["file"]).name, f["code"]) for f in findings] == [
        ("broken.yaml", "unknown-field"),
        ("broken.yaml", "value"),
        ("doubtful.yaml", "in-cluster"),
        ("incomplete.yaml", "unreadable"),
        ("incomplete.yaml", "unchecked"),
        ("not-yaml.yaml", "unreadable"),
    ]


def test_json_carries_everything_that_the_text_does() -> None:
    got = json.loads(run("--format", "json", "-", stdin=DOUBTFUL).output)

    finding = {
        "file": "<stdin>",
        "line": 4,
        "column": 13,
        "endLine": 4,
        "endColumn": 39,
        "severity": "warning",
        "object": "ModelEndpoint ml-team/outside",
        "field": "spec.url",
        "message": "spec.url: points into the control cluster or its own network",
        "code": "in-cluster",
    }
    assert (got["objects"], got["findings"]) == (1, [finding])


def test_sarif_places_every_finding_and_explains_every_rule(folder: Path) -> None:
    [sarif] = json.loads(run("--format", "sarif", str(folder / "broken.yaml")).output)["runs"]

    rules = {rule["id"]: rule["shortDescription"]["text"] for rule in sarif["tool"]["driver"]["rules"]}
    first = sarif["results"][0]
    assert first == {
        "ruleId": "unknown-field",
        "ruleIndex": [*rules].index("unknown-field"),
        "level": "error",
        "message": {"text": "spec.endpoint: is not a field; did you mean endpoints?"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": (folder / "broken.yaml").as_uri()},
                    "region": {"startLine": 8, "startColumn": 3, "endLine": 8, "endColumn": 11},
                }
            }
        ],
    }
    assert {result["ruleId"] for result in sarif["results"]} <= rules.keys()


def test_github_annotations_are_workflow_commands(folder: Path) -> None:
    got = run("--format", "github", str(folder / "broken.yaml")).output.splitlines()

    want = f"::error file={folder}/broken.yaml,line=8,endLine=8,col=3,endColumn=11,title=unknown-field::"
    assert got[0] == f"{want}spec.endpoint: is not a field; did you mean endpoints?"
    assert got[-1] == "1 object: 2 errors, 0 warnings"


def test_a_text_of_many_lines_stays_one_annotation() -> None:
    text = GOOD.replace("spec:", "spec: # \n ").replace("outside", '"a\\nb%"')

    [annotation, _] = run("--format", "github", "-", stdin=text).output.splitlines()

    assert annotation.startswith("::error file=<stdin>,line=3,endLine=3,col=18,endColumn=25,title=name::")


def test_no_files_is_a_mistake_of_usage() -> None:
    assert run().exit_code == 2


def test_an_object_that_is_there_twice_says_where_the_other_is(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "b.yaml").write_text(f"# copied\n{GOOD}")

    got = run(str(tmp_path))

    want = (
        f"{tmp_path}/b.yaml:4:18: error: metadata.name: appears twice: ModelEndpoint ml-team/outside; the other is at"
        f" {tmp_path}/a.yaml:3:18 [duplicate] (ModelEndpoint ml-team/outside)\n"
        "2 objects: 1 error, 0 warnings\n"
    )
    assert (got.exit_code, got.output) == (1, want)


NOTED = GOOD.replace('"}', '", auth: {secretRef: {name: key}}}')


@pytest.mark.parametrize(
    ("text", "arguments", "code"),
    [
        (GOOD, ["--strict"], 0),
        (NOTED, [], 0),
        (NOTED, ["--strict"], 0),
        (DOUBTFUL, [], 0),
        (DOUBTFUL, ["--strict"], 1),
        (DOUBTFUL, ["--strict", "-o", "json"], 1),
        (BROKEN, [], 1),
    ],
)
def test_strict_fails_on_warnings_and_not_on_notes(text: str, arguments: list[str], code: int) -> None:
    assert run("-", *arguments, stdin=text).exit_code == code


def test_a_note_is_counted_and_is_a_notice_on_github() -> None:
    want = "spec.auth.secretRef.name: names Secret key, but no Secret is given: this cannot be checked"
    text = run("-", stdin=NOTED).output.splitlines()
    github = run("-", "-o", "github", stdin=NOTED).output.splitlines()

    assert text == [
        f"<stdin>:4:65: note: {want} [unchecked] (ModelEndpoint ml-team/outside)",
        "1 object: 0 errors, 0 warnings, 1 note",
    ]
    assert github[0] == f"::notice file=<stdin>,line=4,endLine=4,col=65,endColumn=68,title=unchecked::{want}"


def test_an_excerpt_is_shown_when_asked_for(folder: Path) -> None:
    got = run("--excerpts", str(folder / "broken.yaml")).output.split("\n")

    assert got[1:4] == ["8 |   endpoint: []", "  |   ^^^^^^^^", ""]
    assert got[5:8] == ["10 |   - weight: 0", "   |             ^", ""]
    assert got[-2] == "1 object: 2 errors, 0 warnings"


def test_what_is_not_yaml_has_an_excerpt(folder: Path) -> None:
    (folder / "not-yaml.yaml").write_text("apiVersion: modelplane.ai/v1alpha1\na: b: c\n")
    got = run("--excerpts", str(folder / "not-yaml.yaml")).output.split("\n")

    assert got[1:3] == ["2 | a: b: c", "  |     ^"]


def test_an_annotation_over_lines_has_no_columns() -> None:
    """GitHub takes columns only of a region within one line."""
    text = GOOD.replace('url: "https://api.example.org"', 'url: "https://a\n b"')

    (annotation, *_) = run("--format", "github", "-", stdin=text).output.splitlines()
    assert annotation.startswith("::error file=<stdin>,line=4,endLine=5,title=value::")
