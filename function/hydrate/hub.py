"""The Hugging Face hub, and exit codes for its exceptions."""

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
"""Messages of the Xet client, whose errors have no number (hf-xet 1.x, a Rust library)."""
_FORBIDDEN = 403
_PATIENCE = 30
"""Timeout of the hub, in seconds."""


class Hub:
    """One repository, with a token. `exit_code` interprets what its methods raise."""

    def __init__(self, repo: str, *, token: str | None, endpoint: str | None = None) -> None:
        self._repo = repo
        self._token: str | bool = token or False  # never the one in the home directory
        self._endpoint = endpoint
        self._api = HfApi(endpoint=endpoint, token=self._token)
        set_client_factory(_patient_client)

    def commit(self, revision: str) -> str:
        """The commit of a branch, tag or commit."""
        sha = self._api.repo_info(self._repo, revision=revision).sha
        if not sha:
            raise OSError(f"the hub names no commit for revision {revision}")
        return str(sha)

    def files(self, commit: str) -> list[HubFile]:
        """The files of a commit."""
        tree = self._api.list_repo_tree(self._repo, revision=commit, recursive=True)
        return [
            HubFile(entry.path, entry.size, entry.lfs.sha256 if entry.lfs else None, entry.blob_id)
            for entry in tree
            if isinstance(entry, RepoFile)
        ]

    def fetch(self, file: HubFile, commit: str, to: Path) -> None:
        """Download a file below a directory. The client may reuse a file that exists there, so verify it."""
        hf_hub_download(
            self._repo, file.path, revision=commit, local_dir=to, token=self._token, endpoint=self._endpoint
        )


def _patient_client() -> Any:
    """The library's client, with a timeout for requests that the library sends without one."""
    client = default_client_factory()
    client.event_hooks = {**client.event_hooks, "request": [*client.event_hooks["request"], _bound]}
    return client


def _bound(request: Any) -> None:
    given = request.extensions.get("timeout") or {}
    bounds = dict.fromkeys(("connect", "read", "write", "pool"), _PATIENCE)
    request.extensions["timeout"] = {name: given.get(name) or bound for name, bound in bounds.items()}


def exit_code(fault: Exception) -> ExitCode:
    """The exit code for an exception of the hub, the network or the volume."""
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
    """Whether a full volume caused an exception, directly or indirectly."""
    if fault is None:
        return False
    numbered = isinstance(fault, OSError) and fault.errno in _NO_ROOM
    return numbered or any(told in str(fault) for told in _NO_ROOM_TOLD) or _is_full(fault.__cause__)
