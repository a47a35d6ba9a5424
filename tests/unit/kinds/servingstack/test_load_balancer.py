"""What the Service of a gateway asks of the load balancers of each cloud."""

from __future__ import annotations

from typing import Any

import pytest

from function import clouds
from function.api.servingstack import Spec
from function.core import dig
from function.kinds.servingstack import gateway

AWS_IDLE = "service.beta.kubernetes.io/aws-load-balancer-connection-idle-timeout"
AZURE_IDLE = "service.beta.kubernetes.io/azure-load-balancer-tcp-idle-timeout"


def spec(source: str, **wanted: Any) -> Spec:
    config = {"kind": "ClusterProviderConfig", "name": "edge"}
    stack = {"clusterName": "edge", "source": source, "providerConfigRef": config, "gateway": wanted}
    return Spec.model_validate(stack)


def annotations(source: str, **wanted: Any) -> dict[str, str]:
    proxy = gateway.envoy_proxy(spec(source, **wanted))
    return dict(dig(proxy, "spec", "provider", "kubernetes", "envoyService", "annotations") or {})


@pytest.mark.parametrize(("source", "key", "unit"), [("EKS", AWS_IDLE, 1), ("AKS", AZURE_IDLE, 60)])
@pytest.mark.parametrize("internal", [False, True])
def test_a_connection_outlives_the_longest_pause_between_two_tokens(
    source: str, key: str, unit: int, *, internal: bool
) -> None:
    """ELB closes connections that were idle for a minute, Azure after four, if nobody says otherwise."""
    found = annotations(source, internal=internal)
    pause = dig(gateway.backend_policy(spec(source)), "spec", "timeout", "http", "streamIdleTimeout")

    assert int(found[key]) * unit >= int(pause.removesuffix("s"))
    assert (clouds.BY_NAME[source].internal_load_balancer or {}).items() <= found.items() or not internal


def test_what_the_user_wants_comes_first() -> None:
    assert annotations("EKS", annotations={AWS_IDLE: "700"})[AWS_IDLE] == "700"


def test_an_existing_cluster_gets_nothing_that_was_not_asked_for() -> None:
    assert annotations("Existing") == {}
