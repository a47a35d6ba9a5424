"""What a cluster publishes of its classes and pools has room for all that they say."""

from __future__ import annotations

import pytest

from function import schema
from function.api import inferenceclass, inferencecluster
from function.contracts.cloud import nodepool


@pytest.mark.parametrize(
    ("written", "published"),
    [
        (inferenceclass.Device, inferencecluster.PublishedDevice),
        (nodepool.Taint, inferencecluster.PublishedTaint),
    ],
)
def test_every_field_is_published(written: type[schema.Api], published: type[schema.Api]) -> None:
    """A field that is missing here would be dropped by the API server, and the scheduler would never see it."""
    assert published.model_fields.keys() == written.model_fields.keys()


def test_the_kinds_of_attributes_are_the_fields_of_an_attribute() -> None:
    assert set(inferenceclass.ATTRIBUTE_KINDS) == inferenceclass.Attribute.model_fields.keys()
