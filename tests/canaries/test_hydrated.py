"""What staging prints has no canary: of its variables, and of what a hub or a store answers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from click.testing import CliRunner

from function.hydrate.secrets import redactor
from function.main import main
from tests.support.canaries import Canary, search
from tests.support.handlers import answered_by

TOKEN, KEY, SECRET, SESSION = (Canary(name) for name in ("token", "key", "secret", "session"))
PROXY, ANSWER, SIGNED = Canary("proxy", is_word=True), Canary("answer"), Canary("signed", is_word=True)
ALL = (TOKEN, KEY, SECRET, SESSION, PROXY, ANSWER, SIGNED)
ENVIRONMENT = {
    "HF_TOKEN": f"hf_{TOKEN.token}",
    "AWS_ACCESS_KEY_ID": KEY.token,
    "AWS_SECRET_ACCESS_KEY": SECRET.odd,
    "AWS_SESSION_TOKEN": SESSION.token,
    "HTTPS_PROXY": f"http://user:{PROXY.token}@127.0.0.1:1",
}
SIGNATURE = f"X-Amz-Signature={SIGNED.token}&X-Amz-Credential={SIGNED.token}&X-Amz-Security-Token={SIGNED.token}"


class _Server(BaseHTTPRequestHandler):
    """Answers with an error that quotes the request, and, for a way that has `moved`, by a signed URL."""

    status = 403

    def do_GET(self) -> None:
        given = self.headers.get("Authorization", "")
        body = f"<Error>{given} token={ANSWER.token} Bearer {ANSWER.token}</Error>".encode()
        is_moved = self.status in (301, 307) and "X-Amz" not in self.path
        self.send_response(self.status if is_moved or self.status not in (301, 307) else 503, f"no: {given[:60]}")
        self.send_header("X-Error-Message", f"the token {given} is not valid, password: {ANSWER.token}")
        self.send_header("WWW-Authenticate", f"Bearer {ANSWER.token}")
        if is_moved:
            self.send_header("Location", f"/moved?{SIGNATURE}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        pass


def answering(status: int) -> AbstractContextManager[str]:
    return answered_by(type("Handler", (_Server,), {"status": status}))


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, 401, 403, 404, 307, 500])
@pytest.mark.parametrize("origin", ["--repo=org/model", "--bucket=models"])
def test_an_answer_is_not_repeated(origin: str, status: int, tmp_path: Path) -> None:
    with answering(status) as url:
        endpoints = {"HF_ENDPOINT": url, "AWS_ENDPOINT_URL_S3": url, "AWS_REGION": "us-east-1", "NO_PROXY": "127.0.0.1"}
        environment: Mapping[str, str] = {**ENVIRONMENT, **endpoints, "HF_HOME": str(tmp_path), "AWS_MAX_ATTEMPTS": "1"}
        got = CliRunner().invoke(main, ["hydrate", origin, f"--to={tmp_path / 'to'}"], env=environment)

    assert got.exit_code not in (0, 2), got.output
    assert search(ALL, {"stdout": got.stdout, "stderr": got.stderr}) == []


@pytest.mark.parametrize(
    "text",
    [
        f"Invalid token hf_{TOKEN.token[:9]}…",
        f"…{TOKEN.token[-9:]} is not valid",
        f"cannot GET https://cdn.example.org/a?{SIGNATURE}",
        f"cannot GET https://storage.example.org/a?X-Goog-Credential={SIGNED.token}&X-Goog-Signature={SIGNED.token}",
        f"cannot GET https://account.example.org/a?sv=2&sig={SIGNED.token}",
        f"Proxy-Authorization: Basic {PROXY.base64(f'user:{PROXY.token}')}",
        f"cannot reach http://user:{PROXY.token}@127.0.0.1:1",
        f"{{'Authorization': 'Bearer {ANSWER.token}'}}",
        f"AWS4-HMAC-SHA256 Credential={KEY.token}/20260101/us-east-1/s3/aws4_request, Signature={SIGNED.token}",
    ],
)
def test_a_message_of_a_client_is_told_without_secrets(text: str) -> None:
    assert search(ALL, {"told": redactor(ENVIRONMENT)(text)}) == []


def test_a_message_without_secrets_is_told_as_it_is() -> None:
    text = (
        "503 Server Error for url: https://hub.example.org/api/models/org/Qwen3-235B-A22B-Instruct-2507/revision/main"
    )

    assert redactor(ENVIRONMENT)(text) == text
