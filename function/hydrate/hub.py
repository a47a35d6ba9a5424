"""The Hugging Face hub, and its faults as outcomes."""

from __future__ import annotations

import errno
from pathlib import Path

from huggingface_hub import HfApi, hf_hub_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile

from function.hydrate.selection import HubFile
from function.outcomes import Outcome

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = 403


class Hub:
    """One repository, with the token that opens it. Its methods raise what `outcome` understands."""

    def __init__(self, repo: str, *, token: str | None, endpoint: str | None = None) -> None:
        self._repo = repo
        self._token: str | bool = token or False  # never one that lies about in the home directory
        self._endpoint = endpoint
        self._api = HfApi(endpoint=endpoint, token=self._token)

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


def outcome(fault: Exception) -> Outcome:
    """How a fault of the hub, the network or the volume ends the try."""
    if isinstance(fault, GatedRepoError):
        return Outcome.GATED
    if isinstance(fault, RevisionNotFoundError):
        return Outcome.NO_REVISION
    if isinstance(fault, RepositoryNotFoundError):
        return Outcome.NOT_FOUND
    if isinstance(fault, HFValidationError):
        return Outcome.INVALID
    if isinstance(fault, HfHubHTTPError):
        return Outcome.GATED if fault.response.status_code == _FORBIDDEN else Outcome.RETRY
    if isinstance(fault, OSError) and fault.errno in _NO_ROOM:
        return Outcome.NO_ROOM
    return Outcome.RETRY
