"""Every field of every kind with values that do not belong there. `make fuzz` and `make slow` try more of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from function.publish import xrd
from function.publish.catalog import KINDS, Kind
from tests.fuzz import reads, sweep
from tests.fuzz.laws import faults

IN_NO_VALID_SAMPLE = {
    "capacityBlock": "only EKS has it; the other clouds refuse it",
    "infiniband": "only GKE and Nebius connect nodes so",
    "basePath": "beside a rewritePath, which most cases have",
    "budget": "beside what other retries ask for",
    "bool": "one of four",
    "int": "one of four",
}
"""Fields that are in no object that their definition takes, with the reason, and all fields below them."""


def names(schema: Mapping[str, Any]) -> Iterator[str]:
    """Every name of a field in a schema as it is published."""
    for name, child in schema.get("properties", {}).items():
        yield name
        yield from names(child)
    for below in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(below, Mapping):
            yield from names(below)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_no_field_is_forgotten(kind: Kind) -> None:
    published = set(names(xrd.schema(kind)))
    swept = sweep.fields(kind)
    assert published <= {field[-1] for field in swept}
    assert sum(1 for field in swept if "template" not in field) > len(published) / 2


@pytest.mark.slow
def test_every_field_is_in_an_object_that_its_definition_takes(record_property: Any) -> None:
    """Elsewhere a hostile value would hide behind another fault."""
    unreached = [
        (kind.kind, ".".join(field))
        for kind in KINDS
        for field in sweep.fields(kind)
        if "template" not in field[:-1] and not sweep.is_valid(kind, sweep.reached(kind, field).attempt)
    ]
    record_property("fields in no valid sample", len(unreached))
    assert {path for _, path in unreached if not IN_NO_VALID_SAMPLE.keys() & set(path.split("."))} == set()


def test_a_few_hostile_values_find_no_fault() -> None:
    """A slice, the same each time: of the smallest kinds, and of what composers read."""
    small = tuple(kind for kind in KINDS if kind.kind in ("InferenceClass", "ModelCaller"))
    chosen = sweep.attempts(small)[::150]
    assert {str(attempt): found for attempt in chosen if (found := faults(attempt))} == {}


@pytest.mark.slow
def test_reads_are_recorded() -> None:
    """What composers ask objects of other programs for is among what is tried, whether it is there or not."""
    found = reads.fields()
    paths = {(xr, path) for xr, _, _, path in found}
    assert ("servingstack", "spec.managementPolicies") in paths
    assert ("modelendpoint", "status.availableReplicas") in paths
    assert len(found) > 1000
