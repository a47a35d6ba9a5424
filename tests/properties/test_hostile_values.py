"""Values that do not belong where they are put. `make fuzz` tries many; those that found a fault once are here."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fuzz.__main__ import MODES
from tests.fuzz.attempts import Attempt, Change
from tests.fuzz.laws import faults
from tests.fuzz.places import Path
from tests.support.cases import ROOT

FOUND: list[tuple[str, str, int, Path, Any]] = [
    ("gkecluster/a-fixed-pool-begins-to-be-scaled", "observed", 15, ("spec", "forProvider", "nodeLocations"), 1e308),
    ("modelservice/a-key-that-two-callers-publish-is-nobodys", "observed", 4,
     ("spec", "template", "spec", "volumes", 1, "secret", "items"), 1e308),
    ("inferencegateway/that-gateway-api-is-not-there-is-looked-up-twice", "xr", 0, ("status",), -1),
    ("modeldeployment/staged-weights-are-preferred", "required", 3, ("status", "clusters", 1, "phase"), [{"a": 1}]),
    ("modelcache/a-class-that-vanishes-takes-no-weights", "observed", 1,
     ("spec", "forProvider", "manifest", "spec", "resources", "requests", "storage"), f"{'9' * 5000}Gi"),
    ("modelcache/a-failure-sticks-and-says-why", "observed", 2,
     ("status", "atProvider", "manifest", "status", "conditions", 0, "message"), f"exit code {'9' * 5000}"),
    ("modeldeployment/a-bad-edit-does-not-hide-a-replica-that-fails", "observed", 0,
     ("metadata", "annotations", "modelplane.ai/former-spec"), "[" * 100_000),
    ("modeldeployment/a-bad-edit-does-not-hide-a-replica-that-fails", "observed", 0,
     ("metadata", "annotations", "modelplane.ai/rendering"), "9" * 5000),
    ("modelservice/a-key-that-two-callers-publish-is-nobodys", "observed", 3,
     ("data", "endpoints.json"), "[" * 100_000),
    ("modelcache/an-edit-that-excludes-a-cluster-frees-it", "xr", 0, ("status", "conditions", 1, "message"), [{}]),
    ("modelcache/that-a-cluster-is-gone-is-looked-up-twice", "xr", 0, ("status", "conditions", 1, "reason"), 0.5),
    ("modeldeployment/the-younger-of-two-gives-way", "xr", 0, ("status", "replicas"), "3"),
    ("modeldeployment/a-reserved-namespace-can-be-left", "xr", 0, ("status", "placements", 0), [True]),
    ("modeldeployment/a-reserved-namespace-can-be-left", "xr", 0, ("status", "replicas"), {"updated": "1"}),
    ("modeldeployment/small-pods-on-shared-nodes-leave-no-certain-place", "required", 0,
     ("status", "gpuPools", 0, "name"), {"a": "b"}),
    ("modeldeployment/an-edit-in-place-that-a-full-shared-pool-has-no-room-for", "observed", 0, ("spec",), 7),
    ("modelendpoint/a-proxy-that-is-gone-stays-gone", "xr", 0, ("status", "routing", "upstream"), {
        "host": "a", "port": 1, "addressType": "FQDN", "query": 1}),
    ("modelendpoint/a-proxy-without-its-secret-says-which-key", "observed", 0, ("data",), 0.5),
    ("modelreplica/a-gang-that-does-not-start-is-asked-about", "observed", 2,
     ("spec", "forProvider", "manifest", "spec", "leaderWorkerTemplate"), {"a": True}),
    ("modelreplica/a-gang-that-does-not-start-is-asked-about", "observed", 2,
     ("spec", "forProvider", "manifest", "spec", "leaderWorkerTemplate", "leaderTemplate", "spec", "containers"),
     {"a": True}),
    ("modelreplica/invalid-spec-loses-nothing", "xr", 0, ("status", "workloads"), [[{}]]),
    ("modelreplica/an-engine-with-tls-is-named", "observed", 4, ("spec", "forProvider"), None),
    ("modelreplica/changed-claim-keeps-the-old-until-it-rolled", "observed", 1, ("spec",), True),
    ("modelreplica/starting-names-what-is-waited-for", "observed", 4, ("spec", "forProvider", "manifest", "kind"), {}),
    ("modelreplica/rotated-secret-rolls-the-pods", "required", 1, ("data",), -1),
    ("modelservice/endpoints-of-other-tenants-are-never-selected", "observed", 2,
     ("status", "parents", 0, "conditions", 0, "observedGeneration"), [1]),
    ("inferencegateway/a-load-balancer-with-a-host-name", "required", 6, ("spec", "versions", 0, "name"), {"a": "b"}),
    ("servingstack/everything-is-installed", "xr", 0, ("status", "drivers"), 3),
    ("vultrcluster/a-removed-pool-goes-before-its-usage", "xr", 0, ("status", "pools"), 1e308),
    ("akscluster/a-missing-permission-is-told-in-the-words-of-azure", "observed", 8, ("metadata", "managedFields"), 7),
    ("ekscluster/every-option", "observed", 51, ("status", "atProvider", "scalingConfig"), "x"),
    ("gkecluster/every-option", "xr", 0, ("spec", "credentials", "name"), "../.."),
    ("inferencecluster/an-observation-that-contradicts-replicas-is-stale", "xr", 0,
     ("status", "gateway", "address"), "\x1b[2J"),
    ("inferencecluster/an-observation-that-contradicts-replicas-is-stale", "xr", 0, ("status", "clusterID"), "-a"),
    ("modelcache/an-edit-waits-for-who-mounts-without-a-label", "xr", 0, ("status", "clusters", 0, "name"), "a/b"),
    ("modeldeployment/a-bad-edit-still-goes-back", "required", 1, ("spec",), "x"),
    ("modeldeployment/two-selectors-that-contradict", "required", 1, ("spec", "clusterSelector", "matchLabels"), -7),
    ("modelendpoint/a-new-configuration-is-written-before-its-proxies", "observed", 1,
     ("status", "availableReplicas"), "x"),
    ("modelendpoint/a-new-configuration-is-written-before-its-proxies", "observed", 1,
     ("status", "observedGeneration"), "x"),
    ("modelendpoint/a-service-that-does-not-lead-there-yet-keeps-the-proxy", "xr", 0,
     ("status", "routing", "upstream"), -7),
    ("modelreplica/a-lost-copy-degrades", "observed", 1,
     ("status", "atProvider", "manifest", "status", "availableReplicas"), [{"a": 1}]),
    ("modelcache/a-cluster-without-a-class-waits-alone", "observed", 2,
     ("status", "atProvider", "manifest", "status", "conditions"), True),
    ("modelcache/a-claim-in-place-of-staged-weights", "observed", 1,
     ("status", "atProvider", "manifest", "spec", "accessModes", 0), {"a": {"b": [1]}}),
    ("modeldeployment/a-bad-edit-does-not-hide-a-replica-that-fails", "observed", 0, ("spec", "clusterName"), {"a": 1}),
    ("modeldeployment/a-bad-edit-does-not-hide-a-replica-that-fails", "observed", 0, ("spec", "clusterName"), -7),
    ("modeldeployment/a-bad-edit-does-not-hide-a-replica-that-fails", "required", 0,
     ("status", "gpuPools", 0, "devices", 0, "deviceClassName"), {"a": {"b": [1]}}),
    ("modelreplica/a-gang-of-an-older-lws-can-be-ready", "observed", 2,
     ("status", "atProvider", "manifest", "spec", "replicas"), {"a": {"b": [1]}}),
    ("modelreplica/another-versions-work-awaits-its-turn", "observed", 1,
     ("spec", "forProvider", "manifest", "spec", "template", "spec", "containers", 0, "env", 0, "name"), {"a": 1}),
    ("modelreplica/rotated-secret-rolls-the-pods", "required", 1, ("data", "token"), {"a": {"b": [1]}}),
    ("modelreplica/vanished-cluster-loses-nothing", "xr", 0, ("status", "workloads", 0, "engine"), {"a": {"b": [1]}}),
    ("modelservice/a-canary-gets-its-part", "required", 1, ("status", "routing", "rewritePath"), {"": ""}),
    ("modelservice/a-key-that-two-callers-publish-is-nobodys", "xr", 0,
     ("spec", "endpoints", 0, "selector", "matchLabels", "provider"), "a@b"),
    ("servingstack/a-chart-that-fails-takes-nothing-else-down", "observed", 13,
     ("status", "atProvider", "manifest", "status", "addresses", 0, "value"), {"": ""}),
    ("servingstack/a-shared-stack-says-when-it-leaves-everything-behind", "observed", 0,
     ("spec", "managementPolicies"), 7),
    ("servingstack/an-observer-that-nobody-needs-may-be-deleted", "observed", 1,
     ("spec", "managementPolicies"), [{"a": 1}]),
]  # fmt: skip


@pytest.mark.parametrize("spec", [None, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("found", FOUND, ids=lambda f: f"{f[0]}-{'.'.join(map(str, f[3]))}")
def test_what_once_was_a_fault_is_none(found: tuple[str, str, int, Path, Any], spec: Any) -> None:
    """With the spec as it is, and with one that does not parse: what is held is read from other places."""
    case, *change = found
    broken = () if spec is None else (Change("xr", 0, ("spec",), spec),)
    assert faults(Attempt(ROOT / case, (Change(*change), *broken))) == []


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "count"), [("places", 400), ("bytes", 1500), ("sweep", 1000), ("reads", 700)])
def test_some_attempts_find_no_fault(mode: str, count: int) -> None:
    found = {str(attempt.shown): wrong for attempt in MODES[mode]()(1, 0, count, "") if (wrong := attempt.faults())}
    assert found == {}
