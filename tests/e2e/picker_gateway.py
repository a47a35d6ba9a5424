"""A gateway that asks an endpoint picker: Envoy, with what gateways make of an HTTPRoute to an InferencePool.

Envoy AI Gateway, which does so on clusters, cannot be run here. This is written after the protocol of endpoint pickers
(Gateway API Inference Extension v1.5, docs/proposals/004-endpoint-picker-protocol).
"""

import contextlib
import itertools
import json
from collections.abc import Iterator

from tests.e2e import egress
from tests.e2e.kube import Api, Object
from tests.e2e.pairs import Parts
from tests.e2e.processes import listens
from tests.e2e.programs import Site

GATEWAY = ("198.18.3.1", 8080)
DESTINATION = "x-gateway-destination-endpoint"
ENVOY = "type.googleapis.com/envoy.extensions"
numbers = itertools.count(1)


@contextlib.contextmanager
def serving(site: Site, cluster: Api, parts: Parts) -> Iterator[str]:
    """Run a gateway for a pair, and give the URL that the control cluster's route leads to."""
    address, port = GATEWAY
    name = f"picker-gateway-{next(numbers)}"
    config = site.write(f"{name}.json", json.dumps(envoy(cluster, parts)))
    process = site.processes.start(
        name,
        egress.binary(site),
        *("--config-path", str(config), "--use-dynamic-base-id", "--concurrency", "1", "--log-level", "warning"),
        serves=listens(port, address),
    )
    [rule] = parts["route"]["spec"]["rules"]
    try:
        yield f"http://{address}:{port}{rule['matches'][0]['path']['value'].rstrip('/')}"
    finally:
        site.processes.stop(process)


def envoy(cluster: Api, parts: Parts) -> Object:
    """A bootstrap for Envoy: what gateways make of an HTTPRoute to an InferencePool with a picker."""
    address, port = GATEWAY
    manager = {
        "@type": f"{ENVOY}.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "pair",
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [route(parts)]}]},
        "http_filters": [
            {"name": "picker", "typed_config": processor(parts["pool"])},
            {"name": "router", "typed_config": {"@type": f"{ENVOY}.filters.http.router.v3.Router"}},
        ],
    }
    listener = {
        "name": "pair",
        "address": {"socket_address": {"address": address, "port_value": port}},
        "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}],
    }
    clusters = [picked(), asked(*picker_address(cluster, parts))]
    return {"static_resources": {"listeners": [listener], "clusters": clusters}}


def route(parts: Parts) -> Object:
    [rule] = parts["route"]["spec"]["rules"]
    [backend] = rule["backendRefs"]
    assert (backend["kind"], backend["name"]) == ("InferencePool", parts["pool"]["metadata"]["name"])
    rewritten = rule["filters"][0]["urlRewrite"]["path"]["replacePrefixMatch"]
    action = {"cluster": "picked", "prefix_rewrite": rewritten, "timeout": rule["timeouts"]["request"]}
    return {"match": {"prefix": rule["matches"][0]["path"]["value"]}, "route": action}


def processor(pool: Object) -> Object:
    """The filter that asks the picker. Modes are those of the endpoint picker protocol (its proposal 004)."""
    streamed = ("request_body_mode", "response_body_mode")
    sent = ("request_header_mode", "response_header_mode", "request_trailer_mode", "response_trailer_mode")
    return {
        "@type": f"{ENVOY}.filters.http.ext_proc.v3.ExternalProcessor",
        "grpc_service": {"envoy_grpc": {"cluster_name": "picker"}, "timeout": "60s"},
        "failure_mode_allow": pool["spec"]["endpointPickerRef"]["failureMode"] == "FailOpen",
        "message_timeout": "60s",
        "processing_mode": dict.fromkeys(sent, "SEND") | dict.fromkeys(streamed, "FULL_DUPLEX_STREAMED"),
    }


def picked() -> Object:
    """Wherever the picker says."""
    return {
        "name": "picked",
        "type": "ORIGINAL_DST",
        "lb_policy": "CLUSTER_PROVIDED",
        "connect_timeout": "10s",
        "original_dst_lb_config": {"use_http_header": True, "http_header_name": DESTINATION},
    }


def asked(address: str, port: int) -> Object:
    """The picker, which serves with a certificate that it made itself."""
    tls = {"common_tls_context": {"alpn_protocols": ["h2"]}}
    endpoint = {"endpoint": {"address": {"socket_address": {"address": address, "port_value": port}}}}
    return {
        "name": "picker",
        "type": "STATIC",
        "connect_timeout": "10s",
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": f"{ENVOY}.upstreams.http.v3.HttpProtocolOptions",
                "explicit_http_config": {"http2_protocol_options": {}},
            }
        },
        "transport_socket": {
            "name": "tls",
            "typed_config": {"@type": f"{ENVOY}.transport_sockets.tls.v3.UpstreamTlsContext"} | tls,
        },
        "load_assignment": {"cluster_name": "picker", "endpoints": [{"lb_endpoints": [endpoint]}]},
    }


def picker_address(cluster: Api, parts: Parts) -> tuple[str, int]:
    """Where the pool's reference leads: through the Service to the picker's pod."""
    reference, service = parts["pool"]["spec"]["endpointPickerRef"], parts["picker-service"]
    assert (reference["kind"], reference["name"]) == ("Service", service["metadata"]["name"])
    [port] = [one for one in service["spec"]["ports"] if one["port"] == reference["port"]["number"]]
    namespace = service["metadata"]["namespace"]
    [pod] = cluster.list("v1", "Pod", namespace, service["spec"]["selector"])
    return pod["status"]["podIP"], port["targetPort"]
