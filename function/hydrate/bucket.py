"""A folder of an S3 bucket, or of a store with the same API, and exit codes for its exceptions.

S3 gives no single checksum for every object. Which one a file is verified with, in this order:

- a checksum over the full object (SHA-256, SHA-1, CRC-64/NVME, CRC-32C or CRC-32), which AWS has for all objects that
  were uploaded since 2024, other stores only for those that were uploaded with one;
- the ETag, if it is the MD5 of the content: not of an object in parts, nor of one encrypted with a key of KMS or of the
  customer (Amazon S3 API reference, Object, ETag);
- the size alone.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from boto3.session import Session
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from function.hydrate import faults
from function.hydrate.files import ALGORITHMS, Digest, File, Listing, size_of
from function.vocabulary.exit_codes import BUCKET, ExitCode

_PATIENCE = 30
"""Timeout of the store, in seconds."""
_TRIES = 5
"""Tries of one request."""
_BARREN = 3
"""Tries of one file in a row that brought no byte."""
_CONNECTIONS = 16
_CHUNK = 2**16
"""Bytes that are written at once. A connection that ends loses fewer."""
_REGION = "us-east-1"
"""The region that most stores accept, and from which AWS redirects to the bucket's own."""
_LIST = "ListObjectsV2"
_FULL_CHECKSUMS = ("SHA256", "SHA1", "CRC64NVME", "CRC32C", "CRC32")
_PARTIAL = 206
_FORBIDDEN = (401, 403)
_NOT_FOUND, _PROXY_AUTHENTICATION, _PRECONDITION_FAILED = 404, 407, 412
_ELSEWHERE = ("NoSuchBucket", "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException")
"""Error codes for a bucket that does not exist, or that exists in another region."""
_REFUSED = ("InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken")


@dataclass(frozen=True, slots=True)
class Keys:
    """Credentials of a store."""

    access_key: str
    secret_key: str
    session_token: str | None = None


class Bucket:
    """The objects of a bucket below a prefix. An `Origin` of `stage`."""

    meaning = BUCKET
    is_repository = False

    def __init__(
        self, name: str, prefix: str, *, keys: Keys | None, endpoint: str | None = None, region: str | None = None
    ) -> None:
        self._name = name
        self._prefix = f"{prefix.rstrip('/')}/" if prefix else ""
        self._client = _client(keys, endpoint, region or _REGION)

    def listing(self) -> Listing:
        """The objects below the prefix, without those that stand for a folder."""
        files = tuple(sorted(self._files(), key=lambda file: file.path))
        version = sha256("\n".join(f"{f.path}\0{f.size}\0{f.version}" for f in files).encode()).hexdigest()
        where = f"s3://{self._name}/{self._prefix}"
        return Listing(version, f"{where} ({version[:12]})", files, {"from": where, "listing": version})

    def _files(self) -> Iterator[File]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._name, Prefix=self._prefix)
        for page in pages:
            for listed in page.get("Contents") or ():
                key = listed["Key"]
                if not (key.endswith("/") and listed["Size"] == 0):
                    yield File(key.removeprefix(self._prefix), listed["Size"], listed["ETag"].strip('"'))

    def digest(self, file: File) -> Digest | None:
        head = self._client.head_object(**self._request(file), ChecksumMode="ENABLED")
        return _full_checksum(head) or _md5(head)

    def fetch(self, file: File, listing: Listing, to: Path) -> None:  # noqa: ARG002  (a version is in the ETag)
        """Download a file below a directory, and continue one that is there in part."""
        path = to / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if size_of(path) > file.size:
            path.unlink()
        path.touch()
        barren = 0
        while (there := size_of(path)) < file.size:
            try:
                self._append(file, path, there)
            except BotoCoreError:
                barren = 0 if size_of(path) > there else barren + 1
                if barren == _BARREN:
                    raise
            else:
                return  # the object may be shorter than it was listed: its size is verified later

    def _append(self, file: File, path: Path, there: int) -> None:
        """Fetch what is missing at the end of a file, and nothing if the object has changed."""
        rest = {"Range": f"bytes={there}-"} if there else {}
        got = self._client.get_object(**self._request(file), **rest)
        is_rest = got["ResponseMetadata"]["HTTPStatusCode"] == _PARTIAL
        with path.open("ab" if is_rest else "wb") as written:
            for chunk in got["Body"].iter_chunks(_CHUNK):
                written.write(chunk)

    def _request(self, file: File) -> dict[str, str]:
        return {"Bucket": self._name, "Key": f"{self._prefix}{file.path}", "IfMatch": f'"{file.version}"'}

    def exit_code(self, fault: Exception) -> ExitCode:
        return exit_code(fault)


def _client(keys: Keys | None, endpoint: str | None, region: str) -> Any:
    """Return a client that has no credentials but these: boto3 would look for those of the node, too."""
    config = Config(
        region_name=region,
        signature_version=None if keys else UNSIGNED,
        connect_timeout=_PATIENCE,
        read_timeout=_PATIENCE,
        retries={"mode": "standard", "total_max_attempts": _TRIES},
        max_pool_connections=_CONNECTIONS,
        response_checksum_validation="when_required",  # `digest` verifies more than the client would
        request_checksum_calculation="when_required",
    )
    return Session().client(
        "s3",
        endpoint_url=endpoint,
        config=config,
        aws_access_key_id=keys and keys.access_key,
        aws_secret_access_key=keys and keys.secret_key,
        aws_session_token=keys and keys.session_token,
    )


def _full_checksum(head: Mapping[str, Any]) -> Digest | None:
    """Return a checksum over the whole object. That of an object in parts can be one over their checksums."""
    if head.get("ChecksumType") == "COMPOSITE":
        return None
    for name in _FULL_CHECKSUMS:
        value, algorithm = head.get(f"Checksum{name}"), name.lower()
        if value and "-" not in value and algorithm in ALGORITHMS:
            return Digest(algorithm, base64.b64decode(value).hex())
    return None


def _md5(head: Mapping[str, Any]) -> Digest | None:
    etag = str(head.get("ETag") or "").strip('"').lower()
    is_encrypted = head.get("ServerSideEncryption", "AES256") != "AES256" or head.get("SSECustomerAlgorithm")
    return Digest("md5", etag) if re.fullmatch("[0-9a-f]{32}", etag) and not is_encrypted else None


def exit_code(fault: Exception) -> ExitCode:
    """The exit code for an exception of the store, the network or the volume."""
    if isinstance(fault, ParamValidationError):
        return ExitCode.INVALID
    if not isinstance(fault, ClientError):
        return faults.exit_code(fault)
    code = str(fault.response.get("Error", {}).get("Code", ""))
    status = fault.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    if fault.operation_name != _LIST and status in (_NOT_FOUND, _PRECONDITION_FAILED):
        return ExitCode.RETRY  # the object has changed since it was listed
    if status == _PROXY_AUTHENTICATION:
        return ExitCode.PROXY_REFUSED
    if code in _ELSEWHERE or status == _NOT_FOUND:
        return ExitCode.NOT_FOUND
    return ExitCode.GATED if code in _REFUSED or status in _FORBIDDEN else ExitCode.RETRY
