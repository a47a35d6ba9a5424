"""Model weights that a URI names, as ModelCaches."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from function.api import modelcache
from function.conversion import deployment
from function.conversion.notes import Notes, Path

_UNKNOWN_GIB = 200
"""Size of a volume for weights whose size nothing tells."""
_EXPERTS = re.compile(r"(?<![A-Za-z0-9.])(\d+)x(\d+(?:\.\d+)?)b(?![a-z0-9])")
_BILLIONS = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)b(?![a-z0-9])")
_MILLIONS = re.compile(r"(?<![A-Za-z0-9.])(\d+)m(?![a-z0-9])")
_BYTES: tuple[tuple[str, float], ...] = (
    (r"awq|gptq|int4|4bit|w4a16|fp4", 0.6),
    (r"fp8|int8|8bit|w8a8", 1.0),
)
"""Bytes of a parameter by a word of the name, with the scales of quantized weights. By default 2, as of bf16."""
_BF16 = 2.0
_SPARE = 1.2
_GIB = 1024**3 / 1e9


class Source(NamedTuple):
    """The source of a ModelCache: the values of `source` and of its block."""

    name: str
    block: dict[str, Any]
    says: str
    """What to check."""
    is_sized: bool = True
    """Whether its name tells the size of the weights, if it has a size."""


def cache(
    uri: str, meta: Mapping[str, Any], served: str, notes: Notes, *, secret: str | None = None
) -> dict[str, Any] | None:
    """Return the ModelCache for a URI, or None where the scheme has none.

    Args:
        uri: hf://, s3:// or pvc://, as KServe has them.
        meta: Metadata of the ModelDeployment, from which the cache has its name and namespace.
        served: The name under which the model is served.
        notes: Notes about the source object.
        secret: The Secret with the hub's token as HF_TOKEN, or with an access key of a bucket.
    """
    path: Path = ("spec", "model", "uri")
    scheme, _, rest = uri.partition("://")
    read = _SCHEMES.get(scheme)
    source = read(rest, served) if read else None
    if source is None:
        notes.left(path, None, _OTHERWISE.get(scheme, "has no ModelCache: say where the weights come from"))
        return None
    if secret and source.name in _WITH_SECRETS:
        source.block["authSecret"] = {"name": secret}
        notes.left(path, None, f"Secret {secret} must have {_WITH_SECRETS[source.name]}")
    name = deployment.shortened(meta["name"])
    notes.changed(path, ("spec", "modelCacheRef"), f"is ModelCache {name}{source.says}")
    if not source.is_sized:
        notes.left(
            path, None, f"set sizeGiB of ModelCache {name}: the name does not tell it, {_UNKNOWN_GIB} is assumed"
        )
    field = source.name[0].lower() + source.name[1:]
    return {
        "apiVersion": modelcache.API_VERSION,
        "kind": modelcache.KIND,
        "metadata": {k: v for k, v in meta.items() if k in ("name", "namespace")},
        "spec": {"source": source.name, field: source.block},
    }


def size_gib(name: str) -> int | None:
    """Return the size of a volume for weights, estimated from the number of parameters in their name."""
    lower = name.lower()
    parameters = None
    if found := _EXPERTS.search(lower):
        parameters = int(found[1]) * float(found[2])
    elif found := _BILLIONS.search(lower):
        parameters = float(found[1])
    elif found := _MILLIONS.search(lower):
        parameters = int(found[1]) / 1000
    if parameters is None:
        return None
    each = next((size for pattern, size in _BYTES if re.search(pattern, lower)), _BF16)
    return max(5, 5 * math.ceil(parameters * each * _SPARE / _GIB / 5))


def _sized(name: str) -> tuple[int, str, bool]:
    """Return the size for weights, what to check, and whether the name tells it."""
    size = size_gib(name)
    if size is None:
        return _UNKNOWN_GIB, "", False
    return size, f", whose sizeGiB is {size}, estimated from the name: check it", True


def _hub(rest: str, served: str) -> Source | None:  # noqa: ARG001  (one signature for all schemes)
    repo, _, revision = rest.strip("/").partition(":")
    if repo.count("/") != 1:
        return None
    size, says, told = _sized(repo)
    block = {"repo": repo, **({"revision": revision} if revision else {}), "sizeGiB": size}
    return Source("HuggingFace", block, says, told)


def _bucket(rest: str, served: str) -> Source | None:
    bucket, _, prefix = rest.rstrip("/").partition("/")
    if not bucket:
        return None
    size, says, told = _sized(prefix or served)
    block = {
        "bucket": bucket,
        **({"prefix": prefix} if prefix else {}),
        "servedModelName": served,
        "sizeGiB": size,
    }
    return Source("S3", block, f"{says}; a private bucket needs authSecret, endpoint and region", told)


def _claim(rest: str, served: str) -> Source | None:
    claim, _, folder = rest.rstrip("/").partition("/")
    if not claim:
        return None
    block = {"claims": [{"claimName": claim, **({"subPath": folder} if folder else {})}], "servedModelName": served}
    return Source(
        "PersistentVolumeClaim", block, f": PersistentVolumeClaim {claim} must exist on the inference clusters"
    )


_WITH_SECRETS: Mapping[str, str] = {
    "HuggingFace": "the hub's token as HF_TOKEN",
    "S3": "the access key as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
}
_SCHEMES = {"hf": _hub, "s3": _bucket, "pvc": _claim}
_OTHERWISE: Mapping[str, str] = {
    "oci": "is an image: mount it at /mnt/models with a volume of type image",
    "gs": "is a bucket of Google Cloud: use its S3 API as source S3 of a ModelCache, with HMAC keys",
    "https": "is a file: stage it into a PersistentVolumeClaim, which a ModelCache can name",
}
