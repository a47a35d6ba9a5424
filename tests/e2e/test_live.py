"""`modelplane plan --live` and `top` over a real API server, by somebody who may only read."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from function.main import main
from tests.e2e import objects
from tests.e2e.kube import Api, Object
from tests.e2e.objects import changed
from tests.e2e.team import Team
from tests.e2e.waiting import until

RBAC = "rbac.authorization.k8s.io/v1"
ROLES = ("modelplane-viewer", "modelplane-fleet-viewer")
COMPOSED = "modelplane-composed-viewer"
NOTHING, ERROR, CHANGED = 0, 1, 3
IMAGE = "spec.engines.0.members.0.template.spec.containers.0.image"
NEW = "vllm/vllm-openai:v0.24.0"


@dataclass(frozen=True, slots=True)
class Reader:
    """A service account, and the program with its kubeconfig."""

    admin: Api
    namespace: str
    name: str
    config: Path

    def run(self, command: str) -> Result:
        return CliRunner().invoke(main, [*shlex.split(command), "--kubeconfig", str(self.config)])

    def plan(self, *words: str) -> tuple[int, dict[str, Any], str]:
        got = self.run(shlex.join(["plan", "--live", *words, "-o", "json"]))
        return got.exit_code, json.loads(got.stdout), got.stderr

    def grant(self, role: str) -> None:
        """As the command does that the program names."""
        subject = {"kind": "ServiceAccount", "namespace": self.namespace, "name": self.name}
        self.admin.apply(
            {
                "apiVersion": RBAC,
                "kind": "ClusterRoleBinding",
                "metadata": {"name": f"{role}-{self.namespace}"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [subject],
            }
        )

    def revoke(self) -> None:
        for role in (*ROLES, COMPOSED, "view"):
            binding = {
                "apiVersion": RBAC,
                "kind": "ClusterRoleBinding",
                "metadata": {"name": f"{role}-{self.namespace}"},
            }
            self.admin.delete(binding)


@pytest.fixture
def nobody(team: Team, tmp_path: Path) -> Iterator[Reader]:
    """A service account without rights."""
    metadata = {"name": "planner", "namespace": team.namespace}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    team.api.apply(account)
    request: Object = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    answer = team.api.send("POST", f"{team.api.address(account)}/token", request)
    config = tmp_path / "kubeconfig"
    config.write_text(team.api.as_user(answer["status"]["token"]).kubeconfig())
    reader = Reader(team.api, team.namespace, "planner", config)
    yield reader
    reader.revoke()


@pytest.fixture
def viewer(nobody: Reader) -> Reader:
    for role in ROLES:
        nobody.grant(role)
    until(lambda: nobody.run("top").exit_code, "the rights to be given", holds=lambda code: code == NOTHING)
    return nobody


def test_who_has_no_rights_is_told_which_and_how_to_give_them(nobody: Reader) -> None:
    """The command that is named gives what it says."""
    got = nobody.run("plan --live")

    who = f"system:serviceaccount:{nobody.namespace}:planner"
    assert got.exit_code == ERROR
    assert f"{who} may not list inferenceclasses, inferenceclusters, inferencegateways (modelplane.ai)" in got.stderr
    for role in ROLES:
        account = f"--serviceaccount={nobody.namespace}:planner"
        assert f"kubectl create clusterrolebinding {role}-planner --clusterrole={role} {account}" in got.stderr


def test_a_fleet_that_runs_does_not_change(team: Team, viewer: Reader) -> None:
    """Neither for who reads our kinds alone, nor for who reads what they composed."""
    team.serving()

    code, got, said = viewer.plan()
    assert (code, got["manifests"], got["live"]["isPartial"]) == (NOTHING, [], True)
    assert f"--clusterrole={COMPOSED}" in said

    for role in (COMPOSED, "view"):
        viewer.grant(role)
    code, got, said = until(
        viewer.plan, "everything to be readable", holds=lambda seen: not seen[1]["live"]["isPartial"]
    )
    assert (code, got["manifests"], said) == (NOTHING, [], "")


def test_a_preview_agrees_with_what_happens(team: Team, viewer: Reader, tmp_path: Path) -> None:
    """A replica more, and a new image: where replicas go, under which names, and what runs there."""
    deployment = team.serving(replicas=1)
    edited = changed(changed(deployment, "spec.replicas", 2), IMAGE, NEW)
    file = tmp_path / "edit.json"
    file.write_text(json.dumps(edited))

    code, planned, _ = viewer.plan("--change", str(file), "--all")
    [mine] = [one for one in planned["deployments"] if one["namespace"] == team.namespace]
    promised = {one["name"]: one["cluster"] for one in mine["replicas"]}
    assert (code, len(promised)) == (CHANGED, 2)

    team.api.apply(edited)
    team.await_ready(edited)
    team.settled()
    assert {one["metadata"]["name"]: one["spec"]["clusterName"] for one in team.replicas()} == promised
    assert {image(one) for one in team.replicas()} == {NEW}
    assert viewer.plan("--change", str(file))[0] == NOTHING


def test_the_fleet_at_a_glance(team: Team, viewer: Reader) -> None:
    """A deployment that no cluster has room for waits, with its reason and since when."""
    team.serving(replicas=1)
    greedy = team.deploy("greedy", replicas=1, engines=[objects.engine("vllm", objects.member(count=64))])
    team.await_condition(greedy, "ReplicasScheduled", "InsufficientCapacity")

    got = json.loads(viewer.run(f"top -n {team.namespace} -o json").stdout)

    assert [(one["name"], one["wanted"], one["placed"], one["serving"]) for one in got["waiting"]] == [
        ("greedy", 1, 0, 0)
    ]
    assert got["waiting"][0]["why"]["reason"] == "InsufficientCapacity"
    assert got["waiting"][0]["why"]["since"].endswith("Z")
    west = next(one for one in got["clusters"] if one["name"] == "west")
    assert (west["ready"], west["nodes"]) == (True, 10)
    assert viewer.run("explain --live greedy").exit_code == CHANGED


def image(replica: Object) -> str:
    return str(replica["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["image"])
