"""Objects of all kinds but ModelDeployments and ModelReplicas that the API accepts or refuses."""

from __future__ import annotations

from tests.support.samples import CACHE, CLASS, CLUSTER, ENDPOINT, GATEWAY, SERVICE, STACK, edited

DEVICE = "spec.devices.0"
POOL = "spec.nodePools.0"

GOOD = {
    "an IPv6 endpoint": edited(ENDPOINT, "spec.url", "http://[2001:db8::1]:8000/a/b"),
    "an IPv4 endpoint": edited(ENDPOINT, "spec.url", "http://192.0.2.1"),
    "a pool without an autoscaler": edited(CLUSTER, f"{POOL}.maxNodeCount"),
    "a cluster that is brought along": edited(
        CLUSTER, "spec.cluster", {"source": "Existing", "existing": {"secretRef": {"name": "kubeconfig"}}}
    ),
}

BAD = {
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
