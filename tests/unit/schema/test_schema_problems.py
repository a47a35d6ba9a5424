"""All that is wrong with an object at once, strictly; and nothing that may be a secret."""

from __future__ import annotations

import json
from typing import Any

import pytest

from function.api import modeldeployment as model
from function.core import InvalidSpec
from function.publish.catalog import BY_KIND
from function.schema import Problem, problems
from tests.support.samples import ALL, CONTAINER, DEPLOYMENT, ENDPOINT, Object, edited

IN = "spec.engines.0.members.0.template.spec.containers.0"
CANARY = "hunter2"


@pytest.mark.parametrize("xr", ALL, ids=lambda xr: xr["kind"])
def test_a_full_object_of_every_kind_has_no_problems(xr) -> None:
    assert problems(BY_KIND[xr["apiVersion"], xr["kind"]].spec, xr) == []


def test_everything_is_said_at_once_in_the_order_of_the_model() -> None:
    xr = edited(DEPLOYMENT, "spec.replicas", "2")
    xr = edited(xr, "spec.engines.0.name", "A")
    xr = edited(xr, "spec.engines.0.members.0.rol", "Standalone")
    xr = edited(xr, "spec.engines.1.members.1.worker.nodes", 0)

    got = [(problem.field, problem.code) for problem in problems(model.Spec, xr)]

    want = [
        ("spec.replicas", "value"),
        ("spec.engines[0].name", "value"),
        ("spec.engines[0].members[0].rol", "unknown-field"),
        ("spec.engines[1].members[1].worker.nodes", "value"),
    ]
    assert got == want


def test_several_broken_rules_of_one_object_are_all_said() -> None:
    xr = edited(DEPLOYMENT, f"{IN}.livenessProbe.successThreshold", 2)
    xr = edited(xr, f"{IN}.readinessProbe.terminationGracePeriodSeconds", 2)

    assert [problem.code for problem in problems(model.Spec, xr)] == ["rule", "rule"]


def test_an_unknown_field_hides_no_broken_rule() -> None:
    xr = edited(edited(DEPLOYMENT, "spec.tolerations.0", {"value": "x"}), "spec.tolerations.0.kay", "x")

    assert [problem.code for problem in problems(model.Spec, xr)] == ["unknown-field", "rule"]


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("spec.replica", "is not a field; did you mean replicas?"),
        ("spec.Replicas", "is not a field; did you mean replicas?"),
        ("spec.engines.0.members.0.nodeSelector.device", "is not a field; did you mean devices?"),
        (f"{IN}.env.0.valu", "is not a field of Kubernetes 1.34; did you mean value?"),
        (f"{IN}.startupProbe.httpGet.hots", "is not a field of Kubernetes 1.34; did you mean host?"),
        (f"{IN}.volumeMount", "is not a field of Kubernetes 1.34; did you mean volumeMounts?"),
        (f"{IN}.modelplane", "is not a field of Kubernetes 1.34"),
        ("specs", "is not a field; did you mean spec?"),
        (
            "spec.template",
            "is not a field; move what is under spec.template.spec to spec, or use modelplane convert",
        ),
    ],
)
def test_an_unknown_field_is_named_with_the_nearest_known_one(path: str, want: str) -> None:
    [problem] = problems(model.Spec, edited(DEPLOYMENT, path, {}))

    assert problem.message == want


def test_an_unknown_field_comes_with_all_that_are_known() -> None:
    [problem] = problems(model.Spec, edited(DEPLOYMENT, "spec.engines.0.replicas", 2))

    want = Problem(
        ("spec", "engines", 0, "replicas"),
        "is not a field",
        None,
        "copies, leaderWorkerSet, members, name, phase, runtime",
        "unknown-field",
    )
    assert problem == want


def test_what_crossplane_writes_into_a_spec_is_no_problem() -> None:
    xr = edited(DEPLOYMENT, "spec.crossplane", {"compositionRef": {"name": "x"}})

    assert problems(model.Spec, xr) == []


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        (None, "is required"),
        (1, "must be a map of fields, not a number"),
        ([], "must be a map of fields, not a list of 0 items"),
    ],
)
def test_a_spec_that_is_none_is_a_problem(spec, want: str) -> None:
    [problem] = problems(model.Spec, edited(DEPLOYMENT, "spec", spec))

    assert (problem.field, problem.message) == ("spec", want)


