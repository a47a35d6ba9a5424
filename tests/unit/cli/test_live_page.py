"""What docs/live.md shows is what the commands print of the tour on a control cluster."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from function.main import main
from tests.support import live_fleets
from tests.support.api_server_standin import ApiServer, serving

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/live.md"
FORBIDDEN = 'modelreplicas is forbidden: User "alice" cannot list resource "modelreplicas"'
BLOCKS = re.findall(r"```text\n\$ (modelplane [^\n]*)\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The kubeconfig has a context without rights."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("function.cli.top._now", lambda: datetime(2024, 1, 1, 3, tzinfo=UTC))
    with serving(ApiServer()) as whole, serving(ApiServer()) as closed:
        for api in (whole, closed):
            live_fleets.serve(api, live_fleets.settled("tour"))
        closed.refuses["/apis/modelplane.ai/v1alpha1/modelreplicas"] = 403
        config = json.loads(whole.kubeconfig(tmp_path / "config").read_text())
        config["clusters"].append({"name": "closed", "cluster": {"server": closed.url}})
        config["contexts"].append({"name": "forbidden", "context": {"cluster": "closed", "user": "me"}})
        (tmp_path / "config").write_text(json.dumps(config))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
        monkeypatch.setattr(
            "tests.support.api_server_standin._Handler._status",
            lambda self, code, _: self._json(code, {"kind": "Status", "code": code, "message": FORBIDDEN}),
        )
        yield


def printed(command: str) -> str:
    """What a command prints, with the address and the file of the page."""
    got = CliRunner().invoke(main, shlex.split(command)[1:])
    text = re.sub(r"http://127\.0\.0\.1:[0-9]+", "https://control.example.org", got.stdout + got.stderr)
    return re.sub(r"(?<= of )\S+/config\b", "~/.kube/config", text)


@pytest.mark.slow
@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize(("command", "excerpt"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_the_page_shows_the_first_lines_that_are_printed(command: str, excerpt: str) -> None:
    wanted = excerpt.removesuffix("...\n")

    assert wanted.strip()
    assert printed(command).startswith(wanted)


def test_something_is_shown() -> None:
    assert len(BLOCKS) >= 4
