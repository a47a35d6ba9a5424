"""What a composer may require."""

import pytest

from function.core import Requirement


@pytest.mark.parametrize(
    "narrowed", [{}, {"match_name": "a"}, {"match_labels": {"a": "b"}}, {"match_name": "a", "match_labels": {}}]
)
def test_a_requirement_selects_all_a_name_or_labels(narrowed):
    assert Requirement("all", "v1", "Secret", **narrowed).kind == "Secret"


def test_a_requirement_with_a_name_and_labels_is_refused():
    with pytest.raises(ValueError, match="by a name or by labels"):
        Requirement("both", "v1", "Secret", match_name="a", match_labels={"a": "b"})


@pytest.mark.parametrize(
    ("narrowed", "said"),
    [
        ({}, "all InferenceClasses"),
        ({"match_name": "l4"}, "InferenceClass l4"),
        ({"match_labels": {"tier": "gold", "region": "eu"}}, "InferenceClasses with region=eu,tier=gold"),
    ],
)
def test_a_requirement_says_what_is_looked_up(narrowed, said):
    assert str(Requirement("classes", "modelplane.ai/v1alpha1", "InferenceClass", **narrowed)) == said
