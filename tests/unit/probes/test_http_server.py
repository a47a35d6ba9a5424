"""The HTTP server of the probes: what it answers, and what it refuses."""

from __future__ import annotations

import contextlib
import http.client
import socket
from collections.abc import Iterator
from http import HTTPStatus

import pytest

from function.probes import http_server
from function.probes.checks import Check, page
from function.probes.http_server import Answer, Question
from function.probes.listening import CannotListen, ListenAddress

_BOUND = 10


def echo(question: Question) -> Answer:
    return Answer(f"{dict(question.query)} {question.accept}".encode())


def broken(_: Question) -> Answer:
    raise KeyError("a secret")


@contextlib.contextmanager
def served(host: str = "127.0.0.1") -> Iterator[int]:
    with http_server.serving({"/echo": echo, "/broken": broken}, ListenAddress(host, 0)) as address:
        yield address.port


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with served() as bound:
        yield bound


def asked(port: int, method: str, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_BOUND)
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    return response.status, dict(response.headers), response.read().decode()


def sent(port: int, data: bytes) -> bytes:
    """All that comes back until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=_BOUND) as raw:
        raw.sendall(data)
        return b"".join(iter(lambda: raw.recv(4096), b""))


def test_a_page_sees_the_query_and_the_accepted_types(port: int) -> None:
    got = asked(port, "GET", "/echo?verbose&n=1&n=2", Accept="text/plain")

    assert (got[0], got[2]) == (200, "{'verbose': [''], 'n': ['1', '2']} text/plain")


def test_head_is_get_without_the_body(port: int) -> None:
    get, head = asked(port, "GET", "/echo"), asked(port, "HEAD", "/echo")

    assert head == (get[0], get[1], "")
    assert int(head[1]["Content-Length"]) == len(get[2])


@pytest.mark.parametrize("path", ["/", "/echo/", "/echo/..", "//echo", "/etc/passwd"])
def test_other_paths_are_not_found_and_those_that_are_there_are_named(port: int, path: str) -> None:
    got = asked(port, "GET", path)

    assert (got[0], got[2]) == (404, "404 Not Found; there are /broken, /echo\n")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_not_allowed(port: int, method: str) -> None:
    status, headers, body = asked(port, method, "/echo")

    assert (status, headers["Allow"], body) == (405, "GET, HEAD", "405 Method Not Allowed; use GET or HEAD\n")


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /echo\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64 + b"\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"GET /echo HTTP/1.1\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"GET /" + b"x" * 100_000, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE),
    ],
    ids=["no version", "TLS", "no URL", "no host", "too long"],
)
def test_what_is_no_request_is_refused(port: int, data: bytes, status: HTTPStatus) -> None:
    got = b""
    with contextlib.suppress(ConnectionError):  # it need not read to the end what is too long
        got = sent(port, data)

    assert got.split(b"\r\n")[0] in (f"HTTP/1.1 {status.value} {status.phrase}".encode(), b"")
    assert asked(port, "GET", "/echo")[0] == 200


def test_http_1_0_and_absolute_urls_are_answered(port: int) -> None:
    assert sent(port, b"GET http://other/echo HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_page_that_fails_tells_nothing_and_the_others_go_on(port: int) -> None:
    assert sent(port, b"GET /broken HTTP/1.1\r\nHost: x\r\n\r\n") == b""
    assert asked(port, "GET", "/echo")[0] == 200


def test_a_client_that_says_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_LONGEST", 0.05)
    with served() as port:
        assert sent(port, b"GET /echo HTTP/1.1\r\n") == b""


def test_clients_over_the_limit_are_closed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_MOST", 1)
    with served() as port, socket.create_connection(("127.0.0.1", port)) as silent:
        silent.sendall(b"GET")
        with contextlib.suppress(ConnectionError):
            assert sent(port, b"GET /echo HTTP/1.0\r\n\r\n") == b""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "localhost", "127.0.0.1", "::1"])
def test_every_form_of_a_host_is_listened_on(host: str) -> None:
    with served(host) as port, socket.create_connection(("::1" if host == "::1" else "127.0.0.1", port)) as raw:
        assert raw.getpeername()[1] == port


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_all_addresses_are_those_of_both_families(host: str) -> None:
    with served(host) as port:
        for address in ("127.0.0.1", "::1"):
            socket.create_connection((address, port), timeout=_BOUND).close()


def test_a_taken_port_is_an_error_and_a_free_one_is_given_back() -> None:
    with served() as port:
        address = ListenAddress("127.0.0.1", port)
        with pytest.raises(CannotListen, match=f"127.0.0.1:{port}: .* in use"), http_server.serving({}, address):
            pass
    with http_server.serving({}, address) as again:
        assert again == address


def test_a_probe_lists_its_checks_if_one_fails_or_it_is_asked_to() -> None:
    made = [Check("loop"), Check("workers")]
    probe = page("/healthz", lambda: made)

    assert probe(Question({}, "")) == Answer(b"ok\n")
    assert probe(Question({"verbose": [""]}, "")) == Answer(b"[+]loop ok\n[+]workers ok\nhealthz check passed\n")

    made[0] = Check("loop", "it stands still")
    assert probe(Question({}, "")) == Answer(
        b"[-]loop failed: it stands still\n[+]workers ok\nhealthz check failed\n", HTTPStatus.SERVICE_UNAVAILABLE
    )