@pytest.mark.parametrize(
    "xr",
    [
        edited(DEPLOYMENT, f"{IN}.env.0.value", CANARY * 50000),
        edited(DEPLOYMENT, f"{IN}.env.0", {"name": "PLAIN", "value": CANARY, "valueFrom": {}}),
        edited(DEPLOYMENT, f"{IN}.env", {"PLAIN": CANARY}),
        edited(DEPLOYMENT, f"{IN}.env.0.value", {"secret": CANARY}),
        edited(DEPLOYMENT, f"{IN}.args", [f"--api-key={CANARY}" * 30000]),
        edited(DEPLOYMENT, f"{IN}.env", [CANARY]),
        edited(ENDPOINT, "spec.url", f"https://user:{CANARY}@api.example.org"),
        edited(ENDPOINT, "spec.auth", {"secretRef": {"name": "a", "key": "b"}, "token": CANARY}),
        edited(DEPLOYMENT, f"{IN}.startupProbe.httpGet.httpHeaders", [{"name": "Authorization", "value": [CANARY]}]),
    ],
    ids=range(9),
)
def test_no_message_repeats_what_may_be_a_secret(xr) -> None:
    found = problems(BY_KIND[xr["apiVersion"], xr["kind"]].spec, xr)

    assert found
    assert [problem.message for problem in found if CANARY in problem.message + problem.accepted] == []


def test_the_answer_of_the_server_holds_no_secret_either() -> None:
    with pytest.raises(InvalidSpec) as raised:
        model.parse(edited(DEPLOYMENT, f"{IN}.args", [f"--api-key={CANARY}" * 30000]))

    assert (raised.value.__cause__, raised.value.__context__) == (None, None)
    assert CANARY not in raised.value.condition.message


def test_a_long_value_is_shortened() -> None:
    [problem] = problems(model.Spec, edited(DEPLOYMENT, "spec.engines.0.name", "A" * 500))

    assert problem.message.endswith(f"not {json.dumps('A' * 500)[:79]}…")


def test_the_server_is_lenient_where_validation_is_strict() -> None:
    xr = edited(DEPLOYMENT, "spec.later", 1)

    assert model.parse(xr) == model.parse(DEPLOYMENT)
    assert [problem.code for problem in problems(model.Spec, xr)] == ["unknown-field"]


def test_the_server_passes_on_what_a_later_kubernetes_may_know() -> None:
    xr = edited(DEPLOYMENT, f"{IN}.later", {"seconds": 5.0})

    assert engine(model.parse(xr))["later"] == {"seconds": 5}
    assert [problem.code for problem in problems(model.Spec, xr)] == ["unknown-field"]


def test_quantities_are_kept_as_text_however_they_were_written() -> None:
    got = model.parse(edited(DEPLOYMENT, f"{IN}.resources", {"limits": {"cpu": 8.0, "memory": "8"}}))

    assert engine(got)["resources"]["limits"] == {"cpu": "8", "memory": "8"}
    assert CONTAINER["resources"]["requests"]["cpu"] == 4, "parsing changes nothing"


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -0.5, True, [], {}, -1, "-1"], ids=str)
def test_what_is_no_amount_is_refused_and_never_crashes(value: object) -> None:
    """Protobuf's numbers are doubles, and doubles can be anything."""
    [problem] = problems(model.Spec, in_place(f"{IN}.resources.limits.cpu", value))

    assert problem.code == "value"


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 1e300], ids=str)
def test_what_is_no_count_is_refused_and_never_crashes(value: float) -> None:
    [problem] = problems(model.Spec, in_place("spec.replicas", value))

    assert problem.message.startswith("must be a whole number from 0 to 100, not ")


def engine(spec: Any) -> Any:
    """The container of the first engine."""
    return spec.engines[0].members[0].template["spec"]["containers"][0]


def in_place(path: str, value: object) -> Object:
    """A deployment with a value that JSON may not have."""
    xr = edited(DEPLOYMENT, path, "placeholder")
    *way, last = path.split(".")
    place: Any = xr
    for step in way:
        place = place[int(step)] if step.isdigit() else place[step]
    place[last] = value
    return xr
