"""The pod as a whole: tolerations, affinity, addresses, namespaces of the node, references and what is ours."""

from __future__ import annotations

from typing import Any

from tests.support.samples import TEMPLATE, Object, edited

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NAME = "must be a DNS name: lower-case letters, digits, dashes and dots, a letter or digit around every dot"
_SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}


def on_nodes(*requirements: Any) -> Object:
    terms = [{"matchExpressions": list(requirements)}]
    return edited(TEMPLATE, f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms", terms)


GOOD = {
    "a toleration of everything": edited(TEMPLATE, "spec.tolerations", [{"operator": "Exists"}]),
    "pods apart": edited(
        TEMPLATE,
        f"spec.affinity.podAntiAffinity.{PREFERRED}",
        [{"weight": 1, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}}],
    ),
    "nodes of a zone": on_nodes({"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}),
    "spread": edited(TEMPLATE, "spec.topologySpreadConstraints", [_SPREAD]),
    "addresses": edited(
        edited(TEMPLATE, "spec.hostAliases", [{"ip": "::1", "hostnames": ["a.b"]}]),
        "spec.dnsConfig",
        {"nameservers": ["192.0.2.1"], "searches": ["_a.b.", "."], "options": [{"name": "ndots", "value": "2"}]},
    ),
    "texts that are empty, as charts write them": edited(
        edited(edited(TEMPLATE, "spec.priorityClassName", ""), "spec.nodeName", ""), "spec.serviceAccountName", ""
    ),
    "namespaces of the node": edited(edited(TEMPLATE, "spec.hostNetwork", True), "spec.hostIPC", True),
    "settings": edited(
        TEMPLATE,
        "spec.securityContext",
        {"fsGroup": 1000, "supplementalGroups": [44], "sysctls": [{"name": "net.core.somaxconn", "value": "1024"}]},
    ),
}

BAD = {
    "a toleration of nothing": (
        edited(TEMPLATE, "spec.tolerations", [{"value": "x"}]),
        "spec.tolerations[0].operator: must be Exists in a toleration without a key",
    ),
    "a toleration of a value that exists": (
        edited(TEMPLATE, "spec.tolerations", [{"key": "a", "operator": "Exists", "value": "x"}]),
        "spec.tolerations[0].value: must be empty in a toleration with operator Exists",
    ),
    "a toleration for seconds of what does not evict": (
        edited(TEMPLATE, "spec.tolerations", [{"key": "a", "operator": "Exists", "tolerationSeconds": 1}]),
        "spec.tolerations[0].effect: must be NoExecute in a toleration with tolerationSeconds",
    ),
    "a priority of Kubernetes' own": (
        edited(TEMPLATE, "spec.priorityClassName", "system-node-critical"),
        (
            "spec.priorityClassName: must be a PriorityClass of the cluster's own: those that begin with system- are"
            " for what a cluster cannot live without, and evict everything else"
        ),
    ),
    "a pull secret with capitals": (
        edited(TEMPLATE, "spec.imagePullSecrets.0.name", "Registry"),
        f'spec.imagePullSecrets[0].name: {_NAME} (1 to 253 characters), not "Registry"',
    ),
    "pods that do not restart": (
        edited(TEMPLATE, "spec.restartPolicy", "Never"),
        'spec.restartPolicy: must be Always, not "Never"',
    ),
    "pods that end": (
        edited(TEMPLATE, "spec.activeDeadlineSeconds", 60),
        "spec.activeDeadlineSeconds: is not for pods that restart always",
    ),
    "pods of Windows": (
        edited(TEMPLATE, "spec.os", {"name": "windows"}),
        'spec.os.name: must be linux, not "windows"',
    ),
    "a grace period as text": (
        edited(TEMPLATE, "spec.terminationGracePeriodSeconds", "30"),
        'spec.terminationGracePeriodSeconds: must be a whole number from 0 to 2147483647, not "30"',
    ),
    "no address": (
        edited(TEMPLATE, "spec.hostAliases", [{"ip": "localhost", "hostnames": ["a"]}]),
        'spec.hostAliases[0].ip: must be an IP address, not "localhost"',
    ),
    "four servers of names": (
        edited(TEMPLATE, "spec.dnsConfig.nameservers", [f"192.0.2.{i}" for i in range(4)]),
        "spec.dnsConfig.nameservers: must have at most 3 items, not 4",
    ),
    "no servers of names": (
        edited(TEMPLATE, "spec.dnsPolicy", "None"),
        "spec.dnsConfig.nameservers: is required with dnsPolicy: None",
    ),
    "nodes of no zone": (
        on_nodes({"key": "zone", "operator": "In"}),
        (
            f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values: must have at least"
            " 1 item with operator In, not 0"
        ),
    ),
    "nodes with no terms": (
        edited(TEMPLATE, f"spec.affinity.nodeAffinity.{REQUIRED}", {"nodeSelectorTerms": []}),
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms: must have at least 1 item, not 0",
    ),
    "a node by no name": (
        edited(
            TEMPLATE,
            f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms",
            [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["Node"]}]}],
        ),
        (f'spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchFields[0].values[0]: {_NAME}, not "Node"'),
    ),
    "a weight of nothing": (
        edited(
            TEMPLATE, f"spec.affinity.podAffinity.{PREFERRED}", [{"weight": 0, "podAffinityTerm": {"topologyKey": "a"}}]
        ),
        f"spec.affinity.podAffinity.{PREFERRED}[0].weight: must be a whole number from 1 to 100, not 0",
    ),
    "spread twice": (
        edited(TEMPLATE, "spec.topologySpreadConstraints", [_SPREAD] * 2),
        (
            "spec.topologySpreadConstraints[1]: has the topologyKey and whenUnsatisfiable of an item above it, zone and"
            " ScheduleAnyway; each needs its own"
        ),
    ),
    "spread over fewer domains than are there": (
        edited(TEMPLATE, "spec.topologySpreadConstraints", [{**_SPREAD, "minDomains": 2}]),
        "spec.topologySpreadConstraints[0].minDomains: needs whenUnsatisfiable: DoNotSchedule",
    ),
    "keys to match without a selector": (
        edited(TEMPLATE, "spec.topologySpreadConstraints", [{**_SPREAD, "matchLabelKeys": ["a"]}]),
        "spec.topologySpreadConstraints[0].matchLabelKeys: needs a labelSelector",
    ),
    "processes of the node and of the pod": (
        edited(edited(TEMPLATE, "spec.hostPID", True), "spec.shareProcessNamespace", True),
        "spec.shareProcessNamespace: cannot be set together with hostPID",
    ),
    "the node's network with users of one's own": (
        edited(edited(TEMPLATE, "spec.hostNetwork", True), "spec.hostUsers", False),
        "spec.hostNetwork: cannot be set together with hostUsers: false",
    ),
    "a port of the node that is another": (
        edited(
            edited(TEMPLATE, "spec.hostNetwork", True),
            "spec.containers.0.ports",
            [{"containerPort": 8000, "hostPort": 80}],
        ),
        "spec.containers[0].ports[0].hostPort: must be 8000 as containerPort with hostNetwork, not 80",
    ),
    "a sysctl twice": (
        edited(TEMPLATE, "spec.securityContext.sysctls", [{"name": "net.a", "value": "1"}] * 2),
        "spec.securityContext.sysctls[1].name: is the name of a sysctl above it, net.a",
    ),
    "a claim of no kind": (
        edited(TEMPLATE, "spec.resourceClaims", [{"name": "nic"}]),
        "spec.resourceClaims[0]: must have exactly one of resourceClaimName, resourceClaimTemplateName, and has none",
    ),
}
