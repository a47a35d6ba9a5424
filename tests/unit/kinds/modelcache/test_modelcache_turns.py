"""A cache on a fleet of a thousand clusters: staged in turns, so that no answer is more than Crossplane takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from function import registry
from function.core import ComposedResource, Request, Result, dig, plain
from function.kinds.modelcache.staging import MOST_AT_ONCE
from function.validation.size import encoded
from function.vocabulary import versions
from function.wire import LARGEST_RESPONSE

MANY = 1000
XR = {
    "apiVersion": versions.MODELPLANE,
    "kind": "ModelCache",
    "metadata": {"name": "qwen3-235b-a22b", "namespace": "ml-team", "uid": "u"},
    "spec": {
        "source": "HuggingFace",
        "huggingFace": {
            "repo": "Qwen/Qwen3-235B-A22B",
            "revision": "main",
            "sizeGiB": 600,
            "authSecret": {"name": "hub", "key": "HF_TOKEN"},
        },
    },
}
COMPLETE = {"conditions": [{"type": "Complete", "status": "True"}]}
FAILED = {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}


def cluster(index: int) -> dict[str, Any]:
    name = f"gke-us-central1-h100-{index:04}"
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": name},
        "status": {"cache": {"storageClassName": "filestore"}, "providerConfigRef": {"name": f"{name}-9cdaa023"}},
    }


FLEET = tuple(map(cluster, range(MANY)))


def token(size: int = 40) -> tuple[dict[str, Any], ...]:
    return ({"metadata": {"name": "hub", "namespace": "ml-team"}, "data": {"HF_TOKEN": "a" * size}},)


def asked(before: Result | None, jobs: dict[str, Any], fleet: Any = FLEET, secret: Any = None) -> Result:
    """The next answer, once everything was applied and every Job has ended in that way."""
    resources = before.resources if before else {}
    status = before.status if before else {}
    observed = {key: seen(composed, jobs) for key, composed in resources.items()}
    required = {"clusters": fleet, "replicas": (), "token": secret or token()}
    return registry.compose(Request(xr={**XR, "status": plain(status)}, observed=observed, required=required))


def seen(composed: ComposedResource, jobs: dict[str, Any]) -> dict[str, Any]:
    manifest = plain(composed.manifest)
    remote = {**dig(manifest, "spec", "forProvider", "manifest"), "status": jobs}
    is_job = remote["kind"] == "Job"
    said = [{"type": kind, "status": "True"} for kind in ("Synced", "Ready")]
    return {**manifest, "status": {"conditions": said, **({"atProvider": {"manifest": remote}} if is_job else {})}}


def size(result: Result) -> int:
    return encoded(plain(result.status)) + sum(
        len(key) + encoded(plain(r.manifest)) for key, r in result.resources.items()
    )


def phases(result: Result) -> Counter[str]:
    return Counter(entry["phase"] for entry in result.status["clusters"])


@pytest.mark.slow
def test_a_thousand_clusters_are_staged_in_turns_and_every_answer_fits() -> None:
    result, ready = asked(None, {}), []
    while not ready or ready[-1] < MANY:
        assert size(result) < LARGEST_RESPONSE
        assert phases(result)["Hydrating"] <= MOST_AT_ONCE
        result = asked(result, COMPLETE)
        ready.append(phases(result)["Ready"])

    assert ready == sorted(ready)
    assert phases(result) == {"Ready": MANY}


def test_who_waits_says_for_what() -> None:
    last = asked(None, {}).status["clusters"][-1]

    assert (last["phase"], last["message"]) == (
        "Pending",
        "Waiting for its turn: at most 200 clusters can be staged at once",
    )


@pytest.mark.slow
def test_where_all_that_were_begun_have_failed_no_other_is_begun() -> None:
    """They would end the same; whoever mends it changes the spec or the token, which begins anew."""
    result = asked(asked(None, {}), FAILED)

    assert phases(result) == {"Failed": MOST_AT_ONCE, "Pending": MANY - MOST_AT_ONCE}
    assert result.conditions[-1].reason == "Failed"


class Counted(dict[str, Any]):
    """Composed resources that count how often they are gone through."""

    walks = 0

    def __iter__(self) -> Iterator[str]:
        self.walks += 1
        return super().__iter__()


@pytest.mark.parametrize("secret", [None, ()], ids=["with its token", "without"])
def test_the_composed_resources_are_not_gone_through_for_each_cluster(secret: Any) -> None:
    def walks(clusters: int) -> int:
        result = asked(None, {}, fleet=FLEET[:clusters])
        observed = Counted((key, seen(composed, {})) for key, composed in result.resources.items())
        required = {"clusters": FLEET[:clusters], "replicas": (), "token": token() if secret is None else secret}
        registry.compose(Request(xr={**XR, "status": plain(result.status)}, observed=observed, required=required))
        return observed.walks

    assert walks(40) == walks(4) > 0


def test_a_secret_that_is_no_token_is_not_carried_to_every_cluster() -> None:
    result = asked(None, {}, fleet=FLEET[:10], secret=token(1_000_000))

    assert result.conditions[-1].reason == "AuthSecretMissing"
    assert result.conditions[-1].message == (
        "Secret ml-team/hub has 1000000 characters in key HF_TOKEN; a token has at most 8192"
    )
    assert size(result) < LARGEST_RESPONSE


def test_weights_whose_claim_is_gone_are_staged_anew() -> None:
    """Someone deleted it, and the weights with it. The status says that they are there."""
    few = FLEET[:2]
    ready = asked(asked(asked(None, {}, few), COMPLETE, few), COMPLETE, few)
    [gone] = [key for key in ready.resources if key == f"claim-{few[0]['metadata']['name']}"]
    without = replace(ready, resources={key: r for key, r in ready.resources.items() if key != gone})

    result = asked(without, {}, few)

    assert phases(ready) == {"Ready": 2}
    assert [entry["phase"] for entry in result.status["clusters"]] == ["Hydrating", "Ready"]
    new = sorted(key.split("-")[0] for key in result.resources.keys() - ready.resources.keys())
    assert new == ["job", "token"]
    assert gone in result.resources
