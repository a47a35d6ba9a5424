"""What becomes of an InferenceGateway of the toy gateway in the embedded control plane, told as JSON.

It runs in a tree that has the toy gateway, and nowhere else.
"""

from __future__ import annotations

import json
from typing import Any

from function import gateways
from function.api import tenancy
from function.core import Request, condition, dig
from function.kinds.modelservice import inputs
from function.planning.control_plane import ControlPlane
from function.validation import validate
from function.vocabulary import labels, names, versions


def gateway(**spec: Any) -> dict[str, Any]:
    return _object("InferenceGateway", "default", backend="Toy", **spec)


def _object(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, **({} if kind == "InferenceGateway" else {"namespace": "ml-team"})}
    return {"apiVersion": versions.MODELPLANE, "kind": kind, "metadata": metadata, "spec": spec}


def _endpoint(index: int) -> dict[str, Any]:
    """An endpoint that a route can reach by itself, and that answers to a name of its own."""
    endpoint = _object("ModelEndpoint", f"e{index}", url=f"http://192.0.2.{index}/v1")
    named = {"labels": {"of": "chat"}, "annotations": {labels.SERVED_NAMES: f"model-{index}"}}
    return {**endpoint, "metadata": {**endpoint["metadata"], **named}}


SERVICE = _object("ModelService", "chat", endpoints=[{"selector": {"matchLabels": {"of": "chat"}}}])


def main() -> None:
    control = ControlPlane()
    system = {"apiVersion": versions.CORE, "kind": "Namespace", "metadata": {"name": names.SYSTEM_NAMESPACE}}
    control.loop.load([system, gateway(toy={"replicas": 3})])
    control.loop.settle()
    [found] = control.store.of_kind(versions.MODELPLANE, "InferenceGateway")
    [class_] = control.store.of_kind(versions.GATEWAY, "GatewayClass")
    reached = {"status": {"address": "192.0.2.1"}}
    request = Request({}, required={"gateway": ({**gateway(), **reached},)})
    served = [SERVICE, *map(_endpoint, range(3))]
    print(json.dumps({
        "state": dig(condition(found, "GatewayReady"), "message"),
        "releases": [
            [release["spec"]["forProvider"]["chart"]["name"], release["spec"]["forProvider"]["chart"]["version"]]
            for release in control.store.of_kind(versions.PROVIDER_HELM, "Release")
        ],
        "values": dig(control.store.of_kind(versions.PROVIDER_HELM, "Release")[0], "spec", "forProvider", "values"),
        "usages": [
            [usage["spec"]["of"]["kind"], usage["spec"]["by"]["kind"]]
            for usage in control.store.of_kind(versions.PROTECTION, "Usage")
        ],
        "controller": dig(class_, "spec", "controllerName"),
        "beside": [finding.message for finding in validate([gateway(traefik={"version": "1.2.3"})])],
        "with gateway": [finding.code for finding in validate([gateway(), *served])],
        "without": [finding.code for finding in validate(served)],
        "routed": inputs.gateway(request).implementation.most_backends,
        "default": gateways.DEFAULT.name,
        "reserved": tenancy.is_reserved("toy-system"),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
