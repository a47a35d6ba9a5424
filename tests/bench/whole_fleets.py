"""Manifests of a whole fleet, as a user writes them: for `plan`, `what-if` and the embedded control plane.

python -m tests.bench.whole_fleets 100 100 > fleet.yaml
modelplane what-if fleet.yaml --lose any
"""

from __future__ import annotations

import sys
from typing import Any

import yaml

from function.vocabulary import labels, versions

NAMESPACE = "ml-team"
Object = dict[str, Any]


def manifests(clusters: int, deployments: int, *, nodes: int = 4, replicas: int = 1, services: int = 0) -> list[Object]:
    """A fleet from nothing.

    Args:
        clusters: The number of clusters, each with a pool of nodes with one L4 each.
        deployments: The number of deployments; each replica takes a node.
        nodes: The nodes of each pool.
        replicas: The replicas of each deployment.
        services: The number of services; each leads to one of the deployments.
    """
    return [
        inference_class(),
        *(cluster(f"c{i}", nodes) for i in range(clusters)),
        *(deployment(f"d{i}", replicas) for i in range(deployments)),
        *(service(f"d{i}") for i in range(services)),
    ]


def inference_class() -> Object:
    gpu = {"name": "gpu", "claim": "DRA", "driver": "gpu.nvidia.com", "deviceClassName": "gpu.nvidia.com"}
    return _object("InferenceClass", "l4", "", {"devices": [gpu]})


def cluster(name: str, nodes: int) -> Object:
    existing = {"secretRef": {"name": f"{name}-kubeconfig"}}
    pool = {"name": "pool", "className": "l4", "nodeCount": nodes}
    spec = {"cluster": {"source": "Existing", "existing": existing}, "nodePools": [pool]}
    return _object("InferenceCluster", name, "", spec)


def deployment(name: str, replicas: int) -> Object:
    asked = {"name": "gpu", "selectors": [{"cel": 'device.driver == "gpu.nvidia.com"'}]}
    member = {
        "role": "Standalone",
        "nodeSelector": {"devices": [asked]},
        "template": {"spec": {"containers": [{"name": "engine", "image": "vllm/vllm-openai:v0.23.0"}]}},
    }
    engines = [{"name": "e", "members": [member]}]
    return _object("ModelDeployment", name, NAMESPACE, {"replicas": replicas, "engines": engines})


def service(name: str) -> Object:
    """A service that leads to the deployment of the same name."""
    endpoint = {"selector": {"matchLabels": {labels.DEPLOYMENT: name}}}
    return _object("ModelService", name, NAMESPACE, {"endpoints": [endpoint]})


def _object(kind: str, name: str, namespace: str, spec: Object) -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": versions.MODELPLANE, "kind": kind, "metadata": metadata, "spec": spec}


if __name__ == "__main__":
    yaml.safe_dump_all(manifests(*map(int, sys.argv[1:])), sys.stdout)
