"""Versions of Kubernetes as clouds write them: their numbers, and which are too old."""

from __future__ import annotations

import re
from collections.abc import Iterator

OLDEST_MINOR = 34
"""The first minor version of Kubernetes 1 that serves resource.k8s.io/v1."""


def numbers(version: str) -> tuple[int, ...]:
    """Return all numbers of a version, the build among them: (1, 36, 1, 3) of v1.36.1+3."""
    return tuple(map(int, re.findall(r"\d+", version)))


def minor(version: str) -> int:
    """Return the minor version of one like 1.36, v1.36.1+3 or 1.36.4-gke.10."""
    return (*numbers(version), 0, 0)[1]


def version_faults(given: str | None, legal: re.Pattern[str], such_as: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the version that a user asks for, as Provisioner.cluster_faults does.

    Args:
        given: The version; None for any.
        legal: What the cloud takes.
        such_as: What is legal, for the message.
    """
    if given is None:
        return
    if not legal.fullmatch(given):
        yield "kubernetesVersion", f"must be a version such as {such_as}, not {given}"
    elif numbers(given) < (1, OLDEST_MINOR):
        problem = f"must be 1.{OLDEST_MINOR} or newer, not {given}: devices are claimed by resource.k8s.io/v1"
        yield "kubernetesVersion", problem
