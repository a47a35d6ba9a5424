"""`modelplane plan`: what it prints, what it refuses, and what its exit code says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from function.cli import files, yaml_text
from function.main import main
from function.planning import stubs
from function.planning.control_plane import ControlPlane

EXAMPLES = Path(__file__).parents[3] / "examples"
FLEET = (str(EXAMPLES / "tour/classes.yaml"), str(EXAMPLES / "tour/clusters.yaml"))
SMALL = str(EXAMPLES / "tour/deployment.yaml")
NOTHING, LOST, CHANGED, ERROR = 0, 2, 3, 1


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["plan", *arguments], input=stdin)


def edited(path: str, tmp_path: Path, old: str, new: str) -> str:
    text = Path(path).read_text()
    assert old in text
    file = tmp_path / "edited.yaml"
    file.write_text(text.replace(old, new))
    return str(file)


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder",
    sorted(
        {str(p.parent.relative_to(EXAMPLES)) for p in EXAMPLES.rglob("*.yaml") if "modelplane.ai/" in p.read_text()}
    ),
)
def test_every_example_plans(folder: str) -> None:
    assert run(str(EXAMPLES / folder)).exit_code in ((ERROR,) if folder == "bad-edit" else (NOTHING, CHANGED))


def test_the_tour_in_a_sentence() -> None:
    got = run(str(EXAMPLES / "tour"))

    want = "5 of 6 replicas serve on 3 clusters; 1 not placed; 5 new."
    assert (got.exit_code, got.stdout.splitlines()[0]) == (CHANGED, want)


@pytest.mark.slow
def test_the_tour_of_clouds_is_made_from_nothing() -> None:
    """Two clouds, and as many replicas in each."""
    got = json.loads(run(str(EXAMPLES / "clouds/tour"), "-o", "json").stdout)

    europe, east = got["infrastructure"]
    assert [(made["change"], made["cluster"], made["kind"], made["ready"]) for made in (europe, east)] == [
        ("new", "europe", "GKECluster", True),
        ("new", "us-east", "EKSCluster", True),
    ]
    assert (europe["inCloud"]["created"]["NodePool"], east["inCloud"]["created"]["NodeGroup"]) == (2, 2)
    assert [r["cluster"] for r in got["deployments"][0]["replicas"]].count("europe") == 2
    assert [w["cluster"] for w in got["staging"]] == ["europe", "us-east"]
    assert (got["exitCode"], got["troubles"]) == (CHANGED, [])


def test_the_bad_edit_changes_nothing_and_is_an_error() -> None:
    got = run(str(EXAMPLES / "bad-edit"))

    said = [line for line in got.stdout.splitlines() if "InvalidNodeSelector" in line]
    want = "2 of 2 replicas serve on 1 cluster; no replica changes."
    assert (got.exit_code, got.stdout.splitlines()[0], len(said)) == (ERROR, want, 1)


def test_machines_get_the_same_as_people() -> None:
    """In JSON and in YAML, with the names of everything that a replica becomes."""
    got = json.loads(run(*FLEET, SMALL, "-o", "json").stdout)

    assert got == yaml.safe_load(run(*FLEET, SMALL, "-o", "yaml").stdout)
    (deployment,) = got["deployments"]
    (replica,) = deployment["replicas"]
    shown = (
        replica["change"],
        replica["cluster"],
        replica["pools"],
        replica["serving"],
        sorted(t["kind"] for t in replica["becomes"]),
    )
    want = "new", "starter", ["l4"], True, ["Deployment", "HTTPRoute", "ResourceClaimTemplate", "Service"]
    assert (got["exitCode"], shown) == (CHANGED, want)


def test_a_ready_cluster_whose_pool_lacks_its_class_says_so(tmp_path: Path) -> None:
    clusters = edited(FLEET[1], tmp_path, "className: gke-l4-1x-g2", "className: nope")
    got = run(FLEET[0], clusters, SMALL)

    want = "  InferenceCluster starter: WaitingForClasses: InferenceClass nope of pool l4 does not exist"
    assert want in got.stdout.splitlines()


def test_what_is_not_placed_has_a_reason_for_every_cluster() -> None:
    got = json.loads(run(str(EXAMPLES / "tour"), "-o", "json").stdout)

    (rival,) = [d for d in got["deployments"] if not d["replicas"]]
    assert {(r["cluster"], r["reason"]) for r in rival["rejections"]} == {
        ("starter", "Full"),
        ("europe", "NoDevice"),
        ("virginia", "NoDevice"),
    }


def test_a_change_shows_what_it_changes(tmp_path: Path) -> None:
    change = edited(SMALL, tmp_path, "replicas: 1", "replicas: 2")

    got = run(*FLEET, SMALL, "--change", change)

    want = "2 of 2 replicas serve on 2 clusters; 1 new, 1 kept."
    assert (got.exit_code, got.stdout.splitlines()[0]) == (CHANGED, want)


def test_a_change_that_changes_nothing_says_so() -> None:
    assert run(*FLEET, SMALL, "--change", SMALL).exit_code == NOTHING


def test_a_change_that_loses_what_serves_is_told_apart(tmp_path: Path) -> None:
    """The nodes go from under two replicas that serve."""
    change = edited(str(EXAMPLES / "bad-edit/fleet.yaml"), tmp_path, "nodeCount: 2", "nodeCount: 0")

    got = run(str(EXAMPLES / "bad-edit"), "--change", change)

    want = "  ml-team/qwen3-8b: 0 of 2 replicas would serve (2 now)"
    assert (got.exit_code, want in got.stdout.splitlines()) == (LOST, True)


def test_an_edit_that_leaves_a_service_without_endpoints_loses_something(tmp_path: Path) -> None:
    """Every replica stays, and nobody finds them."""
    change = edited(f"{EXAMPLES}/tour/service.yaml", tmp_path, "qwen3-32b", "qwen3-23b")

    got = run(str(EXAMPLES / "tour"), "--change", change)

    want = "  ModelService ml-team/qwen: no endpoint would be ready (2 now)"
    assert (got.exit_code, want in got.stdout.splitlines()) == (LOST, True)


def test_a_service_that_was_not_there_is_a_change() -> None:
    fleet = [*FLEET, f"{EXAMPLES}/tour/two-regions.yaml"]

    got = json.loads(run(*fleet, "--change", f"{EXAMPLES}/tour/service.yaml", "-o", "json").stdout)

    assert (got["exitCode"], [s["change"] for s in got["services"]]) == (CHANGED, ["new"])


def test_clusters_of_one_kubeconfig_are_one(tmp_path: Path) -> None:
    """Their nodes are there once, whatever the fleet calls them."""
    fleet = Path(EXAMPLES / "bad-edit/fleet.yaml").read_text()
    again = f"---{fleet.rpartition('---')[2]}".replace("name: starter\n", "name: zeta\n", 1)
    assert again.count("kubeconfig") == 1
    (tmp_path / "fleet.yaml").write_text(fleet + again)

    got = json.loads(run(str(tmp_path), "-o", "json").stdout)

    why = "InvalidNodePool: spec.nodePools[0].name: InferenceCluster starter counts the nodes of pool l4 already"
    assert [(c["name"], c["why"].partition(", and both")[0]) for c in got["clusters"] if c["why"]] == [("zeta", why)]
    assert {pool["cluster"]: pool["nodes"] for pool in got["pools"]}.get("zeta", 0) == 0


def test_a_service_that_waits_for_a_gateway_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_text(
        "apiVersion: modelplane.ai/v1alpha1\nkind: ModelService\nmetadata: {name: a, namespace: b}\n"
        "spec: {endpoints: [{selector: {matchLabels: {c: d}}}]}\n"
    )
    got = run(str(tmp_path), "-o", "json")

    troubles = [trouble["why"].partition(":")[0] for trouble in json.loads(got.stdout)["troubles"]]
    assert (got.exit_code, troubles) == (NOTHING, ["WaitingForGateway"])


def test_an_edit_of_what_runs_updates_its_replicas(tmp_path: Path) -> None:
    """They stay where they are, and yet something changes."""
    change = edited(SMALL, tmp_path, "image: vllm/vllm-openai:", "image: mirror.example.org/vllm/vllm-openai:")

    got = run(*FLEET, SMALL, "--change", change)

    want = "1 of 1 replica serves on 1 cluster; 1 updated."
    assert (got.exit_code, got.stdout.splitlines()[0]) == (CHANGED, want)


def test_another_url_of_an_outside_endpoint_is_a_change(tmp_path: Path) -> None:
    (tmp_path / "outside.yaml").write_text(
        "apiVersion: modelplane.ai/v1alpha1\nkind: ModelEndpoint\nmetadata: {name: a, namespace: b}\n"
        "spec: {url: https://one.example.org/v1}\n"
    )
    change = edited(str(tmp_path / "outside.yaml"), tmp_path, "one.", "two.")

    got = run(str(tmp_path / "outside.yaml"), "--change", change)

    assert (got.exit_code, "changed  b/a       https://two.example.org/v1" in got.stdout) == (CHANGED, True)


def test_what_runs_keeps_its_devices_when_a_class_is_edited(tmp_path: Path) -> None:
    """As on a cluster: a pod's claim stays allocated, whatever is published by then. It should move, and cannot."""
    fleet = str(EXAMPLES / "bad-edit/fleet.yaml")
    change = edited(fleet, tmp_path, "23034Mi", "1Mi")

    got = run(fleet, SMALL, "--change", change)

    assert (got.exit_code, "must move" in got.stdout) == (NOTHING, True), got.stdout


