"""Health checks, and their pages as Kubernetes' components print them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus

from function.probes.http_server import Answer, Page, Question

LIVE, READY = "/healthz", "/readyz"


@dataclass(frozen=True, slots=True)
class Check:
    """A check that was made."""

    name: str
    """A word, such as `loop`."""
    problem: str = ""
    """A sentence. Empty if the check passes."""


def page(path: str, checks: Callable[[], Iterable[Check]]) -> Page:
    """Return the page of a probe. It makes the checks each time it is asked.

    Its status is 200 if all checks pass, and 503 otherwise. It lists the checks if one fails, or for `?verbose`.
    """

    def asked(question: Question) -> Answer:
        made = list(checks())
        failed = any(check.problem for check in made)
        if not failed and "verbose" not in question.query:
            return Answer(b"ok\n")
        verdict = f"{path.lstrip('/')} check {'failed' if failed else 'passed'}"
        text = "".join(f"{line}\n" for line in (*map(_line, made), verdict))
        return Answer(text.encode(), HTTPStatus.SERVICE_UNAVAILABLE if failed else HTTPStatus.OK)

    return asked


def _line(check: Check) -> str:
    return f"[-]{check.name} failed: {check.problem}" if check.problem else f"[+]{check.name} ok"
