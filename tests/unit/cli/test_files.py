"""Manifests on disk: what is read, where it stands, and what a broken file says."""

from __future__ import annotations

import io
import json
import math
import os
from pathlib import Path

import pytest

from function.cli import files
from function.cli.values import BrokenFile, Position

CONFIG = """# A comment.
apiVersion: v1
kind: ConfigMap
metadata:
  name: one
data:
  list:
  - a: x
    b: [1, 2]
---
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Secret
  metadata: {name: two, namespace: ml-team}
"""


def test_reads_every_document_and_every_item_of_a_list() -> None:
    got = [(found.kind, str(found.identity), found.source.line) for found in files.parse(CONFIG, "f.yaml")]

    want = [(("v1", "ConfigMap"), "one", 2), (("v1", "Secret"), "ml-team/two", 15)]
    assert got == want


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ((), "f.yaml:2:1"),
        (("metadata", "name"), "f.yaml:5:9"),
        (("data", "list", 0, "b", 1), "f.yaml:9:12"),
        (("data", "missing", "below"), "f.yaml:7:3"),
    ],
)
def test_a_field_knows_its_place(path: tuple[str | int, ...], want: str) -> None:
    """Where the path ends early, the last part of it that exists."""
    assert files.parse(CONFIG, "f.yaml")[0].source.at(path) == want


def test_the_name_of_a_field_has_a_place_of_its_own() -> None:
    source = files.parse(CONFIG, "f.yaml")[1].source

    got = source.region_of_key(("metadata", "namespace")).start, source.position(("metadata", "namespace"))

    assert got == (Position(17, 25), Position(17, 36))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a: 1\n\tb: 2\n", "f.yaml:2:1: a tab cannot indent YAML; use spaces"),
        ("kind: X\nkind: Y\n", 'f.yaml:2:1: field "kind" appears twice; the first is in line 1'),
        (
            "apiVersion: v1\nkind: X\napiVersion: v1\nkind: Y\n",
            (
                'f.yaml:3:1: field "apiVersion" appears twice; the first is in line 1;'
                " between two objects stands a line with ---"
            ),
        ),
        ("a: [1\n", "f.yaml:1:4: the bracket [ that opens here is never closed"),
        ("- 1\n", "f.yaml:1:1: not a Kubernetes object, which is a mapping with apiVersion, kind and metadata"),
        ("kind: X\nmetadata: {name: a}\n", "f.yaml:1:1: apiVersion is missing"),
        ("apiVersion: v1\nkind: X\n", "f.yaml:1:1: metadata is missing"),
        ("apiVersion: v1\nkind: X\nmetadata:\n  labels: {}\n", "f.yaml:4:3: metadata.name is missing"),
        (
            "apiVersion: v1\nkind: X\nmetadata:\n  name: 5\n",
            "f.yaml:4:9: metadata.name must be text (in quotes where it looks like a number)",
        ),
        (
            "a: !!python/name:os.system 1\n",
            "f.yaml:1:4: tag tag:yaml.org,2002:python/name:os.system has no meaning in a manifest",
        ),
        (
            "kind: X\napiVersion: v1\nmetadata: {name: a, namespace: 5}\n",
            "f.yaml:3:32: metadata.namespace must be text (in quotes where it looks like a number)",
        ),
        (
            "kind: X\napiVersion: v1\nmetadata: {name: a, labels: [b]}\n",
            "f.yaml:3:29: metadata.labels must be a mapping",
        ),
        ("kind: List\napiVersion: v1\nitems: {}\n", "f.yaml:3:8: items is missing, or no list"),
        ("a: &x [*x]\n", "f.yaml:1:4: more than 200 levels deep"),
        ("a: " + "[" * 250 + "]" * 250, "f.yaml:1:203: more than 200 levels deep"),
        ("? [a]\n: 1\n", "f.yaml:1:3: a field's name must be text"),
        (
            "a: \x01\n",
            "f.yaml:1:4: character 0x01 cannot be in YAML; write it as \\x01 in double quotes, or remove it",
        ),
        ("[" * 5000, "f.yaml:1:1001: nested too deeply"),
    ],
)
def test_what_is_broken_names_file_line_and_column(text: str, want: str) -> None:
    with pytest.raises(BrokenFile) as got:
        files.parse(text, "f.yaml")
    assert str(got.value) == want


