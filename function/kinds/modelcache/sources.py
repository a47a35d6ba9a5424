"""What a Job stages: one reader for each source of function/api/weights.py that is downloaded.

Two things are derived from a source. The *directory* is named after all that decides which files are staged, so that an
edit stages anew beside what replicas mount. The *Job* is named after everything that it uses, so that a new token or
proxy gives a new Job, and so a new try: a pod template is immutable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from function.api.modelcache import Spec
from function.api.weights import S3, HuggingFace, Staged
from function.kinds.modelcache.copied import HF_TOKEN, Copied
from function.vocabulary import names, settings
from function.vocabulary.exit_codes import BUCKET, HUB, ExitCode, Meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is staged."""

    directory: str
    hash: str
    """Identifies the Job."""
    size: int
    """GiB of the volume."""
    args: tuple[str, ...]
    env: Mapping[str, str]
    copied: Copied
    meaning: Meaning
    """What the Job's exit codes mean."""
    repo: str | None = None
    served_model_name: str | None = None


def source(block: Staged, spec: Spec, copied: Copied) -> Source:
    """Return what a Job stages."""
    match block:
        case HuggingFace():
            return _hub(block, spec, copied)
        case S3():
            return _bucket(block, spec, copied)


def _hub(block: HuggingFace, spec: Spec, copied: Copied) -> Source:
    endpoint = block.endpoint or settings.HUB_ENDPOINT
    more = {**_patterns(block), **({"endpoint": block.endpoint} if block.endpoint else {})}
    transport = _proxies(spec)
    return Source(
        directory=names.staged(block.repo, block.revision, more),
        hash=_hash(block.repo, block.revision, more, transport, copied),
        size=block.sizeGiB,
        args=(f"--repo={block.repo}", f"--revision={block.revision}", *_pattern_args(block)),
        env={**({"HF_ENDPOINT": endpoint} if endpoint else {}), **transport},
        copied=copied,
        meaning=_meaning(HUB, block, "of the repository"),
        repo=block.repo,
    )


def _bucket(block: S3, spec: Spec, copied: Copied) -> Source:
    prefix = (block.prefix or "").rstrip("/")
    place, version = ["S3", block.endpoint or "", block.bucket, prefix], prefix.rpartition("/")[2] or block.bucket
    more = _patterns(block)
    transport = {**({"AWS_REGION": block.region} if block.region else {}), **_proxies(spec)}
    return Source(
        directory=names.staged(place, version, more),
        hash=_hash(place, version, more, transport, copied),
        size=block.sizeGiB,
        args=(f"--bucket={block.bucket}", *([f"--prefix={prefix}"] if prefix else []), *_pattern_args(block)),
        env={
            **({"AWS_ENDPOINT_URL_S3": block.endpoint} if block.endpoint else {}),
            "AWS_EC2_METADATA_DISABLED": "true",  # a tenant's Job never acts for the node
            **transport,
        },
        copied=copied,
        meaning=_meaning(BUCKET, block, "under the prefix"),
        served_model_name=block.servedModelName,
    )


def _hash(place: Any, version: str, more: Mapping[str, Any], transport: Mapping[str, str], copied: Copied) -> str:
    """Return what identifies the Job.

    A source without patterns, endpoint and proxy has had the same one from the start.

    Args:
        place: The repository, or another JSON value that says where the files are.
        version: The revision, or the folder.
        more: What else decides which files are staged.
        transport: Variables about the way to the files, which are no part of the directory's name.
        copied: The token, and other values.
    """
    others = {key: value for key, value in copied.values.items() if key != HF_TOKEN}
    also = {"transport": dict(transport), "copied": others}
    everything = {**more, **{key: value for key, value in also.items() if value}}
    return names.content_hash([place, version, copied.values.get(HF_TOKEN), *([everything] if everything else [])])


def _patterns(block: Staged) -> dict[str, Any]:
    """Return the patterns as a set each: their order decides nothing."""
    given = {"include": sorted(set(block.include)), "exclude": sorted(set(block.exclude))}
    return {name: patterns for name, patterns in given.items() if patterns}


def _pattern_args(block: Staged) -> tuple[str, ...]:
    return (*(f"--include={pattern}" for pattern in block.include), *(f"--exclude={p}" for p in block.exclude))


def _proxies(spec: Spec) -> dict[str, str]:
    """Return the variables of proxies that need no password. The Job's other ones come from its Secret."""
    proxy = spec.proxy
    if proxy is None:
        return {}
    given = {"HTTPS_PROXY": proxy.httpsProxy, "HTTP_PROXY": proxy.httpProxy, "NO_PROXY": proxy.noProxy}
    return {name: value for name, value in given.items() if value}


def _meaning(meaning: Meaning, block: Staged, where: str) -> Meaning:
    """Return the meanings with the user's patterns in that of NOTHING."""
    if not block.include and not block.exclude:
        return meaning
    told = [f"{name} {', '.join(patterns)}" for name, patterns in _patterns(block).items()]
    nearest = "; the log of the Job's pod names the nearest" if block.include else ""
    return {**meaning, ExitCode.NOTHING: f"no file {where} is selected by {' and '.join(told)}{nearest}"}
