"""What a plan shows: what a change touches, field by field and manifest by manifest, and nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from function.cli import yaml_text
from function.main import main
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from tests.bench import whole_fleets

Object = dict[str, Any]
FORMATS = ("table", "json", "yaml", "markdown")
CANARY, OTHER = "c4n4ry-one", "c4n4ry-two"
NOTHING, CHANGED = 0, 3
GATEWAY = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "InferenceGateway", "metadata": {"name": "default"},
           "spec": {"backend": "Traefik"}}  # fmt: skip


def written(path: Path, objects: list[Object]) -> str:
    path.write_text(yaml.safe_dump_all(objects))
    return str(path)


def run(command: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, [command, *arguments])


def plan(tmp_path: Path, fleet: list[Object], edits: list[Object], *options: str) -> Result:
    change = ("--change", written(tmp_path / "edits.yaml", edits)) if edits else ()
    return run("plan", written(tmp_path / "fleet.yaml", fleet), *change, *options)


def planned(tmp_path: Path, fleet: list[Object], edits: list[Object], *options: str) -> Object:
    got = plan(tmp_path, fleet, edits, "-o", "json", *options)
    found = json.loads(got.stdout)
    assert isinstance(found, dict), got.stderr
    return found


def edited(fleet: list[Object], kind: str, name: str, change: Callable[[Object], None]) -> Object:
    """A copy of an object, with a change of its spec."""
    found = copy.deepcopy(next(m for m in fleet if (m["kind"], m["metadata"]["name"]) == (kind, name)))
    change(found["spec"])
    return found


def container(spec: Object) -> Object:
    found = spec["engines"][0]["members"][0]["template"]["spec"]["containers"][0]
    assert isinstance(found, dict)
    return found


def scaled(spec: Object) -> None:
    spec["replicas"] = 2


def other_image(spec: Object) -> None:
    container(spec)["image"] = "vllm/vllm-openai:v0.24.0"


FLEET = whole_fleets.manifests(2, 3, nodes=4, replicas=2)


@pytest.mark.slow
def test_an_edit_of_a_large_fleet_takes_less_than_a_page(tmp_path: Path) -> None:
    fleet = [*whole_fleets.manifests(4, 300, nodes=80, services=12), GATEWAY]
    edit = edited(fleet, "ModelDeployment", "d7", scaled)

    got = plan(tmp_path, fleet, [edit])

    lines = got.stdout.splitlines()
    want = (
        "Unchanged: 299 deployments, 300 replicas, 11 services, 300 endpoints, 4 clusters, 3 pools; --all lists them."
    )
    assert (got.exit_code, len(lines) < 30, lines[1]) == (CHANGED, True, want)


@pytest.mark.slow
def test_the_rest_is_counted_in_every_format(tmp_path: Path) -> None:
    edit = [edited(FLEET, "ModelDeployment", "d1", lambda spec: spec.update(replicas=3))]
    data = planned(tmp_path, FLEET, edit)

    assert [d["name"] for d in data["deployments"]] == ["d1"]
    assert [r["change"] for d in data["deployments"] for r in d["replicas"]] == ["new"]
    assert (data["unchanged"]["deployments"], data["unchanged"]["replicas"]) == (2, 6)
    for form in FORMATS:
        got = plan(tmp_path, FLEET, edit, "-o", form)
        assert ("d0-" in got.stdout, "d1-" in got.stdout) == (False, True), form


@pytest.mark.slow
def test_a_dump_of_a_fleet_at_rest_is_only_counted(tmp_path: Path) -> None:
    control = ControlPlane()
    control.loop.load([*FLEET, *stubs.objects(FLEET)])
    control.loop.settle()
    dump = list(yaml.safe_load_all(yaml_text.documents(control.store.all())))

    short, whole = (plan(tmp_path, dump, [], *more) for more in ((), ("--all",)))

    want = "Unchanged: 3 deployments, 6 replicas, 6 endpoints, 2 clusters, 2 pools; --all lists them."
    assert (short.exit_code, short.stdout.splitlines()[1:3]) == (NOTHING, [want, ""]), short.stdout
    assert ["Capacity" in got.stdout for got in (short, whole)] == [False, True]


@pytest.mark.slow
def test_all_is_listed_when_asked_for(tmp_path: Path) -> None:
    edit = [edited(FLEET, "ModelDeployment", "d1", lambda spec: spec.update(replicas=3))]
    data = planned(tmp_path, FLEET, edit, "--all")

    assert [d["name"] for d in data["deployments"]] == ["d0", "d1", "d2"]
    assert (len(data["pools"]), len(data["endpoints"])) == (2, 7)
    table = plan(tmp_path, FLEET, edit, "--all").stdout
    assert ("Unchanged" in table, "d0-" in table) == (False, True)


@pytest.mark.slow
def test_a_field_of_an_edit_is_told_with_both_values(tmp_path: Path) -> None:
    edit = edited(FLEET, "ModelDeployment", "d1", other_image)

    got = plan(tmp_path, FLEET, [edit]).stdout
    (told,) = planned(tmp_path, FLEET, [edit])["edits"]

    path = "spec.engines[0].members[0].template.spec.containers[0].image"
    assert f'    {path}: "vllm/vllm-openai:v0.23.0" -> "vllm/vllm-openai:v0.24.0"' in got.splitlines()
    assert told["fields"] == [
        {"change": "changed", "path": path, "before": "vllm/vllm-openai:v0.23.0", "after": "vllm/vllm-openai:v0.24.0"}
    ]


def test_replicas_that_change_alike_have_one_diff(tmp_path: Path) -> None:
    (group,) = planned(tmp_path, FLEET, [edited(FLEET, "ModelDeployment", "d1", other_image)])["manifests"]

    lines = [line for line in group["diff"].splitlines() if line[0] in "+-"]
    assert (group["kind"], len(group["manifests"])) == ("Deployment", 2)
    assert lines == ["-        image: vllm/vllm-openai:v0.23.0", "+        image: vllm/vllm-openai:v0.24.0"]


def test_edits_of_two_deployments_have_two_diffs(tmp_path: Path) -> None:
    first = edited(FLEET, "ModelDeployment", "d1", other_image)
    second = edited(FLEET, "ModelDeployment", "d2", lambda spec: container(spec).update(args=["--port=80"]))

    found = planned(tmp_path, FLEET, [first, second])["manifests"]

    assert sorted(len(group["manifests"]) for group in found if group["kind"] == "Deployment") == [2, 2]


def test_an_edit_without_effect_says_so(tmp_path: Path) -> None:
    edit = copy.deepcopy(FLEET[-1])
    edit["metadata"]["annotations"] = {"a": "b"}

    got = plan(tmp_path, FLEET, [edit])

    lines = got.stdout.splitlines()
    assert (got.exit_code, "  ModelDeployment ml-team/d2: no manifest changes" in lines) == (NOTHING, True)
    assert '    metadata.annotations: added {"a": "b"}' in lines


@pytest.mark.slow
def test_a_long_diff_ends_with_how_to_see_all(tmp_path: Path) -> None:
    edit = edited(
        FLEET, "ModelDeployment", "d1", lambda spec: container(spec).update(args=[f"--a{i}" for i in range(300)])
    )

    short, whole = (plan(tmp_path, FLEET, [edit], *more).stdout for more in ((), ("--all",)))

    assert ("more lines; --all shows them" in short, "--a299" in short.split("Manifests")[1]) == (True, False)
    assert ("more lines" in whole, "--a299" in whole.split("Manifests")[1]) == (False, True)


def secrets(value: str) -> list[Object]:
    """A fleet that has a secret in many places."""
    env = [{"name": "HF_TOKEN", "value": value}, {"name": "PROXY", "value": f"http://someone:{value}@proxy"}]
    engine = {"env": env, "args": ["--api-key", value, f"--hf-token={value}"]}
    fleet = copy.deepcopy(FLEET)
    deployment = next(m for m in fleet if m["metadata"]["name"] == "d1")
    container(deployment["spec"]).update(engine)
    kubeconfig = {"apiVersion": "v1", "kind": "Secret", "stringData": {"kubeconfig": value},
                  "metadata": {"name": "c0-kubeconfig", "namespace": "modelplane-system"}}  # fmt: skip
    return [*fleet, kubeconfig]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("more", [(), ("--all",)])
def test_no_secret_is_shown(tmp_path: Path, form: str, more: tuple[str, ...]) -> None:
    got = plan(tmp_path, secrets(CANARY), secrets(OTHER), "-o", form, *more)

    assert (got.exit_code, CANARY in got.output, OTHER in got.output) == (CHANGED, False, False)
    assert "(sensitive, changed)" in got.stdout.replace("\\", "")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["yaml", "json"])
def test_no_secret_is_in_a_manifest(tmp_path: Path, form: str) -> None:
    got = run("manifests", written(tmp_path / "fleet.yaml", secrets(CANARY)), "-o", form)

    assert (got.exit_code, CANARY in got.output, "(sensitive)" in got.stdout) == (0, False, True)


def weighted(*weights: int, model: str = "") -> Object:
    entries = [
        {"weight": weight, "selector": {"matchLabels": {"modelplane.ai/deployment": f"d{i}"}}}
        | ({"model": model} if model else {})
        for i, weight in enumerate(weights)
    ]
    return {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelService", "spec": {"endpoints": entries},
            "metadata": {"name": "chat", "namespace": "ml-team"}}  # fmt: skip


SERVED = [*whole_fleets.manifests(1, 2, nodes=4), GATEWAY]


@pytest.mark.slow
def test_weights_are_told_before_and_after(tmp_path: Path) -> None:
    fleet = [*SERVED, weighted(90, 10)]
    got = plan(tmp_path, fleet, [weighted(50, 50)])
    (service,) = planned(tmp_path, fleet, [weighted(50, 50)])["services"]

    rows = [line.split()[2:] for line in got.stdout.splitlines() if line.startswith("  ml-team/chat  d")]
    assert (got.exit_code, rows) == (CHANGED, [["90", "%", "50", "%"], ["10", "%", "50", "%"]])
    assert [(s["before"]["percent"], s["after"]["percent"]) for s in service["traffic"]] == [(90, 50), (10, 50)]
    assert service["change"] == "changed"


def test_another_model_of_an_entry_is_told(tmp_path: Path) -> None:
    (service,) = planned(tmp_path, [*SERVED, weighted(1)], [weighted(1, model="other")])["services"]

    (share,) = service["traffic"]
    assert (share["before"]["model"], share["after"]["model"]) == ("", "other")


def test_an_entry_that_goes_takes_its_endpoints_along(tmp_path: Path) -> None:
    (service,) = planned(tmp_path, [*SERVED, weighted(90, 10)], [weighted(90)])["services"]

    assert [(s["before"]["percent"], s["after"] and s["after"]["percent"]) for s in service["traffic"]] == [
        (90, 100), (10, None),
    ]  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_an_address_that_was_made_up_is_known_after_apply(tmp_path: Path, form: str) -> None:
    got = plan(tmp_path, [*SERVED, weighted(1)], [], "-o", form)

    assert ("198.18." in got.stdout, "198.19." in got.stdout) == (False, False)
    assert "http://(known after apply)/ml-team/chat" in got.stdout


def test_an_address_that_the_input_gives_is_shown(tmp_path: Path) -> None:
    """Also one that would have been made up."""
    fleet = copy.deepcopy([*SERVED, weighted(1)])
    next(m for m in fleet if m["kind"] == "InferenceCluster")["status"] = {"gateway": {"address": "203.0.113.7"}}
    next(m for m in fleet if m["kind"] == "InferenceGateway")["status"] = {"address": "198.18.0.1"}

    data = planned(tmp_path, fleet, [])

    assert [e["url"].split("/")[2] for e in data["endpoints"]] == ["203.0.113.7"] * 2
    assert (data["clusters"][0]["gateway"], data["services"][0]["address"]) == (
        "203.0.113.7", "http://198.18.0.1/ml-team/chat",
    )  # fmt: skip


def test_an_outside_endpoint_has_its_url_without_a_password(tmp_path: Path) -> None:
    outside = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelEndpoint", "spec": {"url": "https://one.example.org/v1"},
               "metadata": {"name": "a", "namespace": "ml-team"}}  # fmt: skip

    assert [e["url"] for e in planned(tmp_path, [outside], [], "--all")["endpoints"]] == ["https://one.example.org/v1"]
