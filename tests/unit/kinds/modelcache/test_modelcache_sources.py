"""What a source stages, and what identifies it: names of caches that exist never change, an edit always has another."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from function import registry
from function.api.modelcache import parse
from function.api.weights import SOURCES, PersistentVolumeClaim
from function.core import Request, Result, dig
from function.kinds.modelcache import copied, sources
from function.kinds.modelcache.sources import Source
from function.sandbox.settle import settle
from function.vocabulary import versions
from function.vocabulary.exit_codes import BUCKET, FINAL, HUB, ExitCode
from tests.support import arrivals, cache_cases, samples
from tests.support.samples import edited

CACHE = edited(samples.CACHE, "spec.huggingFace.authSecret")
BARE = edited(CACHE, "spec.huggingFace.revision", "main")
CA = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
CLUSTER = {
    "apiVersion": versions.MODELPLANE,
    "kind": "InferenceCluster",
    "metadata": {"name": "edge", "labels": {"tier": "gold", "site": "a"}},
    "status": {"providerConfigRef": {"name": "edge-config"}, "cache": {"storageClassName": "nfs"}},
}


def secret(name: str, **data: str) -> dict[str, Any]:
    return {
        "apiVersion": versions.CORE,
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "ml-team"},
        "data": data,
    }


SECRETS = (
    secret("hub", HF_TOKEN="aGZfYQ=="),
    secret("minio", AWS_ACCESS_KEY_ID="QUtJQUtJQQ==", AWS_SECRET_ACCESS_KEY="c2VjcmV0a2V5"),
    secret("proxy", HTTPS_PROXY="aHR0cDovL3U6cEBw"),
)


def source(xr: dict[str, Any], **values: str) -> Source:
    spec = parse(xr)
    assert not isinstance(spec.block, PersistentVolumeClaim)
    return sources.source(spec.block, spec, copied.Copied(values))


def of(xr: dict[str, Any], *edits: tuple[str, Any]) -> dict[str, Any]:
    for path, value in edits:
        xr = edited(xr, path, value)
    return xr


def test_a_repository_without_patterns_has_had_these_names_from_the_start() -> None:
    """Another directory would stage every cache anew, and another Job would run beside one that runs."""
    qwen = edited(BARE, "spec.huggingFace.repo", "Qwen/Qwen3-8B")

    assert source(qwen).directory == "main-c857715b"
    assert source(qwen).hash == "45a7344a"
    assert source(qwen, HF_TOKEN="aGZfc2VjcmV0").hash == "6391d5f9"
    assert source(edited(qwen, "spec.huggingFace.include", []), HF_TOKEN="aGZfc2VjcmV0").hash == "6391d5f9"


HUB_EDITS = {
    "include": ("spec.huggingFace.include", ["*.gguf"]),
    "exclude": ("spec.huggingFace.exclude", ["*.gguf"]),
    "endpoint": ("spec.huggingFace.endpoint", "https://hub.example.org"),
    "repo": ("spec.huggingFace.repo", "Qwen/Qwen3-32B"),
    "revision": ("spec.huggingFace.revision", "v2"),
}
BUCKET_EDITS = {
    "include": ("spec.s3.include", ["*.gguf"]),
    "exclude": ("spec.s3.exclude", ["*.gguf"]),
    "endpoint": ("spec.s3.endpoint", "https://other.example.org"),
    "no endpoint": ("spec.s3.endpoint", None),
    "bucket": ("spec.s3.bucket", "others"),
    "prefix": ("spec.s3.prefix", "qwen3/32b"),
    "no prefix": ("spec.s3.prefix", None),
}
HOW = {
    "proxy": ("spec.proxy", {"httpsProxy": "http://other.example.org:3128"}),
    "no proxy for a host": ("spec.proxy", {"httpsProxy": "http://proxy.example.org:3128", "noProxy": "a.example.org"}),
    "region": ("spec.s3.region", "us-west-2"),
}


@pytest.mark.parametrize(("xr", "edits"), [(BARE, HUB_EDITS), (cache_cases.BUCKET, BUCKET_EDITS)])
def test_whatever_decides_which_files_are_staged_has_a_directory_and_a_job_of_its_own(
    xr: dict[str, Any], edits: dict[str, tuple[str, Any]]
) -> None:
    found = [source(xr), *(source(edited(xr, *edit)) for edit in edits.values())]

    assert len({one.directory for one in found}) == len(found)
    assert len({one.hash for one in found}) == len(found)


@pytest.mark.parametrize("xr", [BARE, cache_cases.BUCKET], ids=["hub", "bucket"])
def test_a_change_on_the_way_is_worth_a_new_try_and_stages_nothing_anew(xr: dict[str, Any]) -> None:
    ways = [edited(xr, *edit) for name, edit in HOW.items() if name != "region" or xr["spec"]["source"] == "S3"]
    found = [source(xr), *map(source, ways), source(xr, HTTPS_PROXY="YQ=="), source(xr, **{"ca.crt": "YQ=="})]

    assert len({one.directory for one in found}) == 1
    assert len({one.hash for one in found}) == len(found)


def test_the_order_of_patterns_and_a_slash_at_the_end_of_a_prefix_decide_nothing() -> None:
    xr = edited(cache_cases.BUCKET, "spec.s3.include", ["b", "a"])
    same = of(xr, ("spec.s3.include", ["a", "b", "a"]), ("spec.s3.prefix", f"{xr['spec']['s3']['prefix']}/"))

    assert (source(xr).directory, source(xr).hash) == (source(same).directory, source(same).hash)


def test_the_name_of_a_model_is_not_what_is_staged() -> None:
    other = edited(cache_cases.BUCKET, "spec.s3.servedModelName", "other")

    assert source(other).hash == source(cache_cases.BUCKET).hash


@pytest.mark.parametrize("meaning", [HUB, BUCKET])
def test_every_exit_code_means_something_for_every_source(meaning: dict[ExitCode, str]) -> None:
    assert set(meaning) == set(ExitCode)


def test_every_source_of_the_api_is_composed() -> None:
    """Whoever adds a source is told here."""
    samples_by_source = {xr["spec"]["source"]: xr for xr in (CACHE, cache_cases.BUCKET, cache_cases.CLAIMS)}

    assert set(samples_by_source) == {member.choice for member in SOURCES}
    for xr in samples_by_source.values():
        assert compose(xr).resources, xr["spec"]["source"]


# What a user reads when a Job has failed


def compose(xr: dict[str, Any], *objects: dict[str, Any], request: Request | None = None) -> Result:
    """The answer to an XR, beside the fleet and all that specs here refer to."""
    return settle(registry.compose, request or Request(xr=xr), list(objects or (*SECRETS, bundle(), CLUSTER)))


def bundle(text: str = CA) -> dict[str, Any]:
    return {
        "apiVersion": versions.CORE,
        "kind": "ConfigMap",
        "metadata": {"name": "authorities", "namespace": "ml-team"},
        "data": {"ca.crt": text, "bundle.pem": text},
    }


def failed(xr: dict[str, Any], code: int) -> str:
    """The message of the one cluster, once its Job ended with a code."""
    first = compose(xr)
    why = f"Container hydrate for pod ml-team/x failed with exit code {code} matching FailJob rule at index 1"
    ended = {"conditions": [{"type": "Failed", "status": "True", "reason": "PodFailurePolicy", "message": why}]}
    request = arrivals.again(Request(xr=xr), first, lambda m: ended if m["kind"] == "Job" else {"phase": "Bound"})
    result = compose(xr, request=request)
    [said] = result.status["clusters"]
    assert said["phase"] == "Failed"
    return str(said["message"])


PATTERNS = ("spec.huggingFace.include", ["*-Q4.gguf", "config.json"])


@pytest.mark.parametrize(
    ("xr", "code", "want"),
    [
        (CACHE, ExitCode.NOTHING, "The repository has no file that an engine would load"),
        (
            edited(CACHE, *PATTERNS),
            ExitCode.NOTHING,
            (
                "No file of the repository is selected by include *-Q4.gguf, config.json; the log of the Job's pod"
                " names the nearest"
            ),
        ),
        (
            of(CACHE, ("spec.huggingFace.exclude", ["*"])),
            ExitCode.NOTHING,
            "No file of the repository is selected by exclude *",
        ),
        (CACHE, ExitCode.UNTRUSTED, "No known authority signed the hub's certificate; see spec.proxy.caBundle"),
        (CACHE, ExitCode.PROXY_REFUSED, "The proxy refuses the connection; see spec.proxy"),
        (cache_cases.BUCKET, ExitCode.NOT_FOUND, "There is no such bucket at the endpoint and in the region"),
        (cache_cases.BUCKET, ExitCode.GATED, "The store refuses access to the bucket with these credentials"),
        (
            of(cache_cases.BUCKET, ("spec.s3.include", None), ("spec.s3.exclude", None)),
            ExitCode.NOTHING,
            "The bucket has no object under the prefix",
        ),
    ],
)
def test_a_failure_is_told_in_the_words_of_its_source(xr: dict[str, Any], code: int, want: str) -> None:
    assert failed(xr, code) == want


def test_no_code_that_means_something_final_is_tried_again() -> None:
    assert set(FINAL) == set(ExitCode) - {ExitCode.STAGED, ExitCode.RETRY}


# What is copied


def values(result: Result) -> list[dict[str, str]]:
    remote = [dig(r.manifest, "spec", "forProvider", "manifest") for r in result.resources.values()]
    return [m["data"] for m in remote if m and m["kind"] == "Secret"]


def test_no_secret_value_is_in_a_job_an_argument_or_a_status() -> None:
    xr = of(
        cache_cases.BUCKET,
        ("spec.proxy", {"secretRef": {"name": "proxy"}, "caBundle": {"configMapRef": {"name": "authorities"}}}),
    )
    result = compose(xr)

    [copied_values] = values(result)
    assert set(copied_values) == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "ca.crt"}
    others = {key: r.manifest for key, r in result.resources.items() if not key.startswith("token-")}
    for value in copied_values.values():
        assert value not in str((others, result.status, result.conditions))


@pytest.mark.parametrize(
    ("path", "value", "want"),
    [
        ("spec.proxy.secretRef.name", "none", "Secret ml-team/none does not exist"),
        ("spec.proxy.secretRef.name", "hub", "Secret ml-team/hub has no key HTTPS_PROXY and no key HTTP_PROXY"),
        ("spec.s3.authSecret.name", "hub", "Secret ml-team/hub has no key AWS_ACCESS_KEY_ID"),
        ("spec.proxy.caBundle.configMapRef.name", "none", "ConfigMap ml-team/none does not exist"),
        ("spec.proxy.caBundle.configMapRef.key", "x", "ConfigMap ml-team/authorities has no key x"),
    ],
)
def test_what_is_missing_is_named_and_no_job_begins(path: str, value: str, want: str) -> None:
    proxy = {"secretRef": {"name": "proxy"}, "caBundle": {"configMapRef": {"name": "authorities"}}}
    result = compose(of(cache_cases.BUCKET, ("spec.proxy", proxy), (path, value)))

    assert result.conditions[-1].message == want
    assert result.status["clusters"][0]["message"] == want
    assert not [key for key in result.resources if key.startswith(("job-", "token-"))]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("none", "has no certificate in PEM in key bundle.pem"),
        (CA * 5_000, f"has {len(CA) * 5_000} characters in key bundle.pem; the certificates may have at most 262144"),
    ],
)
def test_certificates_that_are_none_or_too_many_are_named(text: str, want: str) -> None:
    result = compose(cache_cases.BUCKET, *SECRETS, bundle(text), CLUSTER)

    assert result.conditions[-1].reason == "CABundleMissing"
    assert result.conditions[-1].message == f"ConfigMap ml-team/authorities {want}"


def test_a_large_bundle_is_carried_to_a_few_clusters_at_a_time() -> None:
    fleet = [{**CLUSTER, "metadata": {**CLUSTER["metadata"], "name": f"edge-{i}"}} for i in range(9)]
    result = compose(cache_cases.BUCKET, *SECRETS, bundle(CA + "x" * 220_000), *fleet)

    assert len(values(result)) == 3
    waiting = {said.get("message") for said in itertools.islice(result.status["clusters"], 3, None)}
    assert waiting == {"Waiting for its turn: at most 3 clusters can be staged at once"}
