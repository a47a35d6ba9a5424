"""The inference cluster: a real API server, controllers and scheduler, and nodes that only look real."""

from tests.e2e import fleet, objects, pins, programs
from tests.e2e.kube import Api, Object, says
from tests.e2e.programs import Site
from tests.e2e.waiting import until

NAME = "inference"
CRDS = (pins.LEADER_WORKER_SET, pins.GATEWAY_API, pins.INFERENCE_EXTENSION, pins.ENVOY_GATEWAY, pins.METALLB)


def start(site: Site, store: int) -> Api:
    """Start it, and wait until its nodes take pods."""
    api = programs.api_server(site, NAME, store)
    for module in CRDS:
        install(api, site, module)
    programs.controller_manager(site, NAME)
    programs.scheduler(site, NAME)
    programs.kwok(site, NAME)
    programs.leader_worker_set(site, NAME, api)
    furnish(api)
    programs.gateway(site, NAME, *programs.CLUSTER_GATEWAY)
    return api


def install(api: Api, site: Site, module: pins.Module, pattern: str = "*.yaml") -> None:
    """Install a module's CRDs, and wait until they are served."""
    for path in sorted(site.build(module).files("crds").glob(pattern)):
        if "kind: CustomResourceDefinition" in path.read_text():
            api.apply_text("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", path.read_text())
    until(lambda: established(api), f"the CRDs of {module.title} to be established")


def established(api: Api) -> bool:
    kinds = api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    return all(says(one, "Established") for one in kinds)


def furnish(api: Api) -> None:
    """Nodes and devices, and the Gateway that a serving stack would have made."""
    api.apply(fleet.device_class(), fleet.system_node())
    for cluster in fleet.CLUSTERS:
        api.apply(*fleet.nodes(cluster))
    for one in api.list("v1", "Node"):
        api.patch(one, fleet.room(), "status")
    api.apply(objects.namespace(objects.SYSTEM), *gateway("inference-gateway", programs.CLUSTER_GATEWAY[1]))
    until(lambda: api.list("v1", "Node"), "nodes that take pods", holds=lambda nodes: all(map(takes_pods, nodes)))


def takes_pods(node: Object) -> bool:
    starting = any(taint["key"].startswith("node.kubernetes.io/") for taint in node["spec"].get("taints", []))
    return says(node, "Ready") and not starting


def gateway(name: str, port: int) -> list[Object]:
    """A Gateway with one plain listener for all namespaces, and its class."""
    api_version, kind = "gateway.networking.k8s.io/v1", "traefik"
    listener = {"name": "http", "protocol": "HTTP", "port": port, "allowedRoutes": {"namespaces": {"from": "All"}}}
    return [
        {
            "apiVersion": api_version,
            "kind": "GatewayClass",
            "metadata": {"name": kind},
            "spec": {"controllerName": "traefik.io/gateway-controller"},
        },
        {
            "apiVersion": api_version,
            "kind": "Gateway",
            "metadata": {"name": name, "namespace": objects.SYSTEM},
            "spec": {"gatewayClassName": kind, "listeners": [listener]},
        },
    ]
