"""`--live`: a plan of a fleet on an API server reads it, changes nothing, and says what it may not read."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from function.apiserver import client as clients
from function.cli import yaml_text
from function.core import plain
from function.live import kinds
from function.main import main
from function.planning.applying import LAST_APPLIED
from function.publish import access, roles
from function.publish.catalog import BY_KIND, KINDS
from tests.support import live_fleets
from tests.support.api_server_standin import ApiServer, serving

OURS = "/apis/modelplane.ai/v1alpha1"
OBJECTS = "/apis/kubernetes.m.crossplane.io/v1alpha1/objects"
NOTHING, ERROR, LOST, CHANGED = 0, 1, 2, 3
DENIED = 'is forbidden: User "alice" cannot list resource'
BIND = "kubectl create clusterrolebinding "
EDIT = live_fleets.EXAMPLES / "edit"


@dataclass
class Fleet:
    """A control cluster, and a kubeconfig for it."""

    api: ApiServer
    config: Path

    def run(self, command: str, *arguments: str | Path) -> Result:
        words = [*shlex.split(command), "--live", "--kubeconfig", str(self.config), *map(str, arguments)]
        return CliRunner().invoke(main, words)

    def plan(self, *arguments: str | Path) -> tuple[int, dict[str, Any]]:
        got = self.run("plan", *arguments, "-o", "json")
        return got.exit_code, json.loads(got.stdout)

    def forbid(self, *paths: str) -> None:
        self.api.refuses.update(dict.fromkeys(paths, 403))


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Fleet]:
    with serving(ApiServer()) as api:
        yield Fleet(api, api.kubeconfig(tmp_path / "kubeconfig"))


@pytest.fixture
def tour(empty: Fleet) -> Fleet:
    live_fleets.serve(empty.api, live_fleets.settled("tour"))
    return empty


def foreign(fleet: Fleet) -> list[str]:
    return [path for path in fleet.api.objects if path not in live_fleets.PATHS.values()]


# What the function would do next


@pytest.mark.slow
@pytest.mark.parametrize("example", ["tour", "clouds", "tiers"])
def test_a_settled_fleet_does_not_change(empty: Fleet, example: str) -> None:
    live_fleets.serve(empty.api, live_fleets.settled(example))

    code, got = empty.plan()

    assert (code, got["manifests"], got["live"]["isPartial"]) == (NOTHING, [], False)


@pytest.mark.slow
def test_only_get_is_asked_and_never_a_secret_or_a_watch(tour: Fleet) -> None:
    tour.plan()

    assert {method for method, _, _ in tour.api.requests} == {"GET"}
    assert not any("secrets" in path or "watch" in asked for _, path, asked in tour.api.requests)


@pytest.mark.slow
def test_each_kind_of_ours_is_asked_for_once_in_pages(tour: Fleet) -> None:
    tour.plan()

    asked = [(path, given.get("limit")) for _, path, given in tour.api.requests]
    assert [asked.count((path, str(clients.PAGE))) for path in live_fleets.PATHS.values()] == [1] * len(KINDS)


@pytest.mark.slow
def test_pages_are_put_together(tour: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "PAGE", 2)

    assert tour.plan()[0] == NOTHING
    assert any("continue" in given for _, _, given in tour.api.requests)


@pytest.mark.slow
def test_what_a_fleet_would_do_next_is_shown(tour: Fleet) -> None:
    """A deployment that has just been written has no replicas yet."""
    path = f"{OURS}/modelreplicas"
    for name in [name for name, one in tour.api.objects[path].items() if "qwen3-8b" in name]:
        tour.api.delete(path, name)

    code, got = tour.plan()

    assert (code, [one["name"] for one in got["deployments"] if one["replicas"]]) == (CHANGED, ["qwen3-8b"])


@pytest.mark.slow
def test_what_other_compositions_made_is_left_out(tour: Fleet) -> None:
    other = plain(next(iter(tour.api.objects[OBJECTS].values())))
    other["metadata"] |= {"name": "other", "uid": "u-1", "ownerReferences": []}
    tour.api.serve(OBJECTS, other)
    before = len(tour.api.objects[OBJECTS])

    assert tour.plan()[1]["live"]["objects"]["Object"] == before - 1


# What an edit would do


def deployment(name: str) -> dict[str, Any]:
    """As its author wrote it."""
    text = (live_fleets.EXAMPLES / "tour/deployment.yaml").read_text()
    from function.cli import files

    found = next(one.manifest for one in files.parse(text, "x") if one.manifest["metadata"]["name"] == name)
    return dict(plain(found))


def written(file: Path, *objects: dict[str, Any]) -> Path:
    file.write_text(yaml_text.documents(objects))
    return file


@pytest.mark.slow
def test_an_edit_is_previewed_as_over_files(tour: Fleet) -> None:
    code, got = tour.plan("--change", EDIT)
    over_files = CliRunner().invoke(
        main, ["plan", str(live_fleets.EXAMPLES / "tour"), "--change", str(EDIT), "-o", "json"]
    )

    want = json.loads(over_files.stdout)
    got.pop("live")
    assert (code, got) == (CHANGED, want)


@pytest.mark.slow
def test_a_file_that_says_what_is_there_changes_nothing(tour: Fleet, tmp_path: Path) -> None:
    assert tour.plan("--change", written(tmp_path / "same.yaml", deployment("qwen3-8b")))[0] == NOTHING


@pytest.mark.slow
def test_what_an_autoscaler_set_stays_as_with_kubectl_apply(tour: Fleet, tmp_path: Path) -> None:
    """The file has no replicas, and never had."""
    wanted = deployment("qwen3-8b")
    wanted["spec"].pop("replicas", None)
    there = plain(tour.api.objects[f"{OURS}/modeldeployments"]["ml-team/qwen3-8b"])
    there["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(wanted)}
    there["spec"]["replicas"] = 3
    tour.api.put(f"{OURS}/modeldeployments", there)
    wanted["metadata"]["labels"] = {"team": "ml"}

    _, got = tour.plan("--change", written(tmp_path / "edit.yaml", wanted))

    assert [one["path"] for edit in got["edits"] for one in edit["fields"]] == ["metadata.labels"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "want"), [((), "of-context"), (("-n", "named"), "named")], ids=["context", "named"]
)
def test_an_object_without_a_namespace_is_where_kubectl_would_put_it(
    tour: Fleet, tmp_path: Path, options: tuple[str, ...], want: str
) -> None:
    config = json.loads(tour.config.read_text())
    config["contexts"][0]["context"]["namespace"] = "of-context"
    tour.config.write_text(json.dumps(config))
    one = deployment("qwen3-8b")
    del one["metadata"]["namespace"]

    got = tour.plan("--change", written(tmp_path / "one.yaml", one), *options)[1]

    assert [(edit["change"], edit["namespace"]) for edit in got["edits"]] == [("new", want)]


@pytest.mark.slow
def test_the_whole_fleet_is_compared_with_files(tour: Fleet) -> None:
    assert tour.plan("--to", live_fleets.EXAMPLES / "tour")[0] == NOTHING
    assert tour.plan("--to", live_fleets.EXAMPLES / "spare")[0] == LOST


@pytest.mark.slow
def test_an_edit_can_be_read_from_standard_input(tour: Fleet) -> None:
    words = ["plan", "--live", "--kubeconfig", str(tour.config), "--change", "-"]

    got = CliRunner().invoke(main, words, input=yaml_text.documents([deployment("qwen3-8b")]))

    assert got.exit_code == NOTHING


# Other commands


@pytest.mark.slow
def test_an_object_is_explained(tour: Fleet) -> None:
    got = tour.run("explain", "support/mistral-7b")

    assert got.exit_code == CHANGED
    assert "no device" in got.stdout


@pytest.mark.slow
def test_a_loss_is_played(tour: Fleet) -> None:
    assert tour.run("what-if --lose europe").exit_code == LOST


@pytest.mark.slow
def test_what_is_suggested_next_can_be_typed(tour: Fleet) -> None:
    got = tour.run("plan").stdout

    assert f"modelplane explain --live --kubeconfig {tour.config} ModelDeployment/support/mistral-7b" in got
    assert f"modelplane plan --live --kubeconfig {tour.config} --change FILE" in got


# What may not be read


def told(status: str) -> Callable[[Any, int, str], None]:
    def answer(handler: Any, code: int, _: str) -> None:
        handler._json(code, {"kind": "Status", "status": "Failure", "code": code, "message": status})

    return answer


@pytest.fixture
def alice(tour: Fleet, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """The API server tells who may not."""
    monkeypatch.setattr("tests.support.api_server_standin._Handler._status", told(DENIED))
    return tour


def test_a_kind_of_ours_that_may_not_be_listed_is_an_error_with_its_remedy(alice: Fleet) -> None:
    alice.forbid(f"{OURS}/modelreplicas", f"{OURS}/modelservices", f"{OURS}/inferenceclusters")

    got = alice.run("plan")

    assert (got.exit_code, got.stdout) == (ERROR, "")
    lines = got.stderr.splitlines()
    assert lines[1:] == [
        "  alice may not list inferenceclusters (modelplane.ai) cluster-wide; to allow it:",
        f"    {BIND}modelplane-fleet-viewer-alice --clusterrole=modelplane-fleet-viewer --user=alice",
        "  alice may not list modelreplicas, modelservices (modelplane.ai) cluster-wide; to allow it:",
        f"    {BIND}modelplane-viewer-alice --clusterrole=modelplane-viewer --user=alice",
    ]


@pytest.mark.slow
def test_foreign_kinds_that_may_not_be_listed_make_the_result_partial(alice: Fleet) -> None:
    alice.forbid(*foreign(alice))

    got = alice.run("plan", "-o", "json")

    assert got.exit_code == NOTHING
    assert got.stderr.startswith("warning: the result is partial")
    for line in ("objects (kubernetes.m.crossplane.io)", "--clusterrole=modelplane-composed-viewer --user=alice"):
        assert line in got.stderr
    live = json.loads(got.stdout)["live"]
    assert (live["isPartial"], "objects.kubernetes.m.crossplane.io" in live["forbidden"]) == (True, True)


@pytest.mark.slow
def test_a_comment_says_that_it_is_partial(tour: Fleet) -> None:
    assert "partial" not in tour.run("plan", "-o", "markdown").stdout
    tour.forbid(OBJECTS)

    got = tour.run("plan", "-o", "markdown").stdout

    assert got.startswith("> [!WARNING]\n> This plan is partial. It does not compare objects of `objects.kubernetes.m")


@pytest.mark.slow
def test_a_preview_without_the_composed_objects_is_the_same(tour: Fleet) -> None:
    whole = tour.plan("--change", EDIT)[1]
    tour.forbid(*foreign(tour))

    partial = tour.plan("--change", EDIT)[1]

    assert {k: v for k, v in partial.items() if k != "live"} == {k: v for k, v in whole.items() if k != "live"}


@pytest.mark.slow
def test_what_clouds_have_made_is_no_change_if_it_may_not_be_read(empty: Fleet) -> None:
    live_fleets.serve(empty.api, live_fleets.settled("clouds"))
    empty.forbid(*foreign(empty))

    assert empty.plan()[0] == NOTHING


def test_a_service_account_is_named_as_kubectl_takes_it(tour: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    who = 'User "system:serviceaccount:ci:planner" cannot list'
    monkeypatch.setattr("tests.support.api_server_standin._Handler._status", told(who))
    tour.forbid(f"{OURS}/modelreplicas")

    assert tour.run("plan").stderr.splitlines()[-1].strip() == (
        "kubectl create clusterrolebinding modelplane-viewer-planner --clusterrole=modelplane-viewer "
        "--serviceaccount=ci:planner"
    )


def listable(role: str) -> set[tuple[str, str]]:
    rules = next(one["rules"] for one in roles.cluster_roles() if one["metadata"]["name"] == role)
    return {(group, one) for rule in rules for group in rule["apiGroups"] for one in rule["resources"]}


def read_kinds(tour: Fleet) -> Iterable[tuple[str, str]]:
    yield from ((kind.group, kind.plural) for kind in KINDS)
    composed = kinds.composed(one for some in tour.api.objects.values() for one in some.values())
    yield from ((kind.group, kind.plural) for kind in composed)


def test_the_roles_that_are_named_suffice(tour: Fleet) -> None:
    named = ("modelplane-viewer", "modelplane-fleet-viewer", "modelplane-composed-viewer")
    allowed = set().union(*map(listable, named))

    lacking = {group for group, plural in read_kinds(tour) if (group, plural) not in allowed}
    assert lacking <= {"", "apps", "discovery.k8s.io", "policy"}  # Kubernetes' own role has these


def test_no_role_reads_secrets() -> None:
    names = [role["metadata"]["name"] for role in roles.cluster_roles()]

    assert not any(plural == "secrets" for name in names for _, plural in listable(name))


def test_every_foreign_kind_that_is_composed_can_be_read() -> None:
    """The list follows from what the function composes. Secrets are the only exception."""
    every = [{"apiVersion": one.api_version, "kind": one.kind} for one in access.COMPOSED]

    others = [{"apiVersion": "v1", "kind": "Secret"}, {"apiVersion": "example.org/v1", "kind": "Strange"}, "junk"]

    found = kinds.composed([{"spec": {"crossplane": {"resourceRefs": [*every, *others]}}}])

    want = {(one.api_version, one.kind) for one in access.COMPOSED} - BY_KIND.keys()
    assert {(one.api_version, one.kind) for one in found} == want


# What is not there


@pytest.mark.slow
def test_kinds_that_are_not_installed_are_no_error(tour: Fleet) -> None:
    for plural in ("eksclusters", "gkeclusters"):
        del tour.api.objects[f"/apis/infrastructure.modelplane.ai/v1alpha1/{plural}"]

    code, got = tour.plan()

    assert (code, got["live"]["notServed"]) == (
        NOTHING, ["eksclusters.infrastructure.modelplane.ai", "gkeclusters.infrastructure.modelplane.ai"],
    )  # fmt: skip


def test_a_cluster_without_modelplane_is_named(empty: Fleet) -> None:
    got = empty.run("plan")

    assert got.exit_code == ERROR
    assert got.stderr == (
        f"Error: {empty.api.url} (context here of {empty.config}) serves no kind of Modelplane; "
        "is it the control cluster?\n"
    )


def test_a_fleet_of_nothing_is_no_error(empty: Fleet) -> None:
    live_fleets.serve(empty.api, ())

    assert empty.plan()[0] == NOTHING


# Servers that are wrong


def test_credentials_that_are_not_accepted_are_named_and_not_shown(tour: Fleet) -> None:
    given, tour.api.token = tour.api.token, "another"

    got = tour.run("plan")

    assert got.exit_code == ERROR
    assert f"does not accept the credentials of context here of {tour.config}" in got.stderr
    assert given not in got.output


def test_a_server_that_is_not_there_is_named(tour: Fleet, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.write_text(tour.config.read_text().replace(tour.api.url, "http://127.0.0.1:1"))

    got = CliRunner().invoke(main, ["plan", "--live", "--kubeconfig", str(closed)])

    assert got.exit_code == ERROR
    assert f"the fleet cannot be read from http://127.0.0.1:1 (context here of {closed}): " in got.stderr


@pytest.mark.slow
@pytest.mark.parametrize("status", [500, 429, 503, 418])
def test_a_server_that_answers_with_an_error_is_an_error(tour: Fleet, status: int) -> None:
    tour.api.refuses[f"{OURS}/modelreplicas"] = status

    got = tour.run("plan")

    assert (got.exit_code, got.stdout) == (ERROR, "")
    assert "modelreplicas.modelplane.ai: /apis/modelplane.ai/v1alpha1/modelreplicas is refused" in got.stderr


def test_a_list_that_always_expires_is_an_error(tour: Fleet) -> None:
    tour.api.refuses[f"{OURS}/modelreplicas"] = 410

    got = tour.run("plan")

    assert got.exit_code == ERROR
    assert "modelreplicas.modelplane.ai: the list changes faster than it can be read" in got.stderr


HOSTILE: dict[str, Any] = {
    "a text": "x", "no metadata": {}, "a list": [], "metadata of text": {"metadata": "x"},
    "no name": {"metadata": {}}, "a name of numbers": {"metadata": {"name": 1}},
    "labels of text": {"metadata": {"name": "x", "labels": "x"}},
    "a status of text": {"metadata": {"name": "x", "namespace": "y"}, "spec": {}, "status": "x"},
    "conditions of numbers": {"metadata": {"name": "x", "namespace": "y"}, "spec": {}, "status": {"conditions": [1]}},
    "escapes": {"metadata": {"name": "\x1b[31m", "namespace": "y"}, "spec": {}},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.parametrize("command", ["plan", "top"])
def test_an_object_that_is_none_is_an_error_and_no_bug(
    tour: Fleet, monkeypatch: pytest.MonkeyPatch, what: str, command: str
) -> None:
    def answer(self: Any, path: str, _: dict[str, str]) -> None:
        items = [HOSTILE[what]] if path.endswith("/modelreplicas") else []
        self._json(200, {"kind": "List", "metadata": {}, "items": items})

    monkeypatch.setattr("tests.support.api_server_standin._Handler._list", answer)
    words = [command, *(["--live"] if command == "plan" else []), "--kubeconfig", str(tour.config)]

    got = CliRunner().invoke(main, words)

    assert got.exit_code in ((ERROR,) if command == "plan" else (NOTHING, ERROR))  # top relies on less
    assert "bug" not in got.stderr
    assert "\x1b" not in got.output


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"items": 7}', b"\xff", b'{"items": {"a": 1}}'])
def test_an_answer_that_is_no_list_is_no_bug(tour: Fleet, monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    def answer(self: Any, *_: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    monkeypatch.setattr("tests.support.api_server_standin._Handler._list", answer)

    got = tour.run("plan")

    assert got.exit_code == ERROR
    assert "bug" not in got.stderr


def test_a_server_that_does_not_end_its_pages_is_an_error(tour: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "_MOST_PAGES", 3)

    def answer(self: Any, *_: Any) -> None:
        self._json(200, {"kind": "List", "metadata": {"continue": "more"}, "items": []})

    monkeypatch.setattr("tests.support.api_server_standin._Handler._list", answer)

    got = tour.run("plan")

    assert got.exit_code == ERROR
    assert "the list does not end" in got.stderr


def test_an_object_that_this_release_refuses_is_an_error_that_names_it(tour: Fleet) -> None:
    there = plain(tour.api.objects[f"{OURS}/modeldeployments"]["ml-team/qwen3-8b"])
    there["spec"]["later"] = True
    tour.api.put(f"{OURS}/modeldeployments", there)

    got = tour.run("plan")

    assert got.exit_code == ERROR
    assert "ModelDeployment/ml-team/qwen3-8b" in got.stderr
    assert "definitions of another release" in got.stderr


# Options

TOUR = str(live_fleets.EXAMPLES / "tour")
OPTIONS: dict[str, tuple[str, str]] = {
    "both": (f"plan --live {TOUR}", "use --live --change FILE"),
    "neither": ("plan", "Name files, or use --live"),
    "a context for files": (f"plan {TOUR} --context prod", "--context needs --live."),
    "a kubeconfig for files": (f"explain {TOUR} x --kubeconfig y", "--kubeconfig needs --live."),
    "a namespace for files": (f"plan {TOUR} -n x", "--namespace needs --live."),
    "a revision": ("plan --live --base HEAD", "--base compares files"),
    "a name without a fleet": ("explain x", "Name files, or use --live"),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_options_that_contradict_each_other_are_an_error(case: str) -> None:
    command, want = OPTIONS[case]

    got = CliRunner().invoke(main, shlex.split(command))

    assert got.exit_code == (ERROR if command.startswith("plan") else LOST)
    assert want in " ".join(got.stderr.split())


def test_an_error_is_a_document_if_json_was_asked_for(tmp_path: Path) -> None:
    got = CliRunner().invoke(main, ["plan", "--live", "--kubeconfig", str(tmp_path / "no"), "-o", "json"])

    assert json.loads(got.stdout)["error"]["exitCode"] == ERROR
