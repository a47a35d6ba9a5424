"""The search finds a canary in every form: a search that finds nothing proves nothing otherwise."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from tests.support.canaries import Canary, search

ONE = Canary("one")
FORMS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: f"x{text}y",
    "lead": lambda text: f"not {text[:8]}…",
    "trail": lambda text: f"…{text[-8:]}",
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64, shifted": lambda text: base64.b64encode(f"a{text}".encode()).decode(),
    "base64, shifted twice": lambda text: base64.b64encode(f"ab{text}".encode()).decode(),
    "base64 of base64": lambda text: base64.b64encode(base64.b64encode(f"abcd{text}".encode())).decode(),
    "hex": lambda text: text.encode().hex().upper(),
    "percent": lambda text: "".join(f"%{b:02X}" for b in text.encode()),
    "JSON": lambda text: "".join(f"\\u{ord(c):04X}" for c in text),
    "split": lambda text: "\n".join(f"│ {text[n : n + 5]} │" for n in range(0, len(text), 5)),
    "digest": lambda text: f"name-{hashlib.sha256(text.encode()).hexdigest()[:8]}",
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_found(form: str) -> None:
    told = FORMS[form](ONE.token)

    assert [leak.place for leak in search([ONE, Canary("two")], {"out": told})] == ["one"]


@pytest.mark.parametrize("written", [ONE.odd, ONE.pem, ONE.kubeconfig, ONE.json, *ONE.pem.splitlines()[1:3]])
def test_each_shape_is_found_however_it_is_written(written: str) -> None:
    outputs = {
        "plain": written,
        "json": json.dumps(written),
        "percent": quote(written),
        "base64": base64.b64encode(written.encode()).decode(),
    }

    assert [leak.where for leak in search([ONE], outputs)] == list(outputs)


def test_other_text_is_no_leak() -> None:
    assert search([ONE], {"out": "a kubeconfig: " + Canary("two").kubeconfig}) == []
