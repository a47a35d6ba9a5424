"""Addresses to listen on, as people write them."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from function.cli.address import Address
from function.main import main
from function.probes import ListenAddress

ALL = "0.0.0.0"


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8080", "127.0.0.1", 8080),
        ("127.0.0.1", "127.0.0.1", 9443),
        ("127.0.0.1:0", "127.0.0.1", 0),
        (":8080", ALL, 8080),
        ("*:8080", ALL, 8080),
        ("8080", ALL, 8080),
        ("0.0.0.0", ALL, 9443),
        ("localhost", "localhost", 9443),
        ("localhost:65535", "localhost", 65535),
        ("my-host.example.org:80", "my-host.example.org", 80),
        ("[::1]:8080", "::1", 8080),
        ("[::1]", "::1", 9443),
        ("::1", "::1", 9443),
        ("::", "::", 9443),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", 9443),
        ("2001:db8:1:2:3:4:5:6:8080", "2001:db8:1:2:3:4:5:6", 8080),
        ("::ffff:127.0.0.1", "::ffff:127.0.0.1", 9443),
    ],
)
def test_what_can_be_read_in_one_way_is_taken(text: str, host: str, port: int) -> None:
    assert Address(9443).convert(text, None, None) == ListenAddress(host, port)


WRONG = [
    ("127.0.0.1:99999", "the port must be 0 to 65,535"),
    ("127.0.0.1:-1", "the port must be 0 to 65,535"),
    ("99999", "the port must be 0 to 65,535"),
    ("[::1]:99999", "the port must be 0 to 65,535"),
    ("::1:9443", "it may end in a port or not; write [::1]:9443 or [::1:9443]:"),
    ("[::g]:9443", "'::g' is not an IPv6 address"),
    ("256.0.0.1:80", "'256.0.0.1' is not an IPv4 address"),
    ("127.0.0:80", "'127.0.0' is not an IPv4 address"),
    ("a b:9443", "'a b' is neither a host name nor an IPv4 address"),
    ("-a:9443", "'-a' is neither a host name nor an IPv4 address"),
    ("a..b", "'a..b' is neither a host name nor an IPv4 address"),
    ("http://127.0.0.1:80", "it is not host:port, a host or a port, as in 127.0.0.1:"),
    ("localhost:http", "it is not host:port, a host or a port"),
    ("[::1", "it is not host:port, a host or a port"),
    ("localhost:", "it is not host:port, a host or a port"),
    ("", "it is not host:port, a host or a port"),
]


@pytest.mark.parametrize("option", ["--address", "--http-address"])
@pytest.mark.parametrize(("value", "why"), WRONG)
def test_what_cannot_is_a_wrong_option(option: str, value: str, why: str) -> None:
    got = CliRunner().invoke(main, ["serve", "--insecure", option, value])

    assert got.exit_code == 2
    assert got.stderr.splitlines()[-1].startswith(f"Error: Invalid value for '{option}': {value!r}: {why}")


@pytest.mark.parametrize("variable", ["ADDRESS", "HTTP_ADDRESS"])
def test_an_environment_variable_is_named_instead(variable: str) -> None:
    got = CliRunner().invoke(main, ["serve", "--insecure"], env={variable: "127.0.0.1:99999"})

    assert got.exit_code == 2
    assert f"Invalid value for environment variable {variable}: '127.0.0.1:99999': the port must be" in got.stderr


@pytest.mark.parametrize("http", ["127.0.0.1:9443", "0.0.0.0:9443", "[::]:9443", ":9443", "9443"])
def test_two_servers_cannot_share_an_address(http: str) -> None:
    got = CliRunner().invoke(main, ["serve", "--insecure", "--address", "127.0.0.1", "--http-address", http])

    assert got.exit_code == 2
    assert "--address 127.0.0.1:9443 and --http-address" in got.stderr
    assert "one port cannot serve both" in got.stderr


@pytest.mark.parametrize(
    ("one", "other", "want"),
    [
        ("127.0.0.1:1", "127.0.0.2:1", False),
        ("127.0.0.1:1", "127.0.0.1:2", False),
        (":0", ":0", False),
        ("127.0.0.1:1", ":1", True),
        ("[::]:1", "127.0.0.1:1", True),
    ],
)
def test_addresses_overlap(one: str, other: str, want: bool) -> None:
    first, second = (Address(9443).convert(text, None, None) for text in (one, other))

    assert (first.overlaps(second), second.overlaps(first)) == (want, want)
