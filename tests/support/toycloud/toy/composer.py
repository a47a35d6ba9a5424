"""How a ToyCluster is made: of one managed resource."""

from __future__ import annotations

from typing import Any

from function.clouds.toy.model import API_VERSION, KIND, Spec, parse

from function.contracts.cloud import provisioned
from function.core import ComposedResource, Composer, Request, Result
from function.vocabulary import conditions as c

MANAGED = "toy.m.example.org/v1beta1"
_CLUSTER = "cluster"
_KEY = "kubeconfig"


def _compose(request: Request) -> Result:
    spec = parse(request.xr)
    is_made = request.is_ready(_CLUSTER)
    secret = {"type": provisioned.KUBECONFIG, "name": _secret(request), "key": _KEY}
    return Result(
        ready=is_made,
        conditions=(
            c.CLUSTER_RUNNING(why=f"{len(spec.nodePools)} pools") if is_made else c.PROVISIONING(why="Toy is at work"),
        ),
        resources={_CLUSTER: ComposedResource(_manifest(request, spec), is_made)},
        status={"secrets": [secret]} if is_made else {},
        waiting=not is_made,
    )


def _manifest(request: Request, spec: Spec) -> dict[str, Any]:
    return {
        "apiVersion": MANAGED,
        "kind": "Cluster",
        "metadata": {"name": request.identity.name, "namespace": request.identity.namespace},
        "spec": {
            "providerConfigRef": {"kind": spec.credentials.type, "name": spec.credentials.name},
            "writeConnectionSecretToRef": {"name": _secret(request)},
            "forProvider": {
                "region": spec.region,
                "pools": [{"name": p.name, "nodes": p.nodeCount, "size": p.machine.size} for p in spec.nodePools],
            },
        },
    }


def _secret(request: Request) -> str:
    return f"{request.identity.name}-kubeconfig"


COMPOSER = Composer(
    api_version=API_VERSION,
    kind=KIND,
    conditions=(c.CLUSTER_READY,),
    invalid=c.INVALID_CLUSTER,
    requirements=lambda _: (),
    compose=_compose,
)
