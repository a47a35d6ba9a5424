"""Names of endpoints that a pod's search domains would complete to another tenant's Service."""

from __future__ import annotations

import json
from typing import Any

import pytest

from function import registry
from function.core import Request
from function.manifests.envoy import places
from tests.tenancy.fleet import ATTACKER, VICTIM, endpoint, of

COMPLETED = {
    f"chat.{VICTIM}": False,
    f"chat.{VICTIM}.svc.corp.example.org": False,
    "api.example.org": False,
    "models.corp": False,
    "chat": True,
    f"chat.{ATTACKER}": True,
    f"chat.{ATTACKER}.svc": True,
    "models.allowed": True,
}


@pytest.mark.parametrize(("host", "completed"), COMPLETED.items())
def test_a_proxy_completes_only_names_that_cannot_be_anothers(host: str, *, completed: bool) -> None:
    gateway = of("InferenceGateway", "default", "", backend="Traefik", egress={"allow": ["models.allowed"]})
    asked = Request(xr=endpoint("e", url=f"http://{host}/v1"), required={"gateway": (gateway,)})
    config = registry.compose(asked).resources["egress-config"].manifest["data"]

    bootstrap = json.loads(config[places.BOOTSTRAP_FILE])
    [cluster] = bootstrap["static_resources"]["clusters"]
    assert (search(bootstrap), search(cluster["cluster_type"]["typed_config"], search(bootstrap))) == (False, completed)


def search(holder: dict[str, Any], default: bool | None = None) -> bool | None:
    """Whether a resolver completes names; the default where there is none."""
    if "typed_dns_resolver_config" not in holder:
        return default
    options = holder["typed_dns_resolver_config"]["typed_config"]["dns_resolver_options"]
    return not options["no_default_search_domain"]
