"""An excerpt shows no text that may be a secret: no message repeats it either."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from function.main import main

KEY = "sk-Not_To_Be_Seen"
CALLER = """apiVersion: modelplane.ai/v1alpha1
kind: ModelCaller
metadata: {{name: eval, namespace: ml-team}}
spec:
  keys:
  - secretRef: {}
"""
ENDPOINT = """apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {{name: outside, namespace: ml-team}}
spec: {}
"""


def shown(text: str, folder: Path) -> str:
    (folder / "a.yaml").write_text(text)
    return CliRunner().invoke(main, ["validate", "--excerpts", str(folder)]).output


@pytest.mark.parametrize(
    "text",
    [
        CALLER.format(f"{{name: {KEY}}}"),
        CALLER.format(f"{{name: eval, key: {KEY}!}}"),
        CALLER.format(f"{{name: eval, value: {KEY}}}"),
        CALLER.format(f"{KEY}"),
        ENDPOINT.format(f"{{url: 'https://api.example.org/v1?key={KEY}'}}"),
        ENDPOINT.format(f"{{url: 'https://me:{KEY}@api.example.org/v1'}}"),
        ENDPOINT.format(f"{{url: 'https://api.example.org/v1', auth: {KEY}}}"),
        ENDPOINT.format(f"{{urls: 'https://api.example.org/v1', auth: {{token: {KEY}}}}}"),
        f"apiVersion: modelplane.ai/v1alpha1\n---\nkind: Secret\ndata: {{a: b: {KEY}}}",
        f"password: b: {KEY}",
    ],
)
def test_what_may_be_a_secret_is_not_shown(text: str, tmp_path: Path) -> None:
    got = shown(text, tmp_path)

    assert "error: " in got
    assert KEY not in got


def test_the_rest_of_the_line_is_shown(tmp_path: Path) -> None:
    got = shown(CALLER.format(f"{{name: {KEY}}}"), tmp_path).splitlines()

    assert got[1:3] == ["6 |   - secretRef: {name: …", "  |                       ^"]
