"""Operator settings that must have a form."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from function.vocabulary import settings
from function.vocabulary.settings import Server


@pytest.mark.parametrize(
    ("setting", "want"),
    [
        ("", None),
        ("ratelimit.infra.svc:8081", Server("ratelimit.infra.svc", 8081)),
        ("ratelimit:1", Server("ratelimit", 1)),
        ("Rate-Limit.example.org:65535", Server("Rate-Limit.example.org", 65535)),
        ("192.0.2.1:8081", Server("192.0.2.1", 8081)),
        ("[2001:db8::1]:8081", Server("2001:db8::1", 8081)),
    ],
)
def test_a_rate_limit_server_is_a_host_and_a_port(
    setting: str, want: Server | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "RATELIMIT", setting)
    assert settings.rate_limit_server() == want


@pytest.mark.parametrize(
    "setting",
    [
        *("ratelimit", "ratelimit:", ":8081", "ratelimit:0", "ratelimit:08081", "ratelimit:65536", "ratelimit:grpc"),
        *("http://ratelimit:8081", "ratelimit:8081/", " ratelimit:8081", "ratelimit:8081\n", "rate_limit:8081"),
        *(
            "user@ratelimit:8081",
            "a..b:8081",
            "-a:8081",
            "a.:8081",
            f"{'a' * 64}:8081",
            "a:80:81",
            "10:8081",
            "\u212aube:8081",
        ),
        *("192.0.2.256:8081", "192.0.2:8081", "2001:db8::1:8081", "[2001:db8::1]", "[::g]:8081", "[192.0.2.1]:8081"),
    ],
)
def test_anything_else_is_refused_with_variable_value_and_what_is_accepted(
    setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "RATELIMIT", setting)
    with pytest.raises(settings.Invalid) as refused:
        settings.rate_limit_server()

    want = "must be the host and port of a gRPC rate-limit server, such as ratelimit.infra.svc:8081"
    assert str(refused.value) == f"MODELPLANE_RATELIMIT: {want}, not {setting!r}"


@pytest.mark.slow
def test_a_wrong_setting_stops_the_server_before_it_serves() -> None:
    command = [sys.executable, "-m", "function", "serve", "--insecure", "--address=127.0.0.1:0"]
    wrong = os.environ | {settings.RATELIMIT_VARIABLE: "http://ratelimit:8081"}

    got = subprocess.run(command, env=wrong, capture_output=True, text=True, check=False, timeout=120)

    assert got.returncode == 1
    assert "Error: MODELPLANE_RATELIMIT: must be the host and port" in got.stderr
    assert "Traceback" not in got.stderr
