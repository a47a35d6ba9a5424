"""Objects that the API accepts, and objects that it refuses, with the field and the words that their user reads."""

from __future__ import annotations

from typing import Any

from tests.support import cache_cases
from tests.support.samples import (
    CACHE,
    CLASS,
    CLUSTER,
    CONTAINER,
    DEPLOYMENT,
    ENDPOINT,
    GATEWAY,
    REPLICA,
    SERVICE,
    STACK,
    edited,
)

ENGINE = "spec.engines.0"
MEMBER = f"{ENGINE}.members.0"
GANG = "spec.engines.1"
AT_MEMBER = "spec.engines[0].members[0]"
AT = f"{AT_MEMBER}.template.spec.containers[0]"
TEMPLATE = f"{MEMBER}.template"
IN = f"{TEMPLATE}.spec.containers.0"
DEVICE = "spec.devices.0"
POOL = "spec.nodePools.0"
PAIR = edited(DEPLOYMENT, "spec.serving.mode", "PrefillDecode")
STANDALONE = {"role": "Standalone", "template": {"spec": {"containers": [CONTAINER]}}}
ONE_OR_GANG = "spec.engines[0].members: an engine has one Standalone member, or exactly one Leader and one Worker"
PHASES = (
    "spec.engines: serving mode PrefillDecode needs exactly two engines, one of phase Prefill and one of phase Decode; "
    "without it no engine has a phase"
)
HANDLER = "a probe needs exactly one of httpGet, tcpSocket, grpc and exec"


def phases(*which: str | None) -> list[dict[str, Any]]:
    engine = {key: value for key, value in DEPLOYMENT["spec"]["engines"][0].items() if key != "name"}
    return [{"name": f"e{i}", **engine, **({"phase": p} if p else {})} for i, p in enumerate(which)]


def member(role: str) -> dict[str, Any]:
    return {**DEPLOYMENT["spec"]["engines"][0]["members"][0], "role": role}


GOOD = {
    "prefill and decode": edited(PAIR, "spec.engines", phases("Prefill", "Decode")),
    "decode and prefill": edited(PAIR, "spec.engines", phases("Decode", "Prefill")),
    "no replicas": edited(DEPLOYMENT, "spec.replicas", 0),
    "a whole double, as protobuf has them": edited(DEPLOYMENT, "spec.replicas", 2.0),
    "a field of a later version": edited(DEPLOYMENT, "spec.later", {"a": 1}),
    "nulls, which the API server drops": edited(DEPLOYMENT, f"{IN}.args", None),
    "a toleration of everything": edited(DEPLOYMENT, "spec.tolerations", [{"operator": "Exists"}]),
    "a worker that does not say how many": edited(DEPLOYMENT, f"{GANG}.members.1.worker"),
    "as much as its limit": edited(
        DEPLOYMENT, f"{IN}.resources", {"requests": {"cpu": 1}, "limits": {"cpu": "1000m", "memory": "1Gi"}}
    ),
    "annotations of 240 KiB": edited(
        DEPLOYMENT, f"{TEMPLATE}.metadata.annotations", {f"note-{i}": "x" * 30720 for i in range(8)}
    ),
    "no metadata": edited(DEPLOYMENT, f"{TEMPLATE}.metadata"),
    "no value": edited(DEPLOYMENT, f"{IN}.env.0", {"name": "EMPTY"}),
    "a replica without requests": edited(REPLICA, f"{MEMBER}.deviceRequests"),
    "an IPv6 endpoint": edited(ENDPOINT, "spec.url", "http://[2001:db8::1]:8000/a/b"),
    "an IPv4 endpoint": edited(ENDPOINT, "spec.url", "http://192.0.2.1"),
    "a pool without an autoscaler": edited(CLUSTER, f"{POOL}.maxNodeCount"),
    "a cluster that is brought along": edited(
        CLUSTER, "spec.cluster", {"source": "Existing", "existing": {"secretRef": {"name": "kubeconfig"}}}
    ),
    **cache_cases.GOOD,
}

