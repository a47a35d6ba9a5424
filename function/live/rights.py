"""Rights that are missing to read a fleet, and the commands that give them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from function.apiserver.client import Forbidden
from function.core import denial
from function.live.kinds import LiveKind
from function.publish import roles

_OF_KUBERNETES = "view"
"""The role of Kubernetes that reads the kinds of its own groups."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A kind that may not be listed."""

    kind: LiveKind
    who: str
    """The user, as the API server names it; empty if it does not."""

    @property
    def role(self) -> str:
        """The ClusterRole that allows it."""
        return next(
            (role["metadata"]["name"] for role in roles.cluster_roles() if _reads(role["rules"], self.kind)),
            _OF_KUBERNETES,
        )


def _reads(rules: roles.Rules, kind: LiveKind) -> bool:
    """Whether rules allow to read a kind, and nothing but to read."""
    return any(
        kind.group in rule["apiGroups"] and kind.plural in rule["resources"] and tuple(rule["verbs"]) == roles.READ
        for rule in rules
    )


def missing(kind: LiveKind, refused: Forbidden) -> Missing:
    """The right that the API server's answer says is missing."""
    return Missing(kind, denial.denied_user(str(refused)))


def told(these: Iterable[Missing]) -> Iterator[str]:
    """Lines that say which rights are missing and how to give them: two for each role that would."""
    by_role: dict[tuple[str, str, str], list[Missing]] = {}
    for one in these:
        by_role.setdefault((one.role, one.who, one.kind.namespace), []).append(one)
    for (role, who, namespace), some in sorted(by_role.items()):
        where = f"in namespace {namespace}" if namespace else "cluster-wide"
        yield f"{who or 'the user'} may not list {_by_group(some)} {where}; to allow it:"
        yield f"  {command(role, who, namespace)}"


def _by_group(these: Iterable[Missing]) -> str:
    """All kinds, such as `modelcaches, modelservices (modelplane.ai)`."""
    plurals: dict[str, list[str]] = {}
    for one in sorted(these, key=lambda one: (one.kind.group, one.kind.plural)):
        plurals.setdefault(one.kind.group, []).append(one.kind.plural)
    return "; ".join(f"{', '.join(some)} ({group or 'core'})" for group, some in plurals.items())


def command(role: str, who: str, namespace: str = "") -> str:
    """The kubectl command that gives a role to a user or a service account."""
    account = denial.service_account(who)
    subject = ["--serviceaccount", f"{account.namespace}:{account.name}"] if account else ["--user", who or "USER"]
    name = "-".join((role, account.name if account else re.sub(r"[^a-z0-9.-]+", "-", (who or "user").lower()))).strip(
        "-"
    )
    kind = ["rolebinding", name, "-n", namespace] if namespace else ["clusterrolebinding", name]
    return shlex.join(["kubectl", "create", *kind, f"--clusterrole={role}", "=".join(subject)])


def names(these: Sequence[Missing]) -> list[str]:
    """The kinds, as kubectl names them."""
    return sorted({str(one.kind) for one in these})
