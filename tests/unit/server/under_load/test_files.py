"""A real server whose certificates cannot be read or used, and one that may write no file at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme

from tests.support import certificates as certificates_of
from tests.support import load, rights
from tests.support.serving import Server, running
from tests.unit.server.test_probes import HTTP
from tests.unit.server.test_server import channel
from tests.unit.server.under_load.test_faults import _steps as request
from tests.unit.server.under_load.test_memory import gauge

pytestmark = pytest.mark.slow

_BOUND = 120
Spoil = Callable[[Path], object]


def replaced(path: Path, by: Spoil) -> None:
    path.unlink()
    by(path)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


def of_another_type(path: Path) -> None:
    path.write_bytes(trustme.CA().issue_cert("a", key_type=trustme.KeyType.RSA).private_key_pem.bytes())


SPOILED: dict[str, tuple[Spoil, str]] = {
    "key without permission": (lambda to: (to / "tls.key").chmod(0), "{to}/tls.key: Permission denied"),
    "certificate without permission": (lambda to: (to / "tls.crt").chmod(0), "{to}/tls.crt: Permission denied"),
    "folder without permission": (lambda to: to.chmod(0), "{to}/tls.key: Permission denied"),
    "directory": (lambda to: replaced(to / "tls.crt", Path.mkdir), "{to}/tls.crt: it is not a regular file"),
    "pipe": (lambda to: replaced(to / "tls.key", os.mkfifo), "{to}/tls.key: it is not a regular file"),
    "dangling link": (
        lambda to: replaced(to / "ca.crt", lambda path: path.symlink_to("nowhere")),
        "{to}/ca.crt: No such file or directory",
    ),
    "link to itself": (
        lambda to: replaced(to / "ca.crt", lambda path: path.symlink_to("ca.crt")),
        "{to}/ca.crt: Too many levels of symbolic links",
    ),
    "truncated certificate": (
        lambda to: truncated(to / "tls.crt"),
        "{to}/tls.crt: it contains something other than PEM certificates",
    ),
    "truncated key": (
        lambda to: truncated(to / "tls.key"),
        "{to}/tls.key: it contains no PEM private key without a password",
    ),
    "garbage": (
        lambda to: (to / "tls.crt").write_bytes(os.urandom(500)),
        "{to}/tls.crt: it contains something other than PEM certificates",
    ),
    "key of another certificate": (
        lambda to: (to / "tls.key").write_bytes(trustme.CA().issue_cert("a").private_key_pem.bytes()),
        "{to}/tls.key: it is not the key of tls.crt",
    ),
    "key of another type": (lambda to: of_another_type(to / "tls.key"), "{to}/tls.key: it is not the key of tls.crt"),
    "empty authority": (
        lambda to: (to / "ca.crt").write_bytes(b""),
        "{to}/ca.crt: it is empty, and must contain PEM certificates",
    ),
}


def sound(folder: Path, name: str) -> Path:
    """A new folder with new certificates."""
    (folder / name).mkdir()
    return certificates_of.write(folder / name)


@pytest.mark.parametrize("case", SPOILED)
def test_a_server_that_cannot_use_its_certificates_tells_the_option_the_file_and_why(tmp_path: Path, case: str) -> None:
    spoil, why = SPOILED[case]
    folder = sound(tmp_path, "pki")
    spoil(folder)
    command = [sys.executable, "-m", "function", "serve", "--address", "127.0.0.1:0", "--tls-certs-dir", str(folder)]
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=_BOUND,
        preexec_fn=rights.obey_permissions,
    )
    folder.chmod(0o700)
    said = f"Error: cannot serve: --tls-certs-dir: {why.format(to=folder)}\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", said)


def test_a_running_server_keeps_its_certificates_until_it_can_use_the_next(tmp_path: Path) -> None:
    """Through every fault, one after the other, each of which it tells once."""
    mounted, used = tmp_path / "mounted", sound(tmp_path, "first")
    mount(mounted, used)
    options = ("--tls-certs-dir", str(mounted), *HTTP)
    with running(*options, module="tests.support.odd_server", first=rights.obey_permissions) as server:
        for case, (spoil, why) in SPOILED.items():
            spoiled = sound(tmp_path, case)
            spoil(spoiled)
            mount(mounted, spoiled)
            assert all(answered(server, used) for _ in range(3)), case
            assert kept(server)[-1] == why.format(to=mounted)
            assert gauge(server, "modelplane_certificates_refused") == 1
            spoiled.chmod(0o700)
            used = sound(tmp_path, f"after {case}")
            mount(mounted, used)
            assert answered(server, used), case
            assert gauge(server, "modelplane_certificates_refused") == 0
        assert len(kept(server)) == len(SPOILED)
        assert server.stop() == 0


def test_certificates_that_can_be_read_again_are_refused_no_more(tmp_path: Path) -> None:
    mounted, used = tmp_path / "mounted", sound(tmp_path, "first")
    mount(mounted, used)
    options = ("--tls-certs-dir", str(mounted), *HTTP)
    with running(*options, module="tests.support.odd_server", first=rights.obey_permissions) as server:
        (used / "tls.key").chmod(0)
        assert gauge(server, "modelplane_certificates_refused") == 1
        (used / "tls.key").chmod(0o600)
        assert answered(server, used)
        assert gauge(server, "modelplane_certificates_refused") == 0
        assert not [line for line in server.log.read_text().splitlines() if "Took new certificates" in line]


def mount(mounted: Path, folder: Path) -> None:
    """Let a path lead to a folder, in one step."""
    link = mounted.with_name("next")
    link.symlink_to(folder)
    link.rename(mounted)


def answered(server: Server, folder: Path) -> bool:
    with channel(folder, server.port) as to:
        return bool(to.unary_unary(load.RUN)(request(), timeout=_BOUND))


def kept(server: Server) -> list[str]:
    """Why certificates were kept, as the log tells."""
    lines = map(json.loads, server.log.read_text().splitlines())
    return [line["problem"] for line in lines if line["msg"] == "Kept the certificates"]
