"""The real Envoy takes every configuration that golden cases compose: of egress proxies and of services' proxies."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from function.core import plain, restate
from function.manifests.envoy import places
from tests.e2e import egress, service_proxy
from tests.e2e.kube import Object
from tests.e2e.programs import Site
from tests.support.cases import CASES, answer, load

KINDS = ("modelendpoint", "modelservice")
UNFINISHED = "marked as work-in-progress"
"""What Envoy says of the filter that counts the tokens of streams (docs/usage.md)."""


@cache
def composed() -> dict[str, tuple[Object, Object]]:
    """The ConfigMap and the Deployment of each proxy of a golden case, by case; the same configuration once."""
    found: dict[str, tuple[str, Object, Object]] = {}
    for path in (one for one in CASES if one.parent.name in KINDS):
        for config, pods in proxies(path):
            text = json.dumps(config["data"], sort_keys=True)
            found.setdefault(text, (f"{path.parent.name}/{path.name}", config, pods))
    return {case: (config, pods) for case, config, pods in found.values()}


def proxies(case: Path) -> Iterator[tuple[Object, Object]]:
    """The proxies that a case composes. One that only stays as it is may be any that somebody has written."""
    manifests = {key: plain(one.manifest) for key, one in answer(case).resources.items()}
    observed = load(case)[0].observed
    for config, pods in (("egress-config", "egress-proxy"), ("proxy-config", "proxy")):
        stays = pods in observed and manifests.get(pods) == plain(restate(observed[pods]))
        if {config, pods} <= manifests.keys() and not stays:
            yield manifests[config], manifests[pods]


def test_golden_cases_compose_both_kinds_of_proxies() -> None:
    of_services = [case for case, (config, _) in composed().items() if places.LISTENERS_FILE in config["data"]]

    assert of_services
    assert len(of_services) < len(composed())


@pytest.mark.parametrize("case", composed())
def test_envoy_takes_the_configuration(site: Site, tmp_path: Path, case: str) -> None:
    """Without a word against it: a field that it deprecates is one that it will refuse."""
    config, pods = composed()[case]
    if places.LISTENERS_FILE in config["data"]:
        said = validated(site, config, pods)
    else:
        mount = egress.Mount(tmp_path / "credential")
        mount.write(**{places.CREDENTIAL_FILE: "sk", places.AUTHORITY_FILE: site.pki.authority.read_text()})
        said = egress.validate(site, egress.composed(config, pods), mount, site.pki.authority)

    told = [line for line in said.splitlines() if UNFINISHED not in line]
    assert (said.strip().endswith("OK"), len(told)) == (True, 1), said


def validated(site: Site, config: Object, pods: Object) -> str:
    """What Envoy says of a service's configuration; the last line is its verdict.

    It validates no file that a bootstrap leads to, so all of them are put into the bootstrap.
    """
    place = service_proxy.placed(site)
    place.observed = {service_proxy.CONFIG: config, service_proxy.PODS: pods}
    place.write()
    files = {name: (place.config.folder / name).read_text() for name in config["data"]}
    bootstrap = place.config.folder / "static.json"
    bootstrap.write_text(json.dumps(static({name: json.loads(text) for name, text in files.items()})))
    command = (egress.binary(site), "--mode", "validate", "--config-path", str(bootstrap), "--log-level", "warning")
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    return done.stderr + done.stdout


def static(files: Mapping[str, Any]) -> Object:
    """A bootstrap with everything that is read later otherwise."""
    bootstrap: Object = {
        name: value for name, value in files[places.BOOTSTRAP_FILE].items() if name != "dynamic_resources"
    }
    [routes] = resources(files[places.ROUTES_FILE])
    listeners = resources(files[places.LISTENERS_FILE])
    for manager in (one["filter_chains"][0]["filters"][0]["typed_config"] for one in listeners):
        if manager.pop("rds", None):
            manager["route_config"] = routes
        manager["route_config"]["validate_clusters"] = True
    found = {"listeners": listeners, "clusters": resources(files[places.CLUSTERS_FILE])}
    return bootstrap | {"static_resources": found}


def resources(file: Mapping[str, Any]) -> list[Object]:
    """The resources of a file, without what says their types."""
    return [{name: value for name, value in one.items() if name != "@type"} for one in file["resources"]]


def test_a_reference_to_nothing_is_found(site: Site) -> None:
    """So that the others are not validated in vain: a route to no cluster, in the file of routes alone."""
    config, pods = next(both for both in composed().values() if places.LISTENERS_FILE in both[0]["data"])
    wrong = config["data"][places.ROUTES_FILE].replace('"cluster":"all"', '"cluster":"nowhere"')
    changed = {**config, "data": {**config["data"], places.ROUTES_FILE: wrong}}

    assert "unknown cluster 'nowhere'" in validated(site, changed, pods)
