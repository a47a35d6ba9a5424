"""Weights are staged completely or not at all, whatever the hub, the network and the volume do."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from function.hydrate import hub as hubs
from function.hydrate.stage import MARKER, stage
from function.vocabulary.exit_codes import ExitCode
from tests.support.hub_standin import REPO, Fault, Hub, serving

WEIGHTS = {
    "config.json": b'{"model_type": "qwen3"}',
    "tokenizer.json": b"{}",
    "model-00001-of-00002.safetensors": bytes(range(256)) * 4000,
    "model-00002-of-00002.safetensors": b"\1" * 300_000,
}
NOISE = {"pytorch_model.bin": b"twice", "model.gguf": b"again", "original/consolidated.00.pth": b"thrice"}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving(Hub({**WEIGHTS, **NOISE})) as served:
        yield served


def run(hub: Hub, to: Path, *, revision: str = "main", token: str | None = None) -> ExitCode:
    client = hubs.Hub(REPO, revision, token=token, endpoint=hub.url)
    return stage(client, to=to, say=lambda _: None).exit_code


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != MARKER}


def test_everything_that_an_engine_loads_is_staged_and_nothing_else(hub: Hub, tmp_path: Path) -> None:
    to = tmp_path / "main-1"

    assert run(hub, to) is ExitCode.STAGED

    assert contents(to) == WEIGHTS
    want = {"revision": "main", "commit": hub.commit, "files": 4, "bytes": sum(map(len, WEIGHTS.values()))}
    assert json.loads((to / MARKER).read_text()) == want


def test_what_is_staged_is_not_asked_for_again(hub: Hub, tmp_path: Path) -> None:
    to = tmp_path / "main-1"
    run(hub, to)
    hub.gets.clear()

    assert run(hub, to) is ExitCode.STAGED
    assert not hub.gets


def test_other_users_may_read_it(hub: Hub, tmp_path: Path) -> None:
    to = tmp_path / "main-1"
    run(hub, to)

    modes = {oct(p.stat().st_mode & 0o777) for p in to.iterdir() if p.is_file()}
    assert modes == {"0o644"}


@pytest.mark.parametrize(
    ("path", "fault", "want"),
    [
        ("revision", Fault(401, "RepoNotFound"), ExitCode.NOT_FOUND),
        ("revision", Fault(404, "RepoNotFound"), ExitCode.NOT_FOUND),
        ("revision", Fault(403, "GatedRepo"), ExitCode.GATED),
        ("revision", Fault(403), ExitCode.GATED),
        ("revision", Fault(404, "RevisionNotFound"), ExitCode.NO_REVISION),
        ("revision", Fault(429), ExitCode.RETRY),
        ("revision", Fault(500), ExitCode.RETRY),
        ("revision", Fault(503), ExitCode.RETRY),
        ("tree", Fault(401, "RepoNotFound"), ExitCode.NOT_FOUND),
        ("tree", Fault(403, "GatedRepo"), ExitCode.GATED),
    ],
)
def test_what_the_hub_refuses_ends_with_its_own_code(
    hub: Hub, tmp_path: Path, path: str, fault: Fault, want: ExitCode
) -> None:
    hub.faults = {path: [fault]}

    assert run(hub, tmp_path / "main-1") is want
    assert not (tmp_path / "main-1").exists()


@pytest.mark.parametrize("path", ["config.json", "model-00001-of-00002.safetensors"])
def test_a_refused_file_leaves_nothing_under_the_name(hub: Hub, tmp_path: Path, path: str) -> None:
    """The client exits well in some of these cases when the directory is not empty: nobody may take that for staged."""
    hub.faults = {path: [Fault(403, "GatedRepo")]}

    assert run(hub, tmp_path / "main-1") is ExitCode.GATED
    assert not (tmp_path / "main-1").exists()


def test_a_token_is_sent_and_only_that(hub: Hub, tmp_path: Path) -> None:
    hub.token = "hf_right"

    assert run(hub, tmp_path / "a", token="hf_wrong") is ExitCode.NOT_FOUND
    assert run(hub, tmp_path / "b") is ExitCode.NOT_FOUND
    assert run(hub, tmp_path / "c", token="hf_right") is ExitCode.STAGED


@pytest.mark.slow
def test_a_cut_connection_is_taken_up_again(hub: Hub, tmp_path: Path) -> None:
    hub.faults = {"model-00001-of-00002.safetensors": [Fault(cut_after=200_000)]}

    assert run(hub, tmp_path / "main-1") is ExitCode.STAGED
    assert contents(tmp_path / "main-1") == WEIGHTS


@pytest.mark.slow
def test_a_hub_that_stumbles_is_asked_again(hub: Hub, tmp_path: Path) -> None:
    hub.faults = {"tree": [Fault(503)], "model-00001-of-00002.safetensors": [Fault(429)]}

    assert run(hub, tmp_path / "main-1") is ExitCode.STAGED
    assert contents(tmp_path / "main-1") == WEIGHTS


@pytest.mark.parametrize("path", ["tokenizer.json", "model-00002-of-00002.safetensors"])
def test_content_that_is_not_the_hubs_is_never_staged(hub: Hub, tmp_path: Path, path: str) -> None:
    """As long as it should be, and answered well: only the hash tells. The next try gets it right."""
    wrong = b"\2" * len(WEIGHTS[path])
    hub.faults = {path: [Fault(content=wrong)]}

    assert run(hub, tmp_path / "main-1") is ExitCode.RETRY
    assert not (tmp_path / "main-1").exists()
    assert run(hub, tmp_path / "main-1") is ExitCode.STAGED
    assert contents(tmp_path / "main-1") == WEIGHTS


def test_a_try_goes_on_where_the_last_one_ended(hub: Hub, tmp_path: Path) -> None:
    hub.faults = {"model-00002-of-00002.safetensors": [Fault(content=b"\2" * 300_000)]}
    run(hub, tmp_path / "main-1")
    hub.gets.clear()

    run(hub, tmp_path / "main-1")

    assert hub.gets == {"revision": 1, "tree": 1, "model-00002-of-00002.safetensors": 1}


def test_a_branch_that_moved_between_two_tries_is_not_mixed(hub: Hub, tmp_path: Path) -> None:
    hub.faults = {"model-00002-of-00002.safetensors": [Fault(content=b"\2" * 300_000)]}
    run(hub, tmp_path / "main-1")
    hub.commit, moved = "b" * 40, {"config.json": b'{"model_type": "qwen4"}', "model.safetensors": b"new"}
    hub.files = moved

    assert run(hub, tmp_path / "main-1") is ExitCode.STAGED
    assert contents(tmp_path / "main-1") == moved


def test_a_volume_that_is_too_small_is_told_of_before_the_download(hub: Hub, tmp_path: Path) -> None:
    path = "model-00001-of-00002.safetensors"
    hub.sizes = {path: 2**60}

    assert run(hub, tmp_path / "main-1") is ExitCode.NO_ROOM
    assert not hub.gets[path]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_volume_that_fills_up_is_no_reason_to_try_again(code: int) -> None:
    assert hubs.exit_code(OSError(code, os.strerror(code))) is ExitCode.NO_ROOM


@pytest.mark.parametrize("said", ["IO Error: No space left on device (os error 28)", "Disk quota exceeded"])
def test_a_volume_that_fills_up_is_known_by_what_the_xet_client_says(said: str) -> None:
    """It raises errors without a number, and the hub's client raises others from them."""
    outer = ValueError("download failed")
    outer.__cause__ = RuntimeError(said)

    assert hubs.exit_code(outer) is ExitCode.NO_ROOM


