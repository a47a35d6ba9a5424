"""`plan`, `what-if` and `explain` of a service with priorities: which one answers, and who is behind it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from function.cli.files import load
from function.cli.fleet import settled
from function.core import condition, dig
from function.main import main
from function.planning import impact, parts
from function.planning.control_plane import ControlPlane
from function.planning.service_explanation import explain
from function.sandbox.store import Ref
from function.vocabulary import labels, versions

FOLDER = Path(__file__).parents[3] / "examples/tiers"
TIERS = str(FOLDER)
LOST = 2
QWEN = Ref(versions.MODELPLANE, "ModelService", "ml-team", "qwen")


def run(*arguments: str) -> tuple[int, str]:
    got = CliRunner().invoke(main, arguments)
    return got.exit_code, got.stdout


def data(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*arguments, "-o", "json")[1])
    return found


@pytest.fixture(scope="module")
def control() -> ControlPlane:
    return settled(load([FOLDER]))


def of_kind(control: ControlPlane, api_version: str, kind: str) -> dict[str, Any]:
    return {one["metadata"]["name"]: one for one in control.store.of_kind(api_version, kind)}


def test_the_services_proxy_takes_over_at_the_fixed_point(control: ControlPlane) -> None:
    """No endpoint keeps a proxy of its own, and the route leads to the service's."""
    service = control.store.get(QWEN)
    deployments = of_kind(control, versions.APPS, "Deployment")
    (route,) = of_kind(control, versions.GATEWAY, "HTTPRoute").values()
    outside = [of_kind(control, versions.MODELPLANE, "ModelEndpoint")[name] for name in ("azure", "provider")]

    assert [name.rpartition("-")[0] for name in deployments] == ["qwen-proxy"]
    assert [b["name"] for rule in route["spec"]["rules"] for b in rule["backendRefs"]] == list(deployments)
    assert [dig(condition(one, "RoutingReady"), "reason") for one in outside] == ["LedByServices"] * 2
    assert (dig(service, "status", "priority"), len(dig(service, "status", "proxied"))) == (0, 5)
    assert dig(condition(service, "Ready"), "status") == "True"


def test_what_is_deleted_is_withdrawn_at_once(control: ControlPlane) -> None:
    """No time passes offline, so that nothing lingers."""
    copy = control.copied()
    copy.store.delete(Ref(versions.MODELPLANE, "ModelEndpoint", "ml-team", "azure"))
    copy.loop.settle()

    status = dig(copy.store.get(QWEN), "status")
    assert ("azure" in status["routed"], "azure" in status["proxied"], status["priority"]) == (False, False, 0)
    (config,) = of_kind(copy, versions.CORE, "ConfigMap").values()
    assert labels.WITHDRAWN not in config["metadata"]["annotations"]


def test_the_next_priority_answers_while_a_cluster_does_not(control: ControlPlane) -> None:
    """Its endpoints stay in the proxy, as a part of their priority that gets nothing, and in status.routed."""
    copy = control.copied()
    before = parts.read(copy.store)
    copy.faults.unreachable.add("iowa")
    copy.loop.settle()
    after = parts.read(copy.store)

    (service,) = impact.compare(["iowa does not answer"], before, after).services
    assert (service.before, service.after, service.answers) == (5, 2, (0, 0, 1))
    assert len(after.services[0].routed) == 5


@pytest.mark.slow
def test_a_plan_shows_priorities_and_which_one_answers() -> None:
    (service,) = data("plan", TIERS)["services"]
    assert (service["answers"], service["priorities"]) == (
        0,
        [
            {"priority": 0, "matched": 3, "answering": 3},
            {"priority": 1, "matched": 1, "answering": 1},
            {"priority": 2, "matched": 1, "answering": 1},
        ],
    )


def test_a_loss_says_which_priority_answers_then() -> None:
    code, text = run("what-if", TIERS, "--lose", "iowa")

    assert "; ml-team/qwen: priority 1 answers instead of 0." in text.splitlines()[0]
    assert "no endpoint left" not in text
    assert code == LOST


@pytest.mark.slow
def test_the_same_for_machines_and_in_a_comment() -> None:
    found = data("what-if", TIERS, "--lose", "any")

    (service,) = found["clusters"][0]["services"]
    assert service["priorities"] == {"before": 0, "meanwhile": 1, "after": 1}
    _, text = run("what-if", TIERS, "--lose", "iowa", "-o", "markdown")
    assert "| `ml-team/qwen` | 5 | 2 | 1 (was 0) | falls short |" in text.splitlines()


@pytest.mark.slow
def test_a_change_of_the_files_says_so_too(tmp_path: Path) -> None:
    none = (FOLDER / "models.yaml").read_text().replace("spec:\n  replicas: 2\n", "spec:\n", 1)
    none = none.replace("spec:\n  engines:", "spec:\n  replicas: 0\n  engines:")
    (tmp_path / "none.yaml").write_text(none)
    code, text = run("plan", TIERS, "--change", str(tmp_path / "none.yaml"))

    assert "ModelService ml-team/qwen: priority 1 answers (0 now)" in text
    assert "0: 0 of 0; 1: 1 of 1, answers; 2: 1 of 1" in text
    assert code == 3


def test_an_explanation_names_each_endpoint_and_its_priority() -> None:
    code, text = run("explain", TIERS, "ModelService/ml-team/qwen")

    lines = text.splitlines()
    assert lines[0].startswith("ModelService/ml-team/qwen: priority 0 answers at http://")
    assert "priority 0: 3 of 3 endpoints serve; it answers" in lines
    assert "priority 1: 1 of 1 endpoint serves; it takes over as far as those before it fail" in lines
    assert "  spec.endpoints[1] (weight 5, asked for model qwen3-8b-next)" in lines
    assert "    serves  azure  outside  LedByServices: Requests go through the proxies of ModelServices qwen" in lines
    assert code == 0


def test_an_entry_without_endpoints_is_explained_and_incomplete(control: ControlPlane) -> None:
    copy = control.copied()
    for name in ("azure", "provider"):
        copy.store.delete(Ref(versions.MODELPLANE, "ModelEndpoint", "ml-team", name))
    copy.loop.settle()
    service = copy.store.get(QWEN)
    assert service is not None

    found = explain(copy.store, service)
    assert (found.answers, found.is_complete, [len(e.endpoints) for e in found.entries]) == (0, False, [2, 1, 0, 0])


def test_an_endpoint_says_which_service_uses_it() -> None:
    assert run("explain", TIERS, "ModelEndpoint/ml-team/azure") == (
        0,
        "ModelEndpoint/ml-team/azure: ready.\nNothing is missing.\n\nused by:\n  ModelService/ml-team/qwen\n",
    )