def test_scalars_are_read_as_kubernetes_reads_them() -> None:
    """A time stays text, and so does what YAML 1.1 would take for one; octal and exponents are numbers."""
    text = "v: [2024-01-01T00:00:00Z, 1:30, 0644, 0x10, 1e3, on, 'on', ~, 1.5]"

    (document,) = list(files.parse(f"apiVersion: v1\nkind: X\nmetadata: {{name: a}}\n{text}\n", "f.yaml"))

    want = ["2024-01-01T00:00:00Z", "1:30", 420, 16, 1000.0, True, "on", None, 1.5]
    assert document.manifest["v"] == want


@pytest.mark.parametrize("end", ["\r", "\x85", "\u2028", "\r\n"])
def test_lines_end_as_yaml_says(end: str) -> None:
    """A comment ends at other characters than a line feed too, and a document below it keeps its place."""
    got = files.parse(f"# a comment{end}{CONFIG}", "f.yaml")

    assert [(found.identity.name, found.source.at(("metadata", "name"))) for found in got] == [
        ("one", "f.yaml:6:9"),
        ("two", "f.yaml:18:20"),
    ]


def test_what_only_looks_like_a_number_is_text() -> None:
    """As Go reads it; and too many digits are more than any field takes."""
    text = f"v: [0x_, 0b_, -0o_, 0x1F, {'9' * 5000}]"

    (document,) = list(files.parse(f"apiVersion: v1\nkind: X\nmetadata: {{name: a}}\n{text}\n", "f.yaml"))

    assert document.manifest["v"] == ["0x_", "0b_", "-0o_", 31, math.inf]


def test_merged_fields_give_way_to_written_ones() -> None:
    text = "x: &x {a: 1, b: 1}\napiVersion: v1\nkind: X\nmetadata: {name: a}\nspec: {<<: *x, b: 2}\n"

    assert files.parse(text, "f.yaml")[0].manifest["spec"] == {"a": 1, "b": 2}


def test_json_is_read_tabs_escapes_and_all(tmp_path: Path) -> None:
    want = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}, "text": "\ttab 😀"}
    (tmp_path / "x.json").write_text(json.dumps(want, indent="\t"))

    assert [found.manifest for found in files.load([tmp_path])] == [want]


def test_json_values_may_stand_one_behind_the_other() -> None:
    """As jq prints the items of a list, on lines of their own or not; each keeps its place."""
    one, two = ({"apiVersion": "v1", "kind": "X", "metadata": {"name": name}} for name in ("a", "b"))
    text = f"{json.dumps(one, indent=2)}\n\n{json.dumps(two)} {json.dumps(one)}\n"

    got = [(found.identity.name, found.source.at(("kind",))) for found in files.parse(text, "-")]

    assert got == [("a", "-:3:11"), ("b", "-:9:30"), ("a", "-:9:91")]


def test_a_list_may_hold_lists_and_nothing() -> None:
    """Go writes a list without items as null."""
    inner = "{kind: List, apiVersion: v1, items: [{kind: X, apiVersion: v1, metadata: {name: a}}]}"
    text = f"kind: List\nitems:\n- {inner}\n---\nkind: XList\napiVersion: v1\nitems: null\n"

    assert [(found.identity.name, found.source.at(())) for found in files.parse(text, "f.yaml")] == [
        ("a", "f.yaml:3:40")
    ]


def test_what_is_broken_does_not_hide_what_stands_below_it(tmp_path: Path) -> None:
    ours = "apiVersion: modelplane.ai/v1alpha1\nkind: ModelCache\n"
    (tmp_path / "x.yaml").write_text(f"{ours}---\n{CONFIG}---\nkind: List\nitems: [5, {{kind: ModelCache}}]\n")

    loaded, broken = files.examine([tmp_path])

    got = [one.identity.name for one in loaded], [(b.position.line, b.problem) for b in broken if b.position]
    assert got == (["one", "two"], [(1, "metadata is missing"), (23, "apiVersion is missing")])


