"""What programs asked of an API server: its audit log, reduced to the rights that were used.

The log has no bodies (level Metadata) and only the identities whose rights Modelplane describes. It is written when a
request is answered. In batches, which would cost less, an API server drops events once its buffer is full.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from tests.e2e.kube import ACCOUNTS, EDGE

LOG = "audit.log"
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    # A watch is logged when it begins: some end with the API server.
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "nonResourceURLs": ["*"]},
        {"level": "Metadata", "userGroups": [ACCOUNTS]},
        {"level": "Metadata", "users": [EDGE]},
        {"level": "None"},
    ],
}
TESTS = ("", "kubectl")
"""How the agents begin that are tests which act as Crossplane."""


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """What a rule of RBAC allows."""

    group: str
    resource: str  # with a subresource, such as objects/status
    verb: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}{'.' if self.group else ''}{self.group}"


@dataclass(frozen=True, slots=True)
class Use:
    """A right that somebody asked for, and whether it was refused."""

    user: str
    right: Right
    refused: bool


def flags(policy: Path, log: Path) -> tuple[str, ...]:
    """Of an API server that writes the log."""
    return (
        f"--audit-policy-file={policy}",
        f"--audit-log-path={log}",
        "--audit-log-mode=blocking",
        "--audit-log-maxsize=500",  # megabytes
    )


def read(folder: Path) -> frozenset[Use]:
    """All uses in the logs of the API servers of a run."""
    logs = sorted(folder.glob("*/audit*.log"))
    return frozenset(use for log in logs for line in lines(log) for use in uses(json.loads(line)))


def lines(log: Path) -> Iterator[str]:
    """The whole lines of a log. Its API server may be writing the last one."""
    with log.open() as file:
        for line in file:
            if line.endswith("}\n"):
                yield line


def uses(event: dict[str, Any]) -> Iterator[Use]:
    """What a request needs: its own right, and `create` too if a patch makes the object (kubernetes v1.36,
    apiserver/pkg/endpoints/handlers/patch.go), of which the log has no line."""
    if "objectRef" not in event or is_of_a_test(event):
        return
    target = event["objectRef"]
    resource = "/".join(filter(None, (target["resource"], target.get("subresource"))))
    refused = event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid"
    made = event.get("responseStatus", {}).get("code") == HTTPStatus.CREATED
    for verb in (event["verb"], *(("create",) if event["verb"] in ("patch", "update") and made else ())):
        yield Use(event["user"]["username"], Right(target.get("apiGroup", ""), resource, verb), refused)


def is_of_a_test(event: dict[str, Any]) -> bool:
    """Whether a test acts as Crossplane, or as somebody else whom it impersonates."""
    agent = event.get("userAgent", "").partition("/")[0]
    return agent in TESTS or "impersonatedUser" in event


def of(user: str, found: Iterable[Use]) -> frozenset[Right]:
    """The rights that a user asked for, also those that it was refused: it needs them as much."""
    return frozenset(use.right for use in found if use.user == user)
