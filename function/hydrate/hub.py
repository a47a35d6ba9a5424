"""The Hugging Face hub, and exit codes for its exceptions."""

from __future__ import annotations

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

from function.hydrate import faults
from function.hydrate.files import Digest, File, Listing
from function.vocabulary.exit_codes import HUB, ExitCode

_STATUSES = {403: ExitCode.GATED, 407: ExitCode.PROXY_REFUSED}
_PATIENCE = 30
"""Timeout of the hub, in seconds."""


class Hub:
    """One revision of a repository. An `Origin` of `stage`."""

    meaning = HUB
    is_repository = True

    def __init__(self, repo: str, revision: str, *, token: str | None, endpoint: str | None = None) -> None:
        self._repo = repo
        self._revision = revision
        self._token: str | bool = token or False  # never the one in the home directory
        self._endpoint = endpoint
        self._api = HfApi(endpoint=endpoint, token=self._token)
        self._digests: dict[str, Digest] = {}
        set_client_factory(_patient_client)

    def listing(self) -> Listing:
        """The files of the commit that the revision names now."""
        commit = self._api.repo_info(self._repo, revision=self._revision).sha
        if not commit:
            raise OSError(f"the hub names no commit for revision {self._revision}")
        tree = self._api.list_repo_tree(self._repo, revision=commit, recursive=True)
        files = tuple(self._file(entry) for entry in tree if isinstance(entry, RepoFile))
        return Listing(commit, f"commit {commit}", files, {"revision": self._revision, "commit": commit})

    def _file(self, entry: RepoFile) -> File:
        """A large file (LFS or Xet) is known by its SHA-256, one in git by the hash of its blob."""
        digest = Digest("sha256", entry.lfs.sha256) if entry.lfs else Digest("git-blob", entry.blob_id)
        self._digests[entry.path] = digest
        return File(entry.path, entry.size, digest.value)

    def digest(self, file: File) -> Digest:
        return self._digests[file.path]

    def fetch(self, file: File, listing: Listing, to: Path) -> None:
        """Download a file below a directory. The client may reuse a file that exists there, so verify it."""
        hf_hub_download(
            self._repo, file.path, revision=listing.version, local_dir=to, token=self._token, endpoint=self._endpoint
        )

    def exit_code(self, fault: Exception) -> ExitCode:
        return exit_code(fault)


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
        return _STATUSES.get(fault.response.status_code, ExitCode.RETRY)
    return faults.exit_code(fault)
