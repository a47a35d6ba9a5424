"""What our Releases have Helm install is what we mean, and real API servers take it.

Helm's own library renders the charts that can be had (charts.py) with the values that we send. The charts that cannot
be had are compared with recorded facts, without Helm: tests/unit/charts.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from function.core import dig, plain
from function.gateways.traefik import charts as traefik
from function.kinds.servingstack import components
from function.manifests import definitions, gateway
from function.publish import provider_access
from tests.e2e import charts
from tests.e2e.charts import SOURCES, Helm, Rendered, Unrenderable
from tests.e2e.kube import Api, Object
from tests.e2e.programs import Site, leader_worker_set_webhooks
from tests.e2e.test_conformance import refusals
from tests.support.cases import CASES, answer
from tests.support.chartvalues import Values, leaves, unknown, without
from tests.support.releases import Release, releases

OLDER = {"lws": "v0.9.0"}  # what stands in for a version that cannot be had as a module
PODS = {"Deployment", "DaemonSet", "Job"}
CRD = "CustomResourceDefinition"
RELEASES = [one for one in releases() if one.chart in SOURCES]
ENVOY_GATEWAYS = [one for one in RELEASES if one.chart == "gateway-helm"]


def each(found: list[Release]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("release", found, ids=lambda one: f"{one.chart}-{one.title}")


@pytest.fixture(scope="module")
def helm(site: Site, cluster: Api) -> Helm:
    return charts.helm(site, cluster)


@pytest.fixture
def rendered(helm: Helm, release: Release) -> Rendered:
    return helm.render(release)


def test_a_chart_is_that_of_the_version_which_we_install() -> None:
    want = {name: OLDER.get(name, source.chart.version) for name, source in SOURCES.items()}

    assert {name: source.version for name, source in SOURCES.items()} == want
    assert all(SOURCES[name].chart.version != older for name, older in OLDER.items()), "it stands in for nothing"


def test_every_chart_that_can_be_had_is_rendered() -> None:
    assert {one.chart for one in RELEASES} == SOURCES.keys()


@each(RELEASES)
def test_the_api_server_admits_everything_that_is_installed(cluster: Api, release: Release, rendered: Rendered) -> None:
    cluster.apply(namespace(release))
    objects = [placed(cluster, one, release.namespace) for one in rendered.objects]

    assert [refusal for one in objects for refusal in refusals(cluster, one)] == []
    assert [refusal for one in objects for pod in pods(one) for refusal in refusals(cluster, pod)] == []


@pytest.mark.parametrize(
    ("values", "want"),
    [
        ({"deployment": {"replicas": "many"}}, "Deployment envoy-gateway: "),
        ({"service": {"type": "Balancer"}}, "Service envoy-gateway: "),
        ({"deployment": {"pod": {"nodeSelector": {"a": "b c"}}}}, "Deployment envoy-gateway: "),
    ],
)
def test_the_dry_run_would_notice(cluster: Api, helm: Helm, values: Values, want: str) -> None:
    """A value of the wrong kind, which Helm renders without a word, is refused by the API server."""
    release = ENVOY_GATEWAYS[0]
    objects = [placed(cluster, one, release.namespace) for one in helm.render(release, values).objects]
    workloads = [one for one in objects if one["kind"] in ("Deployment", "Service")]
    got = [refusal for one in workloads for refusal in refusals(cluster, one)]

    assert [refusal[: len(want)] for refusal in got] == [want]


@each([one for one in RELEASES if one.chart == traefik.METALLB.name])
def test_the_provider_may_install_on_the_control_cluster_what_a_chart_holds(rendered: Rendered) -> None:
    held = {(one["apiVersion"].rpartition("/")[0], one["kind"]) for one in rendered.objects}

    assert held - {(one.group, one.kind) for one in provider_access.RELEASED} == set()


@each(RELEASES)
def test_the_chart_knows_every_value_that_we_send(release: Release, rendered: Rendered) -> None:
    assert unknown(release.values, rendered.defaults, SOURCES[release.chart].passed_on) == []


@each(RELEASES)
def test_every_value_that_we_send_changes_what_is_installed(helm: Helm, release: Release, rendered: Rendered) -> None:
    """One that changes nothing is misspelt, or the default."""
    assert helm.render(release).objects == rendered.objects, "a chart that is random would make every value look used"
    dropped = {path: without(release.values, path) for path in leaves(release.values)}
    got = [".".join(path) for path, less in dropped.items() if helm.render(release, less).objects == rendered.objects]

    assert got == []


@pytest.mark.parametrize(
    ("chart", "values", "want"),
    [
        ("metallb", {"frrk8": {"enabled": False}}, ["frrk8.enabled"]),
        ("metallb", {"speaker": {"frr": {"enable": True}}}, ["speaker.frr.enable"]),
        ("gateway-helm", {"config": {"envoygateway": {}}}, ["config.envoygateway"]),
        ("gateway-helm", {"deployment": {"replica": 2}}, ["deployment.replica"]),
        ("lws", {"replica": 2}, ["replica"]),
    ],
)
def test_a_misspelt_value_is_noticed(helm: Helm, chart: str, values: Values, want: list[str]) -> None:
    """Helm renders it without a word."""
    release = next(one for one in RELEASES if one.chart == chart)

    assert unknown(values, helm.render(release, values).defaults, SOURCES[release.chart].passed_on) == want


@each(ENVOY_GATEWAYS)
def test_envoy_gateway_takes_the_configuration(helm: Helm, release: Release, rendered: Rendered) -> None:
    """It knows every field, and is the controller of the GatewayClass that we compose."""
    text = configuration(rendered)
    helm.read_configuration(text)

    assert gateway.ENVOY_CONTROLLER in text
    assert "enableBackend: true" in text


@pytest.mark.parametrize(
    ("old", "new", "want"),
    [
        ("enableBackend:", "enableBackends:", 'unknown field "enableBackends"'),
        ("includeAll: true", "includeAll: everything", "cannot unmarshal string"),
        ("xdsTranslator:", "xdsTranslators:", 'unknown field "xdsTranslators"'),
        ("fqdn:", "fqdns:", 'unknown field "fqdns"'),
    ],
)
def test_a_mistake_in_the_configuration_is_noticed(helm: Helm, old: str, new: str, want: str) -> None:
    """Envoy Gateway itself drops a field that it does not know."""
    release = next(one for one in RELEASES if dig(one.values, "config", "envoyGateway", "extensionManager"))
    text = configuration(helm.render(release))

    assert old in text
    with pytest.raises(Unrenderable, match=want):
        helm.read_configuration(text.replace(old, new, 1))


def test_the_crds_of_an_upgrade_are_those_of_the_chart(helm: Helm) -> None:
    """Ours are copies without descriptions: Helm never upgrades the CRDs of a chart, so we do (upgrade.py)."""
    row = next(one for one in components.RELEASES if one.key == "envoy-gateway")
    release = next(one for one in RELEASES if one.chart == row.chart.name)
    theirs = {one["metadata"]["name"]: one for one in helm.render(release).objects if one["kind"] == CRD}
    ours = {one["metadata"]["name"]: one for one in map(plain, definitions.bundle(row.bundle).values())}

    assert ours.keys() == {name for name in theirs if name.endswith(".gateway.envoyproxy.io")}
    assert [name for name in ours if bare(ours[name]["spec"]) != bare(theirs[name]["spec"])] == []


def test_the_webhooks_of_gangs_are_those_of_the_chart(helm: Helm) -> None:
    """Those that the stories run with are written by hand, since their server is on loopback."""
    release = next(one for one in RELEASES if one.chart == "lws")
    theirs = [hook for one in helm.render(release).objects for hook in one.get("webhooks", ())]
    ours = [hook for one in leader_worker_set_webhooks("https://loopback", "") for hook in one["webhooks"]]

    assert sorted(map(called, ours)) == sorted(map(called, theirs))


def called(webhook: Object) -> str:
    """When a webhook is called, where, and what becomes of a request that it does not answer."""
    config = webhook["clientConfig"]
    path = config["service"]["path"] if "service" in config else config["url"].removeprefix("https://loopback")
    kept = {key: webhook.get(key) for key in ("rules", "objectSelector", "failurePolicy", "sideEffects")}
    return json.dumps([path, kept], sort_keys=True)


def bare(schema: Any) -> Any:
    """A schema without what is said about it, and in one white space."""
    if isinstance(schema, dict):
        return {k: bare(v) for k, v in schema.items() if not (k == "description" and isinstance(v, str))}
    if isinstance(schema, list):
        return [bare(one) for one in schema]
    return " ".join(schema.split()) if isinstance(schema, str) else schema


def namespace(release: Release) -> Object:
    """The namespace, as we compose it for a chart whose pods are privileged; else as Helm would make it."""
    for case in CASES:
        if case.parent.name == "inferencegateway":
            for one in answer(case).resources.values():
                manifest = dig(one.manifest, "spec", "forProvider", "manifest")
                if dig(manifest, "kind") == "Namespace" and dig(manifest, "metadata", "name") == release.namespace:
                    return plain(manifest)
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": release.namespace}}


def placed(cluster: Api, manifest: Object, namespace: str) -> Object:
    """An object in the Release's namespace, where the chart names none."""
    if not cluster.resource(manifest["apiVersion"], manifest["kind"]).namespaced:
        return manifest
    return manifest | {"metadata": {"namespace": namespace} | manifest["metadata"]}


def pods(manifest: Object) -> Iterator[Object]:
    """The pod of a workload, which the API server reads in full only when a controller makes it."""
    if manifest["kind"] in PODS:
        template = manifest["spec"]["template"]
        where = {"name": manifest["metadata"]["name"], "namespace": manifest["metadata"]["namespace"]}
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": template["metadata"] | where, "spec": template["spec"]}


def configuration(rendered: Rendered) -> str:
    maps = (one["data"] for one in rendered.objects if one["kind"] == "ConfigMap")
    (text,) = (data["envoy-gateway.yaml"] for data in maps if "envoy-gateway.yaml" in data)
    return str(text)
