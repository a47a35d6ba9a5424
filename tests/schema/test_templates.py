"""Pod templates and the definition of the kind that they stand in.

The definition declares the fields of a template that we read, and preserves the others. So it may accept a template
that the model refuses, and must never refuse one that the model accepts.
"""

from __future__ import annotations

import pytest

from function.publish.catalog import BY_KIND
from function.schema import problems
from tests.support.admission import is_admitted
from tests.support.api_cases import BAD_TEMPLATES, GOOD_TEMPLATES
from tests.support.samples import Object


def found(xr: Object) -> list[str]:
    kind = BY_KIND[xr["apiVersion"], xr["kind"]]
    return [f"{problem.field}: {problem.message}" for problem in problems(kind.spec, xr)]


@pytest.mark.parametrize("xr", GOOD_TEMPLATES.values(), ids=GOOD_TEMPLATES)
def test_a_sound_template_is_accepted_by_the_model_and_by_the_definition(xr: Object) -> None:
    assert (found(xr), is_admitted(xr)) == ([], True)


@pytest.mark.parametrize(("xr", "want"), BAD_TEMPLATES.values(), ids=BAD_TEMPLATES)
def test_a_faulty_template_is_refused_by_the_model(xr: Object, want: str) -> None:
    """Whatever the definition says of it."""
    assert found(xr) == [want]