@pytest.mark.parametrize(
    ("content", "place", "want"),
    [
        ("a: b\nc: \u00fc ".encode() + b"\xfc", (2, 6), "byte 0xfc is not UTF-8; save the file as UTF-8"),
        ("a: b".encode("utf-16"), (1, 1), "the text is UTF-16; save the file as UTF-8"),
    ],
)
def test_what_is_not_text_says_where(tmp_path: Path, content: bytes, place: tuple[int, int], want: str) -> None:
    (tmp_path / "x.yaml").write_bytes(content)

    with pytest.raises(BrokenFile) as got:
        files.load([tmp_path / "x.yaml"])
    assert (got.value.position, got.value.problem) == (Position(*place), want)


def test_a_byte_order_mark_and_carriage_returns_are_no_fault(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xef\xbb\xbf" + CONFIG.replace("\n", "\r\n").encode())

    assert [(one.identity.name, one.source.line) for one in files.load([tmp_path])] == [("one", 2), ("two", 15)]


def test_a_pipe_is_a_file() -> None:
    """Such as a shell's <(…)."""
    read, write = os.pipe()
    os.write(write, CONFIG.encode())
    os.close(write)
    try:
        assert [found.identity.name for found in files.load([f"/dev/fd/{read}"])] == ["one", "two"]
    finally:
        os.close(read)


def test_a_folder_is_read_in_order_and_without_what_is_hidden(tmp_path: Path) -> None:
    for name in ("b.yaml", "a/z.yml", "a/c.json", ".git/x.yaml", "notes.txt", "kustomization.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        stem = Path(name).stem
        (tmp_path / name).write_text(f'{{"apiVersion": "v1", "kind": "X", "metadata": {{"name": "{stem}"}}}}')

    assert [found.identity.name for found in files.load([str(tmp_path)])] == ["c", "z", "b"]


def test_a_file_that_is_given_twice_is_read_once(tmp_path: Path) -> None:
    """By itself and with its folder, or under another name."""
    (tmp_path / "a.yaml").write_text(CONFIG)
    (tmp_path / "b.yaml").symlink_to("a.yaml")

    assert [found.identity.name for found in files.load([tmp_path / "a.yaml", tmp_path])] == ["one", "two"]


def test_standard_input_is_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CONFIG.encode())))

    assert [found.source.file for found in files.load(["-"])] == ["<stdin>", "<stdin>"]


@pytest.mark.parametrize(
    "text",
    ["a: [", "apiVersion: v1\nkind: Pod\n", "apiVersion: v1\nkind: Pod\nkind: Pod\n", "kind: List\napiVersion: v1\n"],
)
def test_where_foreign_kinds_matter_broken_ones_are_errors(tmp_path: Path, text: str) -> None:
    """As for what is converted, or composed from."""
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "values.yaml").write_text("a: b\n")

    assert ([b.place.partition(":")[0] for b in files.examine([tmp_path])[1]], files.read([tmp_path]).broken) == (
        [f"{tmp_path}/a.yaml"],
        [],
    )


def test_everything_that_is_broken_is_found_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("apiVersion: modelplane.ai/v1alpha1\na: [\n")
    (tmp_path / "b.yaml").write_bytes(b"apiVersion: modelplane.ai/v1alpha1 \xff")
    (tmp_path / "c.yaml").write_text(CONFIG)
    (tmp_path / "empty").mkdir()

    loaded, broken = files.examine([tmp_path, tmp_path / "empty", tmp_path / "gone"])

    got = len(loaded), [(Path(b.file).name, b.problem) for b in broken]
    want = [
        ("a.yaml", "a value is missing here"),
        ("b.yaml", "byte 0xff is not UTF-8; save the file as UTF-8"),
        ("empty", "no .yaml, .yml, .json files in this folder"),
        ("gone", "no such file or folder"),
    ]
    assert got == (2, want)
