"""Whole numbers with and without a suffix."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from function.api import modelcaller
from function.core import InvalidSpec
from function.publish import xrd
from function.publish.catalog import BY_KIND
from tests.support.caller_cases import COUNTS, NO_COUNTS, TOKENS
from tests.support.samples import CALLER, edited

SCHEMA = xrd.schema(BY_KIND[modelcaller.API_VERSION, modelcaller.KIND])
_ONLY_THE_FUNCTION = {"0", "0k", "0.0M", "4294967296", "4.294967296G", "5G"}
"""Texts of the form of a number that is too small or too large, which no schema can tell."""
_NOT_TO_PYTHON = {"2M\n"}
"""Python's `$` matches before a newline at the end, and Go's does not."""


@pytest.mark.parametrize(("written", "want"), COUNTS.items(), ids=map(repr, COUNTS))
def test_a_count_is_the_number_that_is_written(written: Any, want: int) -> None:
    xr = edited(CALLER, TOKENS, written)
    got = modelcaller.parse(xr).limits[0].tokens
    jsonschema.validate(xr, SCHEMA)
    assert (got, type(got)) == (want, int)


@pytest.mark.parametrize("written", NO_COUNTS, ids=repr)
def test_what_is_no_count_is_refused(written: Any) -> None:
    xr = edited(CALLER, TOKENS, written)
    with pytest.raises(InvalidSpec):
        modelcaller.parse(xr)
    if written not in _ONLY_THE_FUNCTION | _NOT_TO_PYTHON:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(xr, SCHEMA)
