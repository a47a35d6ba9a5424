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