def test_a_change_that_says_when_it_was_deleted_deletes(tmp_path: Path) -> None:
    """A deployment takes its replicas along; a cluster drains first."""
    gone = edited(
        SMALL, tmp_path, "namespace: ml-team", "namespace: ml-team\n  deletionTimestamp: 2026-01-01T00:00:00Z"
    )
    deployment = run(*FLEET, SMALL, "--change", gone)
    drained = edited(
        FLEET[1], tmp_path, "name: starter\n", "name: starter\n  deletionTimestamp: 2026-01-01T00:00:00Z\n"
    )
    cluster = run(*FLEET, SMALL, "--change", drained)

    got = [(done.exit_code, done.stdout.splitlines()[0]) for done in (deployment, cluster)]
    want = [
        (LOST, "0 of 0 replicas serve on 0 clusters; 1 gone."),
        (CHANGED, "1 of 1 replica serves on 1 cluster; 1 moved."),
    ]
    assert got == want


@pytest.mark.parametrize(
    ("old", "new", "want"),
    [
        ("replicas: 1", "replicas: many", "edited.yaml:8:13: error: spec.replicas: "),
        ("replicas: 1", "replicaz: 1", "edited.yaml:8:3: error: spec.replicaz: "),
        ("name: qwen3-8b", "name: Qwen", "edited.yaml:5:9: error: metadata.name: "),
    ],
)
def test_a_wrong_field_or_value_is_an_error_with_its_place(tmp_path: Path, old: str, new: str, want: str) -> None:
    got = run(*FLEET, edited(SMALL, tmp_path, old, new))

    assert (got.exit_code, want in got.stderr, "nothing was planned" in got.stderr) == (ERROR, True, True), got.stderr


