"""The Hugging Face hub, and its faults as outcomes."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, hf_hub_download, set_client_factory
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils._http import default_client_factory  # its only public form is a client that is made

from function.hydrate.selection import HubFile
from function.vocabulary.exit_codes import ExitCode

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_NO_ROOM_TOLD = ("No space left on device", "Disk quota exceeded")
"""What the Xet client says: its errors carry no number (hf-xet 1.x, a Rust library)."""
_FORBIDDEN = 403
_PATIENCE = 30
"""Seconds in which the hub must go on with an answer."""


class Hub:
    """One repository, with the token that opens it. Its methods raise what `outcome` understands."""

    def __init__(self, repo: str, *, token: str | None, endpoint: str | None = None) -> None:
        self._repo = repo
        self._token: str | bool = token or False  # never one that lies about in the home directory
        self._endpoint = endpoint
        self._api = HfApi(endpoint=endpoint, token=self._token)
        set_client_factory(_patient_client)

    def commit(self, revision: str) -> str:
        """What a branch, a tag or a commit stands for now."""
        sha = self._api.repo_info(self._repo, revision=revision).sha
        if not sha:
            raise OSError(f"the hub names no commit for revision {revision}")
        return str(sha)

    def files(self, commit: str) -> list[HubFile]:
        tree = self._api.list_repo_tree(self._repo, revision=commit, recursive=True)
        return [
            HubFile(entry.path, entry.size, entry.lfs.sha256 if entry.lfs else None, entry.blob_id)
            for entry in tree
            if isinstance(entry, RepoFile)
        ]

    def fetch(self, file: HubFile, commit: str, to: Path) -> None:
        """Into the file of that path below a directory. The client may answer from what is there: check it."""
        hf_hub_download(
            self._repo, file.path, revision=commit, local_dir=to, token=self._token, endpoint=self._endpoint
        )


def _patient_client() -> Any:
    """The library's own client, with a bound for what the library asks without one: everything but files."""
    client = default_client_factory()
    client.event_hooks = {**client.event_hooks, "request": [*client.event_hooks["request"], _bound]}
    return client


def _bound(request: Any) -> None:
    given = request.extensions.get("timeout") or {}
    bounds = dict.fromkeys(("connect", "read", "write", "pool"), _PATIENCE)
    request.extensions["timeout"] = {name: given.get(name) or bound for name, bound in bounds.items()}


def exit_code(fault: Exception) -> ExitCode:
    """How a fault of the hub, the network or the volume ends the try."""
    if isinstance(fault, GatedRepoError):
        return ExitCode.GATED
    if isinstance(fault, RevisionNotFoundError):
        return ExitCode.NO_REVISION
    if isinstance(fault, RepositoryNotFoundError):
        return ExitCode.NOT_FOUND
    if isinstance(fault, HFValidationError):
        return ExitCode.INVALID
    if isinstance(fault, HfHubHTTPError):
        return ExitCode.GATED if fault.response.status_code == _FORBIDDEN else ExitCode.RETRY
    return ExitCode.NO_ROOM if _is_full(fault) else ExitCode.RETRY


def _is_full(fault: BaseException | None) -> bool:
    """Whether a volume that is full is behind a fault, or behind what is behind it."""
    if fault is None:
        return False
    numbered = isinstance(fault, OSError) and fault.errno in _NO_ROOM
    return numbered or any(told in str(fault) for told in _NO_ROOM_TOLD) or _is_full(fault.__cause__)
