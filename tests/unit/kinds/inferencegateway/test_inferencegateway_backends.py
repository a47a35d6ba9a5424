"""What stands between us and the program that serves the gateway."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from function import gateways
from function.core import InvalidSpec
from function.kinds.inferencegateway import composer, inputs
from function.vocabulary import names


def test_a_backend_that_lacks_something_is_refused_and_told_what() -> None:
    unable = replace(gateways.DEFAULT, lacks=("rewrite the path of each backend",))
    with pytest.raises(InvalidSpec, match=r"spec\.backend: Traefik cannot rewrite the path of each backend"):
        composer.able(unable)


@pytest.mark.parametrize("backend", gateways.IMPLEMENTATIONS, ids=lambda backend: backend.name)
def test_every_crd_that_a_backend_watches_is_brought_in_the_version_that_it_watches(
    backend: gateways.Implementation,
) -> None:
    brought = backend.bundle()
    served = {
        name: {version["name"] for version in crd["spec"]["versions"] if version["served"]}
        for name, crd in brought.items()
    }
    assert {name: version in served[name] for name, version in backend.definitions.items()} == dict.fromkeys(
        backend.definitions, True
    )


@pytest.mark.parametrize("spec", [None, 7, {}, {"backend": 7}, {"backend": []}, {"backend": "Other"}])
def test_a_spec_that_may_be_anything_asks_for_crds_all_the_same(spec: Any) -> None:
    """Requirements come from the XR alone, before it is parsed."""
    got = inputs.requirements({"metadata": {"name": "default"}, "spec": spec})
    assert [r.match_name for r in got] == [names.SYSTEM_NAMESPACE, *gateways.DEFAULT.definitions]