def test_a_broken_file_is_an_error_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("a: 1\n\tb: 2\n")

    got = run(str(tmp_path / "broken.yaml"))

    assert (got.exit_code, got.stdout) == (ERROR, "")
    assert "broken.yaml:2:1: error: a tab cannot indent YAML; use spaces" in got.stderr


def test_weights_that_are_to_be_staged_are_told_with_their_size() -> None:
    folder = str(EXAMPLES / "weights")

    got = json.loads(run(folder, "-o", "json").stdout)["staging"]

    row = "  ml-team/qwen3-coder  helsinki  600 GiB"
    assert got == [{"namespace": "ml-team", "name": "qwen3-coder", "cluster": "helsinki", "gib": 600}]
    assert row in run(folder).stdout.splitlines()


def test_a_change_that_asks_for_more_than_there_is_room_for_is_a_change(tmp_path: Path) -> None:
    """No replica moves, and yet less is served than is asked for."""
    more = edited(str(EXAMPLES / "tour/rivals.yaml"), tmp_path, "name: mistral-7b", "name: mistral-8b")

    assert run(*FLEET, str(EXAMPLES / "tour/rivals.yaml"), SMALL, "--change", more).exit_code == CHANGED


def test_a_fleet_may_come_from_standard_input() -> None:
    everything = "\n---\n".join(Path(p).read_text() for p in (*FLEET, SMALL))

    assert run("-", stdin=everything).stdout.splitlines()[0] == "1 of 1 replica serves on 1 cluster; 1 new."


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [("ModelReplica",), ("ModelReplica", "ModelEndpoint"), ()])
def test_a_dump_of_a_fleet_at_rest_stays_as_it_is(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    """Whether all of it was dumped, or only what a person would ask for. No kind given is all of them."""
    control = ControlPlane()
    manifests = [one.manifest for one in files.load([EXAMPLES / "tour"])]
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    given = ("InferenceClass", "InferenceCluster", "ModelDeployment", *kinds)
    dump = [m for m in control.store.all() if not kinds or m["kind"] in given]
    (tmp_path / "fleet.yaml").write_text(yaml_text.documents(dump))

    got = run(str(tmp_path))

    want = "5 of 6 replicas serve on 3 clusters; 1 not placed; no replica changes."
    assert (got.exit_code, got.stdout.splitlines()[0]) == (NOTHING, want)


def test_replicas_of_deployments_that_were_not_dumped_still_take_their_nodes(tmp_path: Path) -> None:
    """Their controllers are elsewhere: in the cluster that was dumped."""
    control = ControlPlane()
    manifests = [one.manifest for one in files.load([EXAMPLES / "tour"])]
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    dump = [m for m in control.store.all() if m["kind"] in ("InferenceClass", "InferenceCluster", "ModelReplica")]
    (tmp_path / "fleet.yaml").write_text(yaml_text.documents(dump))

    left = ControlPlane()
    left.loop.load([one.manifest for one in files.load([tmp_path])])
    left.loop.settle()

    def free(fleet: ControlPlane) -> list[object]:
        clusters = fleet.store.of_kind("modelplane.ai/v1alpha1", "InferenceCluster")
        return [dict(allocation) for m in clusters for allocation in m["status"]["allocations"]]

    assert free(left) == free(control)
    assert len(left.store.of_kind("modelplane.ai/v1alpha1", "ModelReplica")) == 5


@pytest.mark.slow
def test_plans_are_the_same_every_time() -> None:
    assert run(str(EXAMPLES / "tour")).stdout == run(str(EXAMPLES / "tour")).stdout


def test_a_slice_of_a_gpu_is_not_called_the_gpu() -> None:
    got = json.loads(
        run(str(EXAMPLES / "hardware/mig/class.yaml"), str(EXAMPLES / "hardware/mig/whole.yaml"), "-o", "json").stdout
    )

    assert [pool["devices"] for pool in got["pools"]] == ["7 NVIDIA H100 80GB HBM3 1g.10gb"]
