"""Helm charts, templates, patches and overlays: what another tool renders is not read, and its command is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from function.main import main

ENDPOINT = """apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {name: outside, namespace: ml-team}
spec: {url: "https://api.example.org"}
"""
PATCH = "apiVersion: modelplane.ai/v1alpha1\nkind: ModelEndpoint\nmetadata: {name: outside}\n"
TEMPLATE = "apiVersion: modelplane.ai/v1alpha1\nkind: ModelEndpoint\nmetadata: {name: {{ .Values.name }}}\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(**files: str) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("command", ["plan", "validate"])
def test_the_templates_of_a_chart_are_skipped_and_the_command_is_told(root: Path, command: str) -> None:
    write(**{"a.yaml": ENDPOINT, "my chart/Chart.yaml": "name: x\n", "my chart/templates/deep/x.yaml": TEMPLATE})

    got = run(command, ".")

    note = (
        "my chart: the templates of this Helm chart were skipped;"
        f" render it first: helm template 'my chart' | modelplane {command} -\n"
    )
    assert (got.exit_code, note in got.output, "templates of Helm (1)" in got.output) == (0, True, True), got.output


@pytest.mark.parametrize("path", ["chart/templates/x.yaml", "chart/templates", "chart"])
def test_nothing_but_templates_is_an_error(root: Path, path: str) -> None:
    write(**{"chart/Chart.yaml": "name: x\n", "chart/templates/x.yaml": TEMPLATE})

    got = run("validate", path)

    assert (got.exit_code, "helm template chart | modelplane validate -" in got.output) == (1, True), got.output


@pytest.mark.parametrize(
    "text", [TEMPLATE, f"{{{{- if .Values.on }}}}\n{PATCH}{{{{- end }}}}\n", f"{{% if on %}}\n{PATCH}{{% endif %}}\n"]
)
def test_a_template_outside_of_a_chart_is_called_one(root: Path, text: str) -> None:
    write(**{"x/a.yaml": text})

    got = run("validate", "x")

    want = "a template, not YAML; render it first: helm template CHART | modelplane validate -"
    assert (got.exit_code, want in got.output) == (1, True), got.output


def test_braces_in_a_text_are_no_template(root: Path) -> None:
    write(**{"a.yaml": PATCH + "spec:\n  chat: '{{ messages[0] }}'\n\tb: c\n"})

    assert "a tab cannot indent YAML" in run("validate", "a.yaml").output


KUSTOMIZED = {
    "base/endpoint.yaml": ENDPOINT,
    "base/kustomization.yaml": "resources: [endpoint.yaml]\n",
    "prod/kustomization.yaml": (
        "resources: [../base]\npatches:\n- path: patch.yaml\n- {path: ops.yaml, target: {kind: ModelEndpoint}}\n"
    ),
    "prod/patch.yaml": PATCH,
    "prod/ops.yaml": "- {op: replace, path: /spec/url, value: x}\n",
}


@pytest.mark.parametrize("command", ["plan", "validate"])
def test_patches_are_skipped_and_the_command_is_told(root: Path, command: str) -> None:
    write(**KUSTOMIZED)

    got = run(command, ".")

    note = f"prod: patches of Kustomize were skipped; render it first: kustomize build prod | modelplane {command} -\n"
    assert (got.exit_code, note in got.output, "patches of Kustomize (2)" in got.output) == (0, True, True), got.output


def test_a_folder_of_patches_is_known_by_the_kustomization_above_it(root: Path) -> None:
    write(**KUSTOMIZED, **{"qa/kustomization.yaml": "patches: [{path: deep/p.yaml}]\n", "qa/deep/p.yaml": PATCH})

    got = run("validate", "qa/deep", "base")

    assert (got.exit_code, "kustomize build qa | modelplane" in got.output) == (0, True), got.output


def test_a_patch_that_is_named_is_an_error(root: Path) -> None:
    write(**KUSTOMIZED)

    got = run("validate", "prod/patch.yaml", "base/endpoint.yaml")

    want = "a patch of Kustomize; render it first: kustomize build prod | modelplane validate -"
    assert (got.exit_code, want in got.output) == (1, True), got.output


def test_a_patch_of_a_foreign_kind_needs_no_advice(root: Path) -> None:
    write(
        **{"a.yaml": ENDPOINT, "x/kustomization.yaml": "patchesStrategicMerge: [p.yaml]\n", "x/p.yaml": "kind: Pod\n"}
    )

    assert run("validate", ".").output == "1 object: 0 errors, 0 warnings; skipped: patches of Kustomize (1)\n"


@pytest.mark.parametrize(
    "text", ["a: [", "patches: 5", "patches: [5, {path: [x]}]", "- x", "", "patches: [{patch: x}]"]
)
def test_a_kustomization_of_any_shape_stops_nothing(root: Path, text: str) -> None:
    write(**{"a.yaml": ENDPOINT, "kustomization.yaml": text})

    assert run("validate", ".").exit_code == 0


def test_a_pipe_in_the_place_of_a_kustomization_blocks_nothing(root: Path) -> None:
    write(**{"a.yaml": ENDPOINT})
    os.mkfifo("kustomization.yaml")

    assert run("validate", ".").exit_code == 0


def test_overlays_of_one_object_are_checked_one_at_a_time(root: Path) -> None:
    """Each with what it builds upon: the second priority of the service in prod finds its endpoint in the base."""
    extra = ENDPOINT.replace("outside", "extra")
    overlay = "resources: [../base, extra.yaml]\n"
    write(**{"base/kustomization.yaml": "resources: [endpoint.yaml]\n", "base/endpoint.yaml": ENDPOINT})
    write(**{f"{name}/{file}": text for name in ("dev", "prod") for file, text in
             {"kustomization.yaml": overlay, "extra.yaml": extra.replace("api.", f"{name}.")}.items()})  # fmt: skip

    got, planned = run("validate", "."), run("plan", ".")

    note = "checked one at a time, because they define the same objects: dev, prod\n"
    assert (got.exit_code, got.output) == (0, f"3 objects: 0 errors, 0 warnings\n{note}")
    assert (planned.exit_code, "appears twice" in planned.output) == (1, True)


def test_findings_of_an_overlay_are_those_of_its_objects(root: Path) -> None:
    """A duplicate in one folder stays one, and a fault of a shared object is told once."""
    doubtful = ENDPOINT.replace("api.example.org", "qwen.ml-team.svc")
    write(**{f"{name}/{file}": text for name in ("dev", "prod") for file, text in
             {"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": ENDPOINT}.items()})  # fmt: skip
    write(**{"prod/b.yaml": ENDPOINT, "shared.yaml": doubtful.replace("outside", "shared")})

    got = run("validate", ".").output.splitlines()

    want = ["prod/b.yaml:3:18: error: metadata.name: appears twice", "shared.yaml:4:13: warning: spec.url: points into"]
    assert ([line.startswith(start) for line, start in zip(got, want, strict=False)], len(got)) == ([True, True], 4), (
        got
    )


def test_folders_that_may_be_overlays_are_told_the_remedy(root: Path) -> None:
    write(**{"deploy/dev/a.yaml": ENDPOINT, "deploy/prod/a.yaml": ENDPOINT})

    got = run("validate", "deploy")
    remedied = run("validate", "deploy", "--exclude", "deploy/prod/")

    want = (
        "deploy/prod/a.yaml:3:18: error: metadata.name: appears twice: ModelEndpoint ml-team/outside; the other is at"
        " deploy/dev/a.yaml:3:18; if deploy/dev and deploy/prod are alternatives, name one of them, or use"
        " --exclude deploy/prod/ [duplicate]"
    )
    assert (got.exit_code, got.output.startswith(want), remedied.exit_code) == (1, True, 0), got.output
