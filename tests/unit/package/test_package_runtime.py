"""How Crossplane runs the packages: what each DeploymentRuntimeConfig says, and which package gets it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from function.publish import runtime
from package import build

MANIFESTS = runtime.manifests()


def named(kind: str, name: str) -> dict[str, Any]:
    [found] = [one for one in MANIFESTS if (one["kind"], one["metadata"]["name"]) == (kind, name)]
    return found


def container(config: str) -> dict[str, Any]:
    [found] = named("DeploymentRuntimeConfig", config)["spec"]["deploymentTemplate"]["spec"]["template"]["spec"][
        "containers"
    ]
    return dict(found)


@pytest.mark.parametrize(
    "dependency", build.configuration()[0]["spec"]["dependsOn"][:3], ids=lambda one: one["package"]
)
def test_every_dependency_that_a_fleet_needs_gets_a_runtime(dependency: dict[str, str]) -> None:
    configs = {
        match["prefix"]: one["spec"]["runtime"]["configRef"]["name"]
        for one in MANIFESTS
        if one["kind"] == "ImageConfig"
        for match in one["spec"]["matchImages"]
    }

    assert named("DeploymentRuntimeConfig", configs[dependency["package"]])


def test_no_status_repeats_a_secret_and_no_log_holds_objects() -> None:
    assert "--sanitize-secrets" in container("modelplane-provider-kubernetes")["args"]
    assert "--debug" not in container("modelplane-provider-kubernetes")["args"]


def test_the_function_is_probed_limited_spread_and_disrupted_one_at_a_time() -> None:
    pod = named("DeploymentRuntimeConfig", "modelplane-function")["spec"]["deploymentTemplate"]["spec"]
    budget = named("PodDisruptionBudget", "function-modelplane")["spec"]
    found = container("modelplane-function")
    ports = {port["name"]: port["containerPort"] for port in found["ports"]}

    assert pod["replicas"] > 1
    assert ports[found["readinessProbe"]["httpGet"]["port"]] == ports[found["livenessProbe"]["httpGet"]["port"]] == 8080
    assert found["resources"]["limits"]["memory"]
    labels = pod["template"]["metadata"]["labels"]
    [spread] = pod["template"]["spec"]["topologySpreadConstraints"]
    assert spread["labelSelector"]["matchLabels"].items() <= labels.items()
    assert budget["selector"]["matchLabels"].items() <= labels.items()


def test_each_port_is_declared_once() -> None:
    """Crossplane adds its own by name. Two names for a number would make the Deployment that it applies invalid."""
    names = [port["name"] for port in container("modelplane-function")["ports"]]

    assert names == ["metrics"]


def test_a_function_of_another_registry_gets_the_same_runtime(tmp_path: Any) -> None:
    build.write_runtime(tmp_path, "registry.example.org/team/function-modelplane")

    got = list(yaml.safe_load_all((tmp_path / "runtime.yaml").read_text()))

    prefix = {"type": "Prefix", "prefix": "registry.example.org/team/function-modelplane"}
    assert prefix in [match for one in got if one["kind"] == "ImageConfig" for match in one["spec"]["matchImages"]]
    assert [one for one in got if one["kind"] != "ImageConfig"] == [
        one for one in MANIFESTS if one["kind"] != "ImageConfig"
    ]
