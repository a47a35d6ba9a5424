"""What the sandbox makes up is known after apply, also as a part of a text."""

from __future__ import annotations

import pytest

from function.sandbox.invented import KNOWN_LATER, Invented


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("198.18.0.1", KNOWN_LATER),
        ("http://198.18.0.1/a/b", f"http://{KNOWN_LATER}/a/b"),
        ("http://198.18.0.1:80 and 198.18.0.1", f"http://{KNOWN_LATER}:80 and {KNOWN_LATER}"),
        ("198.18.0.12", "198.18.0.12"),
        ("1198.18.0.1", "1198.18.0.1"),
        ("/subscriptions/0/Vnet/a", KNOWN_LATER),
        ("id=/subscriptions/0/Vnet/a/subnets/b", f"id={KNOWN_LATER}/subnets/b"),
        ("/subscriptions/0/Vnet/ab", "/subscriptions/0/Vnet/ab"),
        ("serviceAccount:nodes@project.example.com", f"serviceAccount:{KNOWN_LATER}"),
        ("", ""),
    ],
)
def test_whole_values_are_marked(text: str, want: str) -> None:
    invented = Invented()
    invented.note("198.18.0.1", "/subscriptions/0/Vnet/a", "nodes@project.example.com")

    assert invented.marked(text) == want


def test_of_two_values_the_longer_one_counts() -> None:
    invented = Invented()
    invented.note("a/b", "a/b/c")

    assert invented.marked_in({"x": ["a/b/c", "a/b", 1]}) == {"x": [KNOWN_LATER, KNOWN_LATER, 1]}


def test_what_the_input_gives_is_not_made_up() -> None:
    invented = Invented()
    invented.give({"status": {"urls": ["http://198.18.0.1/a"]}})
    invented.note("198.18.0.1", "198.18.0.2")

    assert invented.marked("198.18.0.1 198.18.0.2") == f"198.18.0.1 {KNOWN_LATER}"
