"""Finding nothing where something was is believed the second time."""

from __future__ import annotations

import pytest

from function.core import ComposedResource, Composer, ConditionType, InvalidSpec, NotYet, Request, Result, doubt

VERDICT = ConditionType("Accepted")
REFUSED = VERDICT.false("InvalidSpec", "{field}: {problem}")


def request(**annotations: str) -> Request:
    guard = {"apiVersion": "v1", "kind": "Guard", "metadata": {"name": "guard", "annotations": annotations}}
    return Request(xr={"metadata": {"name": "x"}}, observed={"guard": guard})


def test_what_speaks_against_it_makes_the_first_pass_doubt() -> None:
    assert not doubt.is_believed(request(), "replicas", "guard")
    assert doubt.is_believed(request(), "replicas", "never-composed")


def test_the_pass_after_a_note_believes_what_was_noted() -> None:
    kept = doubt.keep(request(other="1"), "guard", "replicas", "caches")["guard"].manifest
    assert kept["metadata"]["annotations"] == {"other": "1", doubt.NOTE: "caches,replicas"}
    noted = request(**kept["metadata"]["annotations"])
    assert doubt.is_believed(noted, "replicas", "guard")
    assert doubt.is_believed(noted, "caches", "guard")
    assert not doubt.is_believed(noted, "clusters", "guard")


def test_what_is_kept_without_a_doubt_has_no_note() -> None:
    assert "annotations" not in doubt.keep(request(**{doubt.NOTE: "replicas"}), "guard")["guard"].manifest["metadata"]
    plain = ComposedResource({"metadata": {"name": "guard"}})
    assert doubt.with_note(plain, ()) is plain


@pytest.mark.parametrize("why", [NotYet, InvalidSpec])
def test_a_hold_for_another_reason_ends_a_doubt(why: type[NotYet | InvalidSpec]) -> None:
    """Two passes that found nothing must follow each other."""

    def compose(_: Request) -> Result:
        raise why(REFUSED(field="spec", problem="no"))

    composer = Composer(
        api_version="v1", kind="Any", conditions=(VERDICT,), invalid=REFUSED, requirements=lambda _: (), compose=compose
    )
    result = composer(request(**{doubt.NOTE: "replicas"}))
    assert "annotations" not in result.resources["guard"].manifest["metadata"]
