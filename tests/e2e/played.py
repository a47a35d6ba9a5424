"""Plays what is below clusters and deployments, where a story needs hundreds of them and none of their pods.

- The provider: it reports a Gateway with an address, and a namespace kube-system with a UID, for every cluster.
- The composers of ModelReplicas and ModelEndpoints: those are paused as soon as they are made, and reported as ready.

So all that deployments and clusters read is there, and who reads it is real: Crossplane, and our composers of both.
"""

import contextlib
import datetime as dt
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.e2e import objects
from tests.e2e.control import Control
from tests.e2e.kube import Api, Gone, Object
from tests.e2e.team import OBJECT
from tests.e2e.waiting import until

CLUSTER = "modelplane.ai/cluster"
PAUSED = "crossplane.io/paused"  # crossplane-runtime v2.4, pkg/meta
POLICY = "admissionregistration.k8s.io/v1"
NAME = "played"


@dataclass(slots=True)
class Stage:
    """What is played on a control cluster."""

    control: Control
    addresses: dict[str, str] = field(default_factory=dict)  # of each cluster's Gateway; others get one of their own

    def open(self) -> None:
        """Play, until the API server ends."""
        api = self.control.api
        api.apply(*pausing())
        until(lambda: pauses(self.control.as_crossplane), "what is played to be paused")
        self.follow(api, OBJECT, "Object", self.observed)
        for kind, state in (("ModelReplica", served), ("ModelEndpoint", routed)):
            self.follow(self.control.as_crossplane, objects.GROUP, kind, state)

    def follow(self, api: Api, api_version: str, kind: str, state: Callable[[Object], Object]) -> None:
        """Report the state of each object of a kind as soon as it is there."""
        writer = api.as_user(api.token)

        def report() -> None:
            for change, target in writer.watch(api_version, kind):
                if change == "ADDED":
                    with contextlib.suppress(Gone):
                        writer.apply_status(target, state(target))

        threading.Thread(target=report, name=f"{NAME} {kind}", daemon=True).start()

    def observed(self, target: Object) -> Object:
        """An Object that observes a cluster, as the provider reports it."""
        cluster = target["metadata"]["labels"][CLUSTER]
        manifest = target["spec"]["forProvider"]["manifest"]
        seen = self.gateway(cluster) if manifest["kind"] == "Gateway" else identified(cluster)
        return {"atProvider": {"manifest": {**manifest, **seen}}, "conditions": conditions("Synced", "Ready")}

    def gateway(self, cluster: str) -> Object:
        return {"status": {"addresses": [{"type": "IPAddress", "value": self.addresses[cluster]}]}}

    def move_gateway(self, cluster: str, address: str) -> None:
        """Give a cluster's Gateway another address, as seen by the provider."""
        self.addresses[cluster] = address
        for target in self.control.api.list(OBJECT, "Object", objects.SYSTEM, {CLUSTER: cluster}):
            if target["spec"]["forProvider"]["manifest"]["kind"] == "Gateway":
                self.control.api.apply_status(target, self.observed(target))


def identified(cluster: str) -> Object:
    return {"metadata": {"name": "kube-system", "uid": str(uuid.uuid5(uuid.NAMESPACE_DNS, cluster))}}


def served(_: Object) -> Object:
    return {"serving": True, "served": True, "conditions": conditions("ModelAccepted", "ModelReady", "Ready")}


def routed(_: Object) -> Object:
    return {"serving": True, "conditions": conditions("RoutingReady", "Ready")}


def conditions(*kinds: str) -> list[Object]:
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [{"type": one, "status": "True", "reason": "Played", "lastTransitionTime": now} for one in kinds]


def pausing() -> tuple[Object, Object]:
    """Pauses what is played while it is made, before its composer sees it."""
    annotated = f'Object{{metadata: Object.metadata{{annotations: {{"{PAUSED}": "true"}}}}}}'
    kinds: dict[str, Any] = {
        "apiGroups": ["modelplane.ai"],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": ["modelreplicas", "modelendpoints"],
    }
    return (
        {
            "apiVersion": POLICY,
            "kind": "MutatingAdmissionPolicy",
            "metadata": {"name": NAME},
            "spec": {
                "matchConstraints": {"resourceRules": [kinds]},
                "failurePolicy": "Fail",
                "reinvocationPolicy": "Never",
                "mutations": [
                    {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": annotated}},
                ],
            },
        },
        {
            "apiVersion": POLICY,
            "kind": "MutatingAdmissionPolicyBinding",
            "metadata": {"name": NAME},
            "spec": {"policyName": NAME},
        },
    )


def pauses(api: Api) -> bool:
    """Whether an endpoint would be paused if it was made now."""
    made = api.create(objects.endpoint(NAME), dryRun="All")
    return made["metadata"].get("annotations", {}).get(PAUSED) == "true"
