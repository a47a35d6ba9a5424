"""A URI of weights becomes the source of a ModelCache, or is named as something left to do."""

from __future__ import annotations

from typing import Any

import pytest

from function.conversion import weights
from function.conversion.notes import Notes, Verdict

ASSUMED = 200
"""sizeGiB where the name does not tell it. It must be set, so it is left to do."""
META = {"name": "m", "namespace": "ml-team", "labels": {"team": "ml"}}


@pytest.mark.parametrize(
    ("uri", "spec"),
    [
        (
            "hf://Qwen/Qwen3-8B",
            {"source": "HuggingFace", "huggingFace": {"repo": "Qwen/Qwen3-8B", "sizeGiB": 20}},
        ),
        (
            "hf://Qwen/Qwen3-8B:v1",
            {"source": "HuggingFace", "huggingFace": {"repo": "Qwen/Qwen3-8B", "revision": "v1", "sizeGiB": 20}},
        ),
        (
            "hf://deepseek-ai/DeepSeek-R1",
            {"source": "HuggingFace", "huggingFace": {"repo": "deepseek-ai/DeepSeek-R1", "sizeGiB": 200}},
        ),
        (
            "s3://bucket/models/llama-70b-fp8/",
            {
                "source": "S3",
                "s3": {
                    "bucket": "bucket",
                    "prefix": "models/llama-70b-fp8",
                    "servedModelName": "served",
                    "sizeGiB": 80,
                },
            },
        ),
        ("s3://bucket", {"source": "S3", "s3": {"bucket": "bucket", "servedModelName": "served", "sizeGiB": 200}}),
        (
            "pvc://claim/folder/of/it",
            {
                "source": "PersistentVolumeClaim",
                "persistentVolumeClaim": {
                    "claims": [{"claimName": "claim", "subPath": "folder/of/it"}],
                    "servedModelName": "served",
                },
            },
        ),
        (
            "pvc://claim",
            {
                "source": "PersistentVolumeClaim",
                "persistentVolumeClaim": {"claims": [{"claimName": "claim"}], "servedModelName": "served"},
            },
        ),
    ],
)
def test_a_source_that_a_cache_has(uri: str, spec: dict[str, Any]) -> None:
    notes = Notes()

    cache = weights.cache(uri, META, "served", notes)

    assert cache is not None
    assert (cache["metadata"], cache["spec"]) == ({"name": "m", "namespace": "ml-team"}, spec)
    is_assumed = spec[next(name for name in spec if name != "source")].get("sizeGiB") == ASSUMED
    assert [note.verdict for note in notes.written] == [Verdict.CHANGED, *([Verdict.LEFT] if is_assumed else [])]


@pytest.mark.parametrize(
    "uri",
    [
        "oci://registry.example.com/model:1",
        "gs://bucket/model",
        "https://example.com/a.tgz",
        "hf://one",
        "pvc://",
        "s3:///x",
        "",
        "words",
    ],
)
def test_a_source_that_no_cache_has_is_left_to_the_user(uri: str) -> None:
    notes = Notes()

    assert weights.cache(uri, META, "served", notes) is None
    assert [(note.verdict, note.source) for note in notes.written] == [(Verdict.LEFT, ("spec", "model", "uri"))]
