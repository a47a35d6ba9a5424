"""A pool is out of stock when its autoscaler failed to add nodes, and only then."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from function.observe import autoscaler
from tests.support.observed import Object, event, node, pod, snapshot

QUOTA = "Instance 'eks-h100-40ce0341-t28s' creation failed: Quota 'GPUS' exceeded. Limit: 8.0 in region us-east-1."
WANT = "QUOTA_EXCEEDED: Instance creation failed: Quota 'GPUS' exceeded. Limit: 8.0 in region us-east-1"
BACKOFF = "the autoscaler is in backoff after a failed scale-up"


def status(text: str, name: str = "cluster-autoscaler-status") -> Object:
    return {"metadata": {"namespace": "kube-system", "name": name}, "data": {"status": text}}


def yaml_status(**groups: str) -> Object:
    """Node groups with a state of their scale-up each."""
    told = {"errorCode": "QUOTA_EXCEEDED", "errorMessage": QUOTA}
    given = [
        {
            "name": name.replace("_", "-"),
            "scaleUp": {"status": state, **({"backoffInfo": told} if state == "Backoff" else {})},
        }
        for name, state in groups.items()
    ]
    written = {"time": "2026-01-01 00:00:00.1 +0000 UTC", "autoscalerStatus": "Running", "nodeGroups": given}
    return status(yaml.safe_dump(written))


def legacy(state: str) -> Object:
    return status(
        "Cluster-autoscaler status at 2023-01-01 00:00:00.1 +0000 UTC:\n"
        "Cluster-wide:\n"
        "  Health:      Healthy (ready=3 unready=0)\n"
        "  ScaleUp:     Backoff (ready=3 registered=3)\n"
        "NodeGroups:\n"
        "  Name:        eks-h100-1111\n"
        "  Health:      Healthy (ready=1 cloudProviderTarget=1 (minSize=1, maxSize=3))\n"
        "               LastProbeTime:      2023-01-01 00:00:00.1 +0000 UTC m=+1\n"
        f"  ScaleUp:     {state} (ready=1 cloudProviderTarget=1)\n"
        "  ScaleDown:   NoCandidates (candidates=0)\n"
    )


def stock(*pools: str, **objects: Any) -> dict[str, str]:
    return autoscaler.out_of_stock(snapshot(**objects), pools or ("h100",))


def waits(name: str = "llama-0", pool: str = "h100") -> Object:
    given = pod(name, workload="llama", status={"conditions": [{"type": "PodScheduled", "status": "False"}]})
    given["spec"]["nodeSelector"] = {"modelplane.ai/pool": pool}
    return given


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (yaml_status(eks_h100_1111="Backoff"), {"h100": WANT}),
        (yaml_status(eks_h100_1111="NoActivity"), {}),
        (yaml_status(eks_h100_1111="InProgress"), {}),
        (yaml_status(eks_t4_1111="Backoff"), {}),
        (yaml_status(h1001="Backoff"), {}),
        (legacy("Backoff"), {"h100": BACKOFF}),
        (legacy("NoActivity"), {}),
        (status("Initializing"), {}),
        (status("nodeGroups: [{name: h100, scaleUp: {status: Backoff}}]"), {"h100": BACKOFF}),
        (status("a: &a [*a]"), {}),
        (status("{"), {}),
        (status("- " * 10_000), {}),
        (yaml_status(eks_h100_1111="Backoff") | {"data": None}, {}),
        (status("nodeGroups: [{name: h100, scaleUp: {status: Backoff}}]", "other"), {}),
    ],
)
def test_a_node_group_in_backoff_is_out_of_stock(given: Object, want: dict[str, str]) -> None:
    assert stock(autoscaler=[given]) == want


def test_a_pool_is_out_of_stock_when_all_of_its_node_groups_are() -> None:
    assert stock(autoscaler=[yaml_status(h100_a="Backoff", h100_b="NoActivity")]) == {}
    assert stock(autoscaler=[yaml_status(h100_a="Backoff", h100_b="Backoff")]) == {"h100": WANT}


def test_the_longest_name_decides() -> None:
    groups = yaml_status(eks_h100_big_1="Backoff", eks_h100_1="NoActivity")

    assert stock("h100", "h100-big", "eks", autoscaler=[groups]) == {"h100-big": WANT}


def test_a_label_of_the_cloud_names_the_node_group_of_a_pool() -> None:
    labelled = node("a", labels={"cloud.google.com/gke-nodepool": "np-7"})
    group = status(
        "nodeGroups: [{name: https://www.googleapis.com/compute/v1/projects/h100/zones/z/instanceGroups/gke-prod-np-7-1f-grp,"
        " scaleUp: {status: Backoff}}]"
    )

    assert stock(autoscaler=[group], nodes=[labelled]) == {"h100": BACKOFF}
    assert stock(autoscaler=[group]) == {}


NOT_TRIGGERED = "pod didn't trigger scale-up: 1 in backoff after failed scale-up, 2 node(s) didn't match"


@pytest.mark.parametrize(
    ("events", "want"),
    [
        ([event("NotTriggerScaleUp", NOT_TRIGGERED, "llama-0")], {"h100": BACKOFF}),
        ([event("NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached", "llama-0")], {}),
        ([event("FailedScaleUp", "GCE out of resources", "llama-0")], {"h100": "GCE out of resources"}),
        (
            [
                event("NotTriggerScaleUp", NOT_TRIGGERED, "llama-0"),
                event("TriggeredScaleUp", "pod triggered", "llama-0", lastTimestamp="2026-01-01T00:01:00Z"),
            ],
            {},
        ),
        ([event("NotTriggerScaleUp", NOT_TRIGGERED, "another-pod")], {}),
        (
            [
                event(
                    "InsufficientCapacityError",
                    "NodeClaim h100-x7k2p event: no p5 left",
                    "h100-x7k2p",
                    kind="NodeClaim",
                )
            ],
            {"h100": "no p5 left"},
        ),
    ],
)
def test_events_about_a_waiting_pod_tell_it(events: list[Object], want: dict[str, str]) -> None:
    assert stock(events=events, pods=[waits()]) == want


def test_events_do_not_count_once_no_pod_waits() -> None:
    events = [event("NotTriggerScaleUp", NOT_TRIGGERED, "llama-0")]

    assert stock(events=events, pods=[pod("llama-0", "a", "llama")]) == {}
