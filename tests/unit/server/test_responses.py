"""Responses that are not read in time: whose connections are closed, how often, and that the sizes add up."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection

import pytest

from function.server import connections, responses
from function.server.responses import Responses
from tests.unit.server.test_admission import story


class Closing:
    """Notes what it is told to close, and closes nothing."""

    def __init__(self, times: int) -> None:
        self.asked: list[set[str]] = []
        self.done = asyncio.Event()
        """Set after so many times."""
        self._times = times

    def __call__(self, peers: Collection[str]) -> int:
        self.asked.append(set(peers))
        if len(self.asked) == self._times:
            self.done.set()
        return len(peers)


def test_connections_are_closed_until_no_late_response_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "_AGAIN", 0.0)

    async def told() -> None:
        closing = Closing(2)
        sent = Responses(0.0, closing)
        first, second = sent.sends("a", 3), sent.sends("b", 4)
        assert sent.size == 7
        await closing.done.wait()
        sent.ended(first)
        sent.ended(second)
        assert sent.size == 0
        count = len(closing.asked)
        await asyncio.sleep(0.01)
        assert (len(closing.asked), closing.asked[-1]) == (count, {"a", "b"})

    story(told)


def test_a_response_that_is_read_in_time_closes_nothing() -> None:
    async def told() -> None:
        closing = Closing(2)
        sent = Responses(0.01, closing)
        sent.ended(sent.sends("a", 1))
        late = sent.sends("b", 1)
        await closing.done.wait()
        assert all(peers == {"b"} for peers in closing.asked)
        sent.ended(late)

    story(told)


def test_only_the_connections_of_a_peer_are_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with (
            socket.create_connection(("127.0.0.1", port)) as stuck,
            socket.create_connection(("127.0.0.1", port)) as sound,
        ):
            accepted = [server.accept()[0] for _ in range(2)]
            peers = {f"ipv4:127.0.0.1:{stuck.getsockname()[1]}", "unix:/a/socket", "ipv4:10.0.0.1:1", ""}
            assert connections.close(peers) == 1
            assert stuck.recv(1) == b""
            accepted[1].sendall(b"x")
            assert sound.recv(1) == b"x"
            assert connections.close_all(port) >= 1
            assert sound.recv(1) == b""
            for one in accepted:
                one.close()


@pytest.mark.parametrize(
    ("peer", "seen"),
    [
        ("ipv4:10.0.0.1:47", "10.0.0.1"),
        ("ipv4:10.0.0.1:47", "::ffff:10.0.0.1"),
        ("ipv6:%5B2001:db8::1%5D:47", "2001:db8::1"),
        ("ipv6:[2001:db8::1]:47", "2001:db8::1"),
        ("ipv6:%5Bfe80::1%25eth0%5D:47", "fe80::1%eth0"),
    ],
)
def test_a_peer_is_named_by_grpc_otherwise_than_by_the_system(peer: str, seen: str) -> None:
    """A server that listens to `::` sees peers of IPv4 as of IPv6, for example."""
    assert connections._named(peer) == connections._end(seen, 47)
