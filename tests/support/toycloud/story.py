"""What becomes of InferenceClusters of the toy cloud in the embedded control plane, told as JSON.

It runs in a tree that has the toy cloud, and nowhere else.
"""

from __future__ import annotations

import json
from typing import Any

from function.core import condition, dig, plain
from function.planning.control_plane import ControlPlane
from function.publish import access
from function.sandbox.store import Ref
from function.validation import validate
from function.vocabulary import names, versions
from package import build

MACHINE = {"provider": "Toy", "toy": {"size": "large"}}
NAMES = ("good", "scaled", "unmade")


def class_(name: str, **spec: Any) -> dict[str, Any]:
    device = {"name": "gpu", "driver": "gpu.nvidia.com", "deviceClassName": "gpu.nvidia.com"}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceClass",
        "metadata": {"name": name},
        "spec": {"devices": [device], **spec},
    }


def cluster(name: str, class_name: str = "toy", **pool: Any) -> dict[str, Any]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": name},
        "spec": {
            "cluster": {"source": "Toy", "toy": {"region": "toy-1"}},
            "nodePools": [{"name": "gpu", "className": class_name, "nodeCount": 2, "zones": ["a"], **pool}],
            "servingStack": {"gateway": {"internal": True}},
        },
    }


OBJECTS = (
    {
        "apiVersion": "toy.m.example.org/v1beta1",
        "kind": "ClusterProviderConfig",
        "metadata": {"name": "default"},
        "spec": {"credentials": {"source": "InjectedIdentity"}},
    },
    class_("toy", provisioning=MACHINE),
    class_("bare"),
    cluster("good"),
    cluster("scaled", minNodeCount=0, maxNodeCount=3),
    cluster("unmade", class_name="bare"),
)

IMPOSSIBLE = (
    class_("huge", provisioning={"provider": "Toy", "toy": {"size": "huge"}}),
    class_("bare"),
    {
        **cluster("impossible"),
        "spec": {
            "cluster": {"source": "Toy", "toy": {"region": "toy-1", "cidr": "10.0.0.0/28"}},
            "nodePools": [
                {"name": "first", "className": "huge", "zones": ["a"], "minNodeCount": 1},
                {"name": "second", "className": "bare"},
                {"name": "third", "className": "huge", "minNodeCount": 0, "maxNodeCount": 3},
                {"name": "fourth", "className": "not-given", "minNodeCount": 1},
            ],
        },
    },
)
"""A cluster that has a fault in every pool whose class is given, and one of its own."""


def faults(*objects: Any) -> list[tuple[str, str]]:
    return [(finding.field, finding.message) for finding in validate(objects)]


def load_balancer(control: ControlPlane) -> list[list[Any]]:
    """What is deleted on the cluster, and what holds the cluster until then."""
    store, ours = control.store, names.remote_object("good", "Gateway", names.SYSTEM_NAMESPACE, names.CLUSTER_GATEWAY)
    deleting = [
        m["metadata"]["name"]
        for m in store.of_kind(versions.PROVIDER_KUBERNETES, "Object")
        if {"*", "Delete"} & set(dig(m, "spec", "managementPolicies") or ["*"])
    ]
    users = [
        (m["spec"]["of"]["kind"], m["spec"]["by"]["resourceRef"]["name"], dig(condition(m, "Ready"), "status"))
        for m in store.of_kind(versions.PROTECTION, "Usage")
        if m["spec"]["by"]["resourceRef"]["name"] in (ours, names.gateway_service("good"))
    ]
    return [sorted(deleting), sorted({ours, names.gateway_service("good")}), sorted(users)]


def deletions(changes: list[Any]) -> list[str]:
    """The kinds of what went, in this order: Objects by what they hold, and a cloud's resources once asked to go."""
    found = []
    for change in changes:
        before, after = change.before, change.after
        is_clouds = change.ref.api_version == "toy.m.example.org/v1beta1"
        if before is not None and (after is None or (is_clouds and "deletionTimestamp" in after["metadata"])):
            found.append(dig(before, "spec", "forProvider", "manifest", "kind") or change.ref.kind)
    return list(dict.fromkeys(found))


def main() -> None:
    control = ControlPlane()
    control.loop.load(OBJECTS)
    control.loop.settle()
    store = control.store

    def all_of(api_version: str, kind: str) -> list[Any]:
        return [plain(manifest) for manifest in store.of_kind(api_version, kind)]

    def spec(kind: str) -> list[Any]:
        return [m["spec"] for m in all_of(versions.INFRASTRUCTURE, kind)]

    by_name = {m["metadata"]["name"]: m for m in all_of(versions.MODELPLANE, "InferenceCluster")}
    facts = {
        "findings": [finding.message for finding in validate(OBJECTS[1:4])],
        "faults": faults(*IMPOSSIBLE),
        "mistyped credentials": faults({**OBJECTS[0], "metadata": {"name": "defaults"}}, cluster("good")),
        "faults without classes": faults(IMPOSSIBLE[-1]),
        "conditions": {
            name: f"{(found := condition(by_name[name], 'ClusterReady') or {})['reason']}: {found['message']}"
            for name in NAMES
        },
        "ready": dig(condition(by_name["good"], "Ready"), "status"),
        "address": dig(by_name["good"], "status", "gateway", "address"),
        "composites": spec("ToyCluster"),
        "managed": {
            kind: [m["spec"]["forProvider"] for m in all_of("toy.m.example.org/v1beta1", kind)]
            for kind in ("Network", "Cluster", "Pool")
        },
        "secrets": [sorted(m["data"]) for m in all_of(versions.CORE, "Secret")],
        "access": [
            m["spec"]["credentials"]["secretRef"]["name"]
            for m in all_of(versions.PROVIDER_KUBERNETES, "ClusterProviderConfig")
            if m["metadata"]["name"] == names.provider_config("good")
        ],
        "usages": [
            (m["spec"]["of"]["kind"], m["spec"]["by"]["kind"]) for m in all_of(versions.PROTECTION, "Usage")
            if m["spec"]["of"]["kind"] == "ToyCluster"
        ],
        "activated": access.activation()["spec"]["activate"],
        "packages": [d["package"] for d in build.configuration()[0]["spec"]["dependsOn"]],
    }  # fmt: skip
    composites = spec("ToyCluster")
    store.delete(Ref(versions.MODELPLANE, "InferenceClass", "", "toy"))
    control.loop.settle()
    found = store.get(Ref(versions.MODELPLANE, "InferenceCluster", "", "good"))
    facts["without class"] = {
        "same": spec("ToyCluster") == composites,
        "reason": dig(condition(found or {}, "ClusterReady"), "reason"),
    }
    facts["load balancer"] = load_balancer(control)
    changes = store.feed()
    store.delete(Ref(versions.MODELPLANE, "InferenceCluster", "", "good"))
    control.loop.settle()
    facts["deletions"] = deletions(changes)
    facts["deleted"] = [spec("ToyCluster"), spec("ServingStack"), all_of("toy.m.example.org/v1beta1", "Cluster")]
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
