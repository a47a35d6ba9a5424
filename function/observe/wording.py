"""Cleans messages of Kubernetes, so that a text is the same from attempt to attempt and holds nothing secret.

What changes between attempts is taken out: times, back-off durations, UIDs, addresses, random names of pods. What might
be secret is taken out as well: parameters and users of URLs, values that the API server quotes, command lines.
"""

from __future__ import annotations

import re
from typing import Any

from function.core import bare, redaction, visible
from function.vocabulary.observation import MOST_MESSAGE

_READ = 4096
"""Characters of a message that are looked at."""
_MARK = "…"


def _program(quoted: re.Match[str]) -> str:
    """The name of a program. What has blanks is a command line."""
    return f'exec: "{_MARK}"' if re.search(r"[\s=]", quoted[0].removeprefix("exec: ")) else quoted[0]


def _address(url: re.Match[str]) -> str:
    """A URL without its user and parameters."""
    scheme, _, rest = url[0].partition("://")
    authority, slash, path = re.split("[?#]", rest, maxsplit=1)[0].partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"


_SECRET = (
    (re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://[^\s\"']*", re.IGNORECASE), _address),
    (re.compile(r"\b(bearer|basic)\s+[^\s,;:)\"']{8,}", re.IGNORECASE), rf"\1 {_MARK}"),
    (
        re.compile(r"\b(token|passw(?:or)?d|secret|api[-_]?key)\s*[:=]\s*[^\s,;)\"']{4,}", re.IGNORECASE),
        rf"\1 {_MARK}",
    ),
    (re.compile(r"Invalid value: (?:\"(?:[^\"\\]|\\.)*\"|[^\s:,\]]+)"), "Invalid value"),  # of the API server
    (re.compile(r"exec: \"(?:[^\"\\]|\\.)*\""), _program),  # of runc: the program, or a whole command line
)
_CHANGING = (
    (re.compile(r"^\(combined from similar events\): "), ""),
    (re.compile(r"(?i)(back-?off) (?:\d+[hms.]+)+\d*(?:ms|s)? "), r"\1 "),
    (re.compile(r"\s*\bpod=\S+\([0-9a-f-]{36}\)"), ""),  # of the kubelet: pod=name_namespace(uid)
    (re.compile(r"\b(pods? \"[a-z0-9.-]+?)-[a-z0-9]{5}\""), r'\1"'),  # a random name of a ReplicaSet's pod
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE), _MARK),
    (re.compile(r"(?<!sha256:)\b[0-9a-f]{64}\b"), _MARK),  # a container's ID
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*(?: [+-]\d{4})?(?: UTC)?"), _MARK),
    (re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?:->(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?)?"), _MARK),
    (re.compile(r"\[[0-9a-f]*:[0-9a-f:.]*\](?::\d+)?(?:->\[[0-9a-f:.]+\](?::\d+)?)?", re.IGNORECASE), _MARK),
    (re.compile(r"\b(?:\d+h)?(?:\d+m)\d+(?:\.\d+)?s\b|\b\d+\.\d+(?:ms|µs|s)\b"), _MARK),
    (re.compile(r"(?i)\s*\bpreemption: .*$"), ""),  # of the scheduler: the same reasons once more
)  # fmt: skip


def clean(given: Any, most: int = MOST_MESSAGE) -> str:
    """A message on one line, of at most `most` characters. Anything but a text is no message."""
    if not isinstance(given, str):
        return ""
    text = " ".join(visible(bare(redaction.beginning(given, _READ))).split())
    for pattern, replacement in (*_SECRET, *_CHANGING):
        text = pattern.sub(replacement, text)
    return cut(redaction.message(text.strip().rstrip(".").strip()), most)


def cut(text: str, most: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}{_MARK}"


_HTTP_STATUS = re.compile(r"HTTP probe failed with statuscode: \d{3}")
_UNHEALTHY = re.compile(r"^(Readiness|Liveness|Startup) probe (failed|errored)\b")
_NETWORK = (
    "connection refused",
    "connection reset by peer",
    "no route to host",
    "i/o timeout",
    "context deadline exceeded",
    "Client.Timeout exceeded while awaiting headers",
    "server gave HTTP response to HTTPS client",
    "certificate signed by unknown authority",
    "stopped after 10 redirects",
)
_GRPC = re.compile(r"service unhealthy \(responded with \"[A-Z_]+\"\)|timeout: health rpc did not complete")


def probe(given: Any) -> str:
    """What the kubelet itself tells of a failed probe: which one, and a status or a failure of the network.

    The rest of its message can be text of the container: the output of a command, or an answer that is no HTTP. So only
    what is recognised is kept. Source: k8s.io/kubernetes v1.36, pkg/kubelet/prober and pkg/probe.
    """
    text = given[:_READ] if isinstance(given, str) else ""
    kind = _UNHEALTHY.match(text)
    if not kind:
        return "a probe failed"
    rest = text[kind.end() :]
    known = _HTTP_STATUS.search(rest) or _GRPC.search(rest)
    why = known.group() if known else next((word for word in _NETWORK if word in rest), "")
    return f"{kind.group()}{f': {why}' if why else ''}"


def is_probe(given: Any, *kinds: str) -> bool:
    """Whether a message tells of a failed probe of certain kinds, such as Liveness."""
    found = _UNHEALTHY.match(given) if isinstance(given, str) else None
    return bool(found and found[1] in kinds)