def test_a_file_that_nobody_checked_is_not_fetched_again_and_needs_no_room(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A try was killed while it checked the last file, on a volume that has no room for a second copy of it."""
    hub.faults = {"model-00002-of-00002.safetensors": [Fault(content=b"\2" * 300_000)]}
    run(hub, tmp_path / "main-1")
    work = tmp_path / ".modelplane-work" / f"main-1-{hub.commit}"
    ledger = work / ".modelplane-checked"
    ledger.write_text("".join(line for line in ledger.open() if "model-00001" not in line))
    hub.gets.clear()
    room = 300_000 + 2**26
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(room, 0, room))  # type: ignore[attr-defined]  # what it returns

    assert run(hub, tmp_path / "main-1") is ExitCode.STAGED
    assert hub.gets == {"revision": 1, "tree": 1, "model-00002-of-00002.safetensors": 1}


def test_what_was_begun_for_another_revision_leaves_the_volume(hub: Hub, tmp_path: Path) -> None:
    hub.faults = {"config.json": [Fault(403, "GatedRepo")]}
    run(hub, tmp_path / "main-1")

    assert run(hub, tmp_path / "v2-2", revision="v2") is ExitCode.STAGED
    assert not list((tmp_path / ".modelplane-work").iterdir())


def test_what_is_staged_stays_beside_another_revision(hub: Hub, tmp_path: Path) -> None:
    run(hub, tmp_path / "main-1")
    hub.commit, hub.files = "b" * 40, {"model.safetensors": b"new"}

    assert run(hub, tmp_path / "v2-2", revision="v2") is ExitCode.STAGED
    assert (contents(tmp_path / "main-1"), contents(tmp_path / "v2-2")) == (WEIGHTS, hub.files)


@pytest.mark.parametrize("path", ["../outside.safetensors", "/etc/outside.safetensors", "a/../../outside.bin"])
def test_a_hub_that_lists_what_is_no_file_of_it_is_not_believed(tmp_path: Path, path: str) -> None:
    with serving(Hub({"model.safetensors": b"w", path: b"x"})) as hub:
        assert run(hub, tmp_path / "volume" / "main-1") is ExitCode.INVALID
        assert not hub.gets[path]
    assert not (tmp_path / "volume").exists()


def test_files_that_would_be_taken_for_ours_are_left_out(tmp_path: Path) -> None:
    files = {"model.safetensors": b"w", ".cache/a.safetensors": b"x", ".modelplane.json": b"{}"}
    with serving(Hub(files)) as hub:
        assert run(hub, tmp_path / "main-1") is ExitCode.STAGED
    assert contents(tmp_path / "main-1") == {"model.safetensors": b"w"}


@pytest.mark.slow
@pytest.mark.parametrize(("path", "want"), [("revision", ExitCode.RETRY), ("tree", ExitCode.STAGED)])
def test_a_hub_that_falls_silent_is_not_waited_for_all_day(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, want: ExitCode
) -> None:
    """The client asks for a tree again by itself, and for a revision it does not: that is the next try's."""
    monkeypatch.setattr(hubs, "_PATIENCE", 0.5)
    hub.faults = {path: [Fault(stall_after=2)]}

    assert run(hub, tmp_path / "main-1") is want


@pytest.mark.slow
def test_a_file_that_stalls_is_taken_up_again(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DOWNLOAD_TIMEOUT", 0.5)
    hub.faults = {"model-00001-of-00002.safetensors": [Fault(stall_after=200_000)]}

    assert run(hub, tmp_path / "main-1") is ExitCode.STAGED
    assert contents(tmp_path / "main-1") == WEIGHTS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("revision", Fault(401, "RepoNotFound")),
        ("revision", Fault(500)),
        ("tree", Fault(403, "GatedRepo")),
        ("config.json", Fault(403)),
        ("model-00001-of-00002.safetensors", Fault(content=b"other")),
    ],
)
def test_a_token_is_never_told(hub: Hub, tmp_path: Path, path: str, fault: Fault) -> None:
    """Neither in the log, nor in what is left on the volume."""
    hub.token, hub.faults = "hf_secret", {path: [fault]}
    env = _env(hub, tmp_path) | {"HF_TOKEN": "hf_secret", "HF_DEBUG": ""}

    ended = subprocess.run(
        _command(tmp_path / "volume" / "x"), env=env, capture_output=True, text=True, timeout=60, check=False
    )

    left = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert ended.returncode != ExitCode.STAGED
    assert "hf_secret" not in ended.stdout + ended.stderr
    assert b"hf_secret" not in left


