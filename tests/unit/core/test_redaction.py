"""Credentials in texts, by their form and by the Secrets of the request."""

from __future__ import annotations

import base64
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.core import Request, known_secrets, quote, redaction


@pytest.mark.parametrize(
    "text",
    [
        "Replica qwen-3-8b of ModelDeployment ml/qwen waits: Secret ml/hf has no key token",
        "family standardNDSv5H100Family for region westeurope",
        "model Qwen/Qwen3-235B-A22B-Instruct-2507 at a3f5c0de9b1e4c7f8a6d2b3c4e5f60718293a4b5",
        "image registry.example.org/vllm@sha256:0123456789abcdef0123456789abcdef",
        "Basic authentication is off; the bearer of the token",
        "--max-num-batched-tokens=8192 --tokenizer x --api-key=$(API_KEY)",
    ],
)
def test_a_message_without_credentials_stays(text: str) -> None:
    assert (redaction.message(text), redaction.is_credential(text)) == (text, False)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("no: Bearer abcdefg1, again", "no: Bearer (sensitive), again"),
        ("GET https://u:p%40w@h/x?a=1&sig=abc&b=2", "GET https://(sensitive)@h/x?a=1&sig=(sensitive)&b=2"),
        ('{"client_secret": "abc"}', '{"client_secret": "(sensitive)"}'),
        ("password=hunter2 is wrong", "password=(sensitive) is wrong"),
        ("name hf_abcdefghijklmnop is no name", "name (sensitive) is no name"),
        ("id x7Kp2mQ9vR4tL8wZ3nB6 is unknown", "id (sensitive) is unknown"),
        ("x -----BEGIN PRIVATE KEY----- y", "(sensitive)"),
    ],
)
def test_a_credential_is_hidden(text: str, want: str) -> None:
    assert redaction.message(text) == want


@pytest.mark.parametrize(
    ("said", "want"),
    [
        ("value swordfish-and-more is wrong", "value (sensitive) is wrong"),
        ("cannot unmarshal !!str `swordfi...` into Config", "cannot unmarshal !!str `(sensitive)...` into Config"),
        (f"data {base64.b64encode(b'swordfish-and-more').decode()}", "data (sensitive)"),
        ("the fish is not in the sea", "the fish is not in the sea"),
    ],
)
def test_parts_of_the_secrets_of_a_request_are_hidden(said: str, want: str) -> None:
    data = {"key": base64.b64encode(b"swordfish-and-more").decode()}
    request = Request(xr={}, required={"secret": ({"kind": "Secret", "data": data},)})

    with known_secrets.of(request):
        got = quote(said)

    assert got == want


def test_the_server_of_a_kubeconfig_may_be_named() -> None:
    text = "clusters:\n- cluster: {server: https://api.example.org:6443}\nusers:\n- user: {token: swordfish-and-more}\n"
    request = Request(xr={}, observed={"a": {"kind": "Secret", "stringData": {"kubeconfig": text}}})

    with known_secrets.of(request):
        got = quote("https://api.example.org:6443 refuses swordfish-and-more")

    assert got == "https://api.example.org:6443 refuses (sensitive)"


def test_a_part_of_a_document_is_hidden_in_base64_too() -> None:
    text = '{"type": "service_account", "client_secret": "swordfish-and-more"}'
    request = Request(xr={}, observed={"a": {"kind": "Secret", "stringData": {"credentials": text}}})

    with known_secrets.of(request):
        got = quote(f"refused {base64.b64encode(b'swordfish-and-more').decode()}")

    assert got == "refused (sensitive)"


def hidden_naively(value: str, known: str) -> str:
    """What `Parts` shows, found without an index."""
    runs = [value[i : i + 7] in known for i in range(len(value) - 6)]
    taken = [any(runs[max(0, i - 6) : i + 1]) for i in range(len(value))]
    return "".join(" " if hides else character for character, hides in zip(value, taken, strict=True))


@given(st.text("ab", max_size=60), st.lists(st.text("ab", max_size=30), max_size=4))
def test_every_run_of_seven_characters_is_found(value: str, pieces: list[str]) -> None:
    shown = known_secrets.Parts(pieces).hidden_from(value)

    kept = [part for part in hidden_naively(value, "\0".join(pieces)).split(" ") if part]
    assert [part for part in shown.split(redaction.SENSITIVE) if part] == kept


def test_nothing_is_shown_beside_more_than_can_be_searched() -> None:
    parts = known_secrets.Parts(f"{n}" * 2**20 for n in range(5))

    assert parts
    assert parts.hidden_from("no such image") == redaction.SENSITIVE


def test_equal_secrets_count_once() -> None:
    parts = known_secrets.Parts(["swordfish" * 2**17] * 9)

    assert parts.hidden_from("no swordfish") == f"no {redaction.SENSITIVE}"


def random_text(size: int) -> str:
    return base64.b64encode(random.Random(1).randbytes(size)).decode()


def test_the_end_of_a_large_secret_is_found_in_a_long_text_at_once() -> None:
    """To search the secret for each run of the text would take minutes."""
    secret = random_text(2**20)
    parts = known_secrets.Parts([secret])
    began = time.process_time()

    got = parts.hidden_from(f"no {secret[-100_000:]}")

    assert (got, time.process_time() - began < 10) == (f"no {redaction.SENSITIVE}", True)


def test_a_text_of_blocks_of_a_large_secret_in_another_order_is_hidden_as_a_whole() -> None:
    """Each of its runs has to be searched for in vain, which would take minutes."""
    secret = random_text(2**20)
    blocks = "".join(f"{secret[at : at + 6]} " for at in range(0, 90_000, 6))
    began = time.process_time()

    got = known_secrets.Parts([secret]).hidden_from(blocks)

    assert (got, time.process_time() - began < 10) == (redaction.SENSITIVE, True)


@pytest.mark.parametrize("text", ["kind: Config ", "-----", "token ", "--token ", "://", "a-token-", "eyJ", "\x1b]"])
def test_a_long_text_is_read_at_once(text: str) -> None:
    """Each of these begins a credential that does not come."""
    began = time.process_time()

    redaction.message(text * (200_000 // len(text)))

    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31mBearer\x1b[0m \x1b[1mabcdefg1\x1b[0m",
        "to\u200bken=abcdefg1",
        "\x1b]0;title\x07token: \x1b[33mabcdefg1",
        "\x9b1mpassword\x9bm: abcdefg1",
        "x7Kp2mQ9\x00vR4tL8wZ3nB6",
    ],
)
def test_colors_and_invisible_characters_hide_no_credential(text: str) -> None:
    got = redaction.message(text)

    assert redaction.SENSITIVE in got
    assert not any(part in got for part in ("abcdefg1", "x7Kp2m", "\x1b"))


def test_colors_without_a_credential_stay() -> None:
    assert redaction.message("\x1b[31mno such image\x1b[0m") == "\x1b[31mno such image\x1b[0m"