BAD = {
    "an empty list of requests": (
        edited(REPLICA, f"{MEMBER}.deviceRequests", []),
        f"{AT_MEMBER}.deviceRequests: must have at least 1 item, not 0",
    ),
    "too many replicas": (
        edited(DEPLOYMENT, "spec.replicas", 101),
        "spec.replicas: must be a whole number from 0 to 100, not 101",
    ),
    "half a replica": (
        edited(DEPLOYMENT, "spec.replicas", 0.5),
        "spec.replicas: must be a whole number from 0 to 100, not 0.5",
    ),
    "a number as text": (
        edited(DEPLOYMENT, "spec.replicas", "2"),
        'spec.replicas: must be a whole number from 0 to 100, not "2"',
    ),
    "a truth for a number": (
        edited(DEPLOYMENT, "spec.replicas", True),
        "spec.replicas: must be a whole number from 0 to 100, not true",
    ),
    "no engines": (edited(DEPLOYMENT, "spec.engines"), "spec.engines: is required"),
    "an empty list of engines": (
        edited(DEPLOYMENT, "spec.engines", []),
        "spec.engines: must have at least 1 item, not 0",
    ),
    "nine engines": (
        edited(DEPLOYMENT, "spec.engines", phases(*[None] * 9)),
        "spec.engines: must have at most 8 items, not 9",
    ),
    "two engines of one name": (
        edited(DEPLOYMENT, f"{GANG}.name", "alone"),
        "spec.engines[1]: has the name of an item above it, alone; each needs its own",
    ),
    "an engine with capitals": (
        edited(DEPLOYMENT, f"{ENGINE}.name", "vLLM"),
        (
            "spec.engines[0].name: must be a DNS label: lower-case letters, digits and dashes, a letter or digit at "
            "both "
            'ends (1 to 63 characters), not "vLLM"'
        ),
    ),
    "an engine with a line end": (
        edited(DEPLOYMENT, f"{ENGINE}.name", "vllm\n"),
        (
            "spec.engines[0].name: must be a DNS label: lower-case letters, digits and dashes, a letter or digit at "
            "both "
            'ends (1 to 63 characters), not "vllm\\n"'
        ),
    ),
    "a role of one's own": (
        edited(DEPLOYMENT, f"{MEMBER}.role", "Primary"),
        f'{AT_MEMBER}.role: must be one of Standalone, Leader, Worker, not "Primary"',
    ),
    "an engine that is a list": (
        edited(DEPLOYMENT, ENGINE, [1]),
        "spec.engines[0]: must be a map of fields, not a list of 1 item",
    ),
    "a leader alone": (edited(DEPLOYMENT, f"{MEMBER}.role", "Leader"), ONE_OR_GANG),
    "two leaders": (edited(DEPLOYMENT, f"{ENGINE}.members", [member("Leader")] * 2), ONE_OR_GANG),
    "two workers": (edited(DEPLOYMENT, f"{ENGINE}.members", [member("Worker")] * 2), ONE_OR_GANG),
    "two that stand alone": (edited(DEPLOYMENT, f"{ENGINE}.members", [member("Standalone")] * 2), ONE_OR_GANG),
    "a leader alone in a replica": (edited(REPLICA, f"{MEMBER}.role", "Leader"), ONE_OR_GANG),
    "worker on a Standalone": (
        edited(DEPLOYMENT, f"{MEMBER}.worker", {"nodes": 2}),
        f"{AT_MEMBER}.worker: worker is only for a member with role Worker",
    ),
    "no nodeSelector": (
        edited(DEPLOYMENT, f"{ENGINE}.members", [STANDALONE]),
        "spec.engines[0].members: at least one member of an engine needs a nodeSelector",
    ),
    "a phase without PrefillDecode": (edited(DEPLOYMENT, f"{ENGINE}.phase", "Prefill"), PHASES),
    "PrefillDecode without phases": (PAIR, PHASES),
    "two that prefill": (edited(PAIR, "spec.engines", phases("Prefill", "Prefill")), PHASES),
    "a third engine": (edited(PAIR, "spec.engines", phases("Prefill", "Decode", None)), PHASES),
    "one replica engine that decodes": (edited(REPLICA, f"{ENGINE}.phase", "Decode"), PHASES),
    "no selectors": (
        edited(DEPLOYMENT, f"{MEMBER}.nodeSelector.devices.0.selectors", []),
        f"{AT_MEMBER}.nodeSelector.devices[0].selectors: must have at least 1 item, not 0",
    ),
    "an empty selector": (
        edited(DEPLOYMENT, f"{MEMBER}.nodeSelector.devices.0.selectors.0.cel", ""),
        f'{AT_MEMBER}.nodeSelector.devices[0].selectors[0].cel: must be 1 to 10240 characters, not ""',
    ),
    "a toleration of nothing": (
        edited(DEPLOYMENT, "spec.tolerations.0", {"value": "x"}),
        "spec.tolerations[0].operator: a toleration without a key tolerates everything, and needs operator Exists",
    ),
    "Exists with a value": (
        edited(DEPLOYMENT, "spec.tolerations.0.value", "x"),
        "spec.tolerations[0].value: a toleration with operator Exists has no value",
    ),
    "a label of Modelplane": (
        edited(DEPLOYMENT, f"{TEMPLATE}.metadata.labels", {"modelplane.ai/pool": "x"}),
        (
            f'{AT_MEMBER}.template.metadata.labels["modelplane.ai/pool"]: is under modelplane.ai/, which '
            "Modelplane sets itself"
        ),
    ),
    "an annotation of Modelplane": (
        edited(DEPLOYMENT, f"{TEMPLATE}.metadata.annotations", {"modelplane.ai/a": "x"}),
        (
            f'{AT_MEMBER}.template.metadata.annotations["modelplane.ai/a"]: is under modelplane.ai/, which '
            "Modelplane sets itself"
        ),
    ),
    "a label key with a space": (
        edited(DEPLOYMENT, f"{TEMPLATE}.metadata.labels", {"a b": "x"}),
        (
            f'{AT_MEMBER}.template.metadata.labels["a b"]: must have a key that is a label key: up to 63 '
            "letters, digits, dashes, dots and underscores, alone or after a DNS name of up to 253 characters and a "
            "slash"
        ),
    ),
    "a label value with a space": (
        edited(DEPLOYMENT, f"{TEMPLATE}.metadata.labels", {"a": "b c"}),
        (
            f"{AT_MEMBER}.template.metadata.labels.a: must be a label value: letters, digits, dashes, dots "
            'and underscores, a letter or digit at both ends (up to 63 characters), not "b c"'
        ),
    ),
    "two containers": (
        edited(DEPLOYMENT, f"{TEMPLATE}.spec.containers", [CONTAINER, CONTAINER]),
        f"{AT_MEMBER}.template.spec.containers: must have at most 1 item, not 2",
    ),
    "a container of another name": (
        edited(DEPLOYMENT, f"{IN}.name", "main"),
        f'{AT}.name: must be engine, not "main"',
    ),
    "an empty image": (
        edited(DEPLOYMENT, f"{IN}.image", ""),
        (
            f"{AT}.image: must be an image reference, such as registry.example.org/team/engine:v1, with its path in "
            'lower case (1 to 1024 characters), not ""'
        ),
    ),
    "a number among the arguments": (
        edited(DEPLOYMENT, f"{IN}.args", ["--port", 8000]),
        (f"{AT}.args[1]: must be a string; numbers and yes, no, true and false are written in quotes"),
    ),
    "arguments as one text": (
        edited(DEPLOYMENT, f"{IN}.args", "--port 8000"),
        f"{AT}.args: must be a list, not a string",
    ),
    "a variable's name with a space": (
        edited(DEPLOYMENT, f"{IN}.env.0.name", "A B"),
        (
            f"{AT}.env[0].name: must be a variable's name: letters, "
            "digits, dashes, dots and underscores, no digit first, not . and not starting with two dots (1 to 253 "
            'characters), not "A B"'
        ),
    ),
    "a variable twice": (
        edited(DEPLOYMENT, f"{IN}.env.1.name", "PLAIN"),
        (f"{AT}.env[1]: has the name of an item above it, PLAIN; each needs its own"),
    ),
    "a value and a valueFrom": (
        edited(DEPLOYMENT, f"{IN}.env.1.value", "x"),
        f"{AT}.env[1]: a variable has a value or a valueFrom, not both",
    ),
    "two sources": (
        edited(DEPLOYMENT, f"{IN}.env.1.valueFrom.fieldRef", {"fieldPath": "metadata.name"}),
        (f"{AT}.env[1].valueFrom: valueFrom needs exactly one of secretKeyRef, configMapKeyRef and fieldRef"),
    ),
    "no source": (
        edited(DEPLOYMENT, f"{IN}.env.1.valueFrom", {}),
        (f"{AT}.env[1].valueFrom: valueFrom needs exactly one of secretKeyRef, configMapKeyRef and fieldRef"),
    ),
    "a field that pods do not have": (
        edited(DEPLOYMENT, f"{IN}.env.3.valueFrom.fieldRef.fieldPath", "spec.image"),
        (
            f"{AT}.env[3].valueFrom.fieldRef.fieldPath: must be "
            "metadata.labels['<key>'], metadata.annotations['<key>'], metadata.name, metadata.namespace, metadata.uid, "
            "spec.nodeName, spec.serviceAccountName, status.hostIP, status.hostIPs, status.podIP or status.podIPs "
            '(1 to 341 characters), not "spec.image"'
        ),
    ),
    "a label by what is no key": (
        edited(DEPLOYMENT, f"{IN}.env.3.valueFrom.fieldRef.fieldPath", "metadata.labels['a b']"),
        (
            f"{AT}.env[3].valueFrom.fieldRef.fieldPath: must be "
            "metadata.labels['<key>'], metadata.annotations['<key>'], metadata.name, metadata.namespace, metadata.uid, "
            "spec.nodeName, spec.serviceAccountName, status.hostIP, status.hostIPs, status.podIP or status.podIPs "
            "(1 to 341 characters), not \"metadata.labels['a b']\""
        ),
    ),
    "annotations of 300 KiB": (
        edited(DEPLOYMENT, f"{TEMPLATE}.metadata.annotations", {f"note-{i}": "x" * 30720 for i in range(10)}),
        f"{AT_MEMBER}.template.metadata.annotations: annotations may have 253952 bytes together, keys and values",
    ),
    "annotations of 300 KiB in few characters": (
        edited(DEPLOYMENT, f"{TEMPLATE}.metadata.annotations", {f"note-{i}": "\u20ac" * 20480 for i in range(5)}),
        f"{AT_MEMBER}.template.metadata.annotations: annotations may have 253952 bytes together, keys and values",
    ),
    "more arguments than an object holds": (
        edited(DEPLOYMENT, f"{IN}.args", ["x" * 32768] * 11),
        (
            f"{AT_MEMBER}.template: command, args, values of env, probes and annotations may have 327680 characters "
            "together; mount what is longer from a file of the image"
        ),
    ),
    "longer probes than an object holds": (
        edited(DEPLOYMENT, f"{IN}.livenessProbe.exec.command", ["x" * 32768] * 11),
        (
            f"{AT_MEMBER}.template: command, args, values of env, probes and annotations may have 327680 characters "
            "together; mount what is longer from a file of the image"
        ),
    ),
    "GPUs as a resource": (
        edited(DEPLOYMENT, f"{IN}.resources.limits", {"nvidia.com/gpu": 1}),
        (
            f'{AT}.resources.limits["nvidia.com/gpu"]: must have a key '
            "that is cpu, memory or ephemeral-storage (devices are asked for by nodeSelector.devices)"
        ),
    ),
    "a quantity that is none": (
        edited(DEPLOYMENT, f"{IN}.resources.limits", {"memory": "16GB"}),
        (
            f"{AT}.resources.limits.memory: must be a Kubernetes quantity "
            'such as 500m, 8, 40Gi or 1.5e3; a fraction is written in quotes, not "16GB"'
        ),
    ),
    "more than its limit": (
        edited(DEPLOYMENT, f"{IN}.resources", {"requests": {"memory": "2Gi"}, "limits": {"memory": "2G"}}),
        f"{AT}.resources.requests: a request cannot be more than its limit",
    ),
    "a probe of two kinds": (
        edited(DEPLOYMENT, f"{IN}.startupProbe.tcpSocket", {"port": 1}),
        f"{AT}.startupProbe: {HANDLER}",
    ),
    "a probe of no kind": (
        edited(DEPLOYMENT, f"{IN}.startupProbe", {}),
        f"{AT}.startupProbe: {HANDLER}",
    ),
    "a probe on a port by name": (
        edited(DEPLOYMENT, f"{IN}.startupProbe.httpGet.port", "http"),
        (f'{AT}.startupProbe.httpGet.port: must be a whole number from 1 to 65535, not "http"'),
    ),
    "a liveness probe that succeeds twice": (
        edited(DEPLOYMENT, f"{IN}.livenessProbe.successThreshold", 2),
        (f"{AT}: successThreshold must be 1 for startupProbe and livenessProbe"),
    ),
    "a readiness probe with a grace period": (
        edited(DEPLOYMENT, f"{IN}.readinessProbe.terminationGracePeriodSeconds", 5),
        (f"{AT}.readinessProbe: terminationGracePeriodSeconds is not for a readinessProbe, which ends no container"),
    ),
    "a priority of Kubernetes' own": (
        edited(DEPLOYMENT, f"{TEMPLATE}.spec.priorityClassName", "system-node-critical"),
        (
            f"{AT_MEMBER}.template.spec.priorityClassName: priorityClassName must be a PriorityClass of the cluster's"
            " own: those that begin with system- are for what a cluster cannot live without, and evict everything else"
        ),
    ),
    "a pull secret with capitals": (
        edited(DEPLOYMENT, f"{TEMPLATE}.spec.imagePullSecrets.0.name", "Registry"),
        (
            f"{AT_MEMBER}.template.spec.imagePullSecrets[0].name: must be a DNS name: lower-case letters, "
            'digits, dashes and dots, a letter or digit around every dot (1 to 253 characters), not "Registry"'
        ),
    ),
    "a service that selects everything": (
        edited(SERVICE, "spec.endpoints.0.selector.matchLabels", {}),
        "spec.endpoints[0].selector.matchLabels: must have at least 1 item, not 0",
    ),
    "a weight of nothing": (
        edited(SERVICE, "spec.endpoints.0.weight", 0),
        "spec.endpoints[0].weight: must be a whole number from 1 to 1000000, not 0",
    ),
    "a path that is not absolute": (
        edited(ENDPOINT, "spec.rewritePath", "v1"),
        (
            "spec.rewritePath: must be an absolute path in ASCII, without query and fragment, and without empty, . or"
            " .. parts (1 to 1024 characters)"
        ),
    ),
    "a repository that is a command": (
        edited(CACHE, "spec.huggingFace.repo", "org/m; touch /tmp/x #"),
        (
            "spec.huggingFace.repo: must be a repository of the hub, such as Qwen/Qwen3-8B (1 to 193 characters), "
            'not "org/m; touch /tmp/x #"'
        ),
    ),
    "a repository with two dots": (
        edited(CACHE, "spec.huggingFace.repo", "org/a..b"),
        "spec.huggingFace.repo: repo cannot have two dashes or two dots in a row",
    ),
    "a revision that climbs": (
        edited(CACHE, "spec.huggingFace.revision", "a/../b"),
        "spec.huggingFace.revision: revision cannot have two dots in a row",
    ),
    "a source without its block": (
        edited(CACHE, "spec.huggingFace"),
        "spec.huggingFace: source HuggingFace needs huggingFace",
    ),
    "an attribute of two types": (
        edited(CLASS, f"{DEVICE}.attributes.architecture.int", 1),
        "spec.devices[0].attributes.architecture: an attribute has exactly one of string, version, bool and int",
    ),
    "an attribute of no type": (
        edited(CLASS, f"{DEVICE}.attributes.architecture", {}),
        "spec.devices[0].attributes.architecture: an attribute has exactly one of string, version, bool and int",
    ),
    "a version of one number": (
        edited(CLASS, f"{DEVICE}.attributes.cudaComputeCapability.version", "9"),
        (
            "spec.devices[0].attributes.cudaComputeCapability.version: must be a semantic version with three numbers, "
            'such as 9.0.0 (1 to 64 characters), not "9"'
        ),
    ),
    "a capacity that is none": (
        edited(CLASS, f"{DEVICE}.capacity.memory.value", "80 Gi"),
        (
            "spec.devices[0].capacity.memory.value: must be a Kubernetes quantity such as 500m, 8, 40Gi or 1.5e3; a "
            'fraction is written in quotes, not "80 Gi"'
        ),
    ),
    "an attribute's name with a dash": (
        edited(CLASS, f"{DEVICE}.attributes", {"a-b": {"int": 1}}),
        (
            "spec.devices[0].attributes.a-b: must have a key that is a name of up to 32 letters, digits and "
            "underscores, alone or after a domain of up to 63 characters and a slash"
        ),
    ),
    "a DRA device without a class": (
        edited(CLASS, f"{DEVICE}.deviceClassName"),
        "spec.devices[0].deviceClassName: a device that is claimed through DRA needs a deviceClassName",
    ),
    "a provider without its block": (
        edited(CLASS, "spec.provisioning.provider", "GKE"),
        "spec.provisioning.gke: provider GKE needs gke",
    ),
    "a cluster source without its block": (
        edited(CLUSTER, "spec.cluster.source", "Vultr"),
        "spec.cluster.vultr: source Vultr needs vultr",
    ),
    "a block of another source": (
        edited(CLUSTER, "spec.cluster.gke", {"region": "us-central1"}),
        "spec.cluster.gke: gke is only for source GKE",
    ),
    "a block of another provider": (
        edited(CLASS, "spec.provisioning.vultr", {"plan": "vcg-l40s-16c-180g-48vram"}),
        "spec.provisioning.vultr: vultr is only for provider Vultr",
    ),
    "a pool named system": (
        edited(CLUSTER, f"{POOL}.name", "system"),
        "spec.nodePools[0].name: the name system is kept for the cluster's own pool",
    ),
    "fewer at most than at least": (
        edited(CLUSTER, f"{POOL}.minNodeCount", 5),
        "spec.nodePools[0].minNodeCount: minNodeCount cannot be more than maxNodeCount",
    ),
    "a negative pool": (
        edited(CLUSTER, f"{POOL}.nodeCount", -1),
        "spec.nodePools[0].nodeCount: must be a whole number from 0 to 5000, not -1",
    ),
    "a fabric of two kinds": (
        edited(CLUSTER, f"{POOL}.fabric.type", "EFA"),
        "spec.nodePools[0].fabric.infiniband: infiniband is only for a fabric of type InfiniBand",
    ),
    "a second gateway": (
        edited(GATEWAY, "metadata.name", "other"),
        "metadata.name: there is one InferenceGateway, named default",
    ),
    "MetalLB without addresses": (
        edited(GATEWAY, "spec.traefik.metallb"),
        "spec.traefik.metallb: loadBalancer MetalLB needs metallb",
    ),
    "a stack of no cluster": (edited(STACK, "spec.clusterName"), "spec.clusterName: is required"),
    **cache_cases.BAD,
}

URLS = {
    "ftp://api.example.org",
    "https://",
    "https:///v1",
    "https://user:hunter2@api.example.org",
    "https://api.example.org/v1?key=hunter2",
    "https://api.example.org#v1",
    "https://api.example.org:0",
    "https://api.example.org:65536",
    "https://192.0.2.256",
    "https://[2001:db8]",
    "https://2001:db8::1",
    "https://api_one.example.org",
    "https://api.example.org/a b",
    "https://api.example.org/a/../b",
    "https://api.example.org//v1",
    "https://api.example.org/a%2fb",
    "https://api.example.org./v1",
    "https://api.example.\u00e9",
    "HTTPS://api.example.org",
    "api.example.org",
}