def test_a_repository_without_weights_is_nothing_to_stage(tmp_path: Path) -> None:
    with serving(Hub({"README.md": b"soon", "model.gguf": b"only this"})) as hub:
        assert run(hub, tmp_path / "main-1") is ExitCode.NOTHING


def test_bin_weights_are_staged_where_there_are_no_others(tmp_path: Path) -> None:
    files = {"config.json": b"{}", "pytorch_model.bin": b"old but ours"}
    with serving(Hub(dict(files))) as hub:
        assert run(hub, tmp_path / "main-1") is ExitCode.STAGED
    assert contents(tmp_path / "main-1") == files


def test_a_directory_of_somebody_elses_is_left_alone(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")

    assert run(hub, tmp_path) is ExitCode.INVALID
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_hub_that_nobody_reaches_is_tried_again(tmp_path: Path) -> None:
    with serving(Hub({})) as hub:
        pass

    assert run(hub, tmp_path / "main-1") is ExitCode.RETRY


@pytest.mark.slow
def test_a_killed_pod_leaves_nothing_under_the_name_and_the_next_one_finishes(hub: Hub, tmp_path: Path) -> None:
    """SIGKILL in the middle of a shard. The file that was there is not fetched again."""
    to, shard = tmp_path / "main-1", "model-00001-of-00002.safetensors"
    hub.faults = {shard: [Fault(stall_after=100_000)]}
    first = subprocess.Popen(_command(to), env=_env(hub, tmp_path), stderr=subprocess.PIPE, text=True)
    assert hub.stalled.wait(60)
    assert first.stderr is not None
    for line in first.stderr:
        if line.startswith("model-00002"):
            break
    first.send_signal(signal.SIGKILL)
    first.wait(60)
    assert not to.exists()
    hub.released.set()
    hub.gets.clear()

    second = subprocess.run(
        _command(to), env=_env(hub, tmp_path), capture_output=True, text=True, timeout=60, check=False
    )

    assert second.returncode == ExitCode.STAGED, second.stderr
    assert contents(to) == WEIGHTS
    assert hub.gets["model-00002-of-00002.safetensors"] == 0


def test_the_command_ends_with_the_code_that_the_control_plane_reads(hub: Hub, tmp_path: Path) -> None:
    hub.faults = {"revision": [Fault(404, "RevisionNotFound")]}

    ended = subprocess.run(
        _command(tmp_path / "x"), env=_env(hub, tmp_path), capture_output=True, text=True, timeout=60, check=False
    )

    assert (ended.returncode, ended.stdout) == (ExitCode.NO_REVISION, "")
    assert "the repository has no such revision" in ended.stderr


def _command(to: Path) -> list[str]:
    program = Path(sys.executable).parent / "modelplane"
    return [str(program), "hydrate", f"--repo={REPO}", "--revision=main", f"--to={to}"]


def _env(hub: Hub, home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "HF_HOME": str(home / "huggingface"),
        "HF_ENDPOINT": hub.url,
    }
