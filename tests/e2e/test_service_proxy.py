"""What clients of a ModelService see, from a real Envoy that runs what the service composes."""

from tests.e2e import client, providers
from tests.e2e.programs import Site
from tests.e2e.service_proxy import endpoint, entry, running, service


def test_tiers(site: Site) -> None:
    with providers.serving("first", "second") as (first, second):
        found = [endpoint(one.name, f"{one.url}/v1") for one in (first, second)]
        tiers = service(entry("first"), entry("second", priority=1))
        with running(site, tiers, *found) as proxy:
            assert client.complete(proxy.url, "hi").model == "first"
            first.behave = providers.answers(503)
            assert client.complete(proxy.url, "hi").model == "second"
            first.refuse()
            assert client.complete(proxy.url, "hi").model == "second"
            print(proxy.log)
