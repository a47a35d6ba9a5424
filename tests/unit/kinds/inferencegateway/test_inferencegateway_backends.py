"""What stands between us and the program that serves the gateway."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from function import gateways
from function.api import inferencegateway
from function.core import InvalidSpec, Request
from function.kinds.inferencegateway import compose, composer, inputs
from function.manifests import definitions


def test_a_backend_that_lacks_something_is_refused_and_told_what() -> None:
    unable = replace(gateways.TRAEFIK, lacks=("rewrite the path of each backend",))
    with pytest.raises(InvalidSpec, match=r"spec\.backend: Traefik cannot rewrite the path of each backend"):
        composer.able(unable)


@pytest.mark.parametrize("backend", gateways.BACKENDS.values(), ids=lambda backend: backend.name)
def test_every_crd_that_a_backend_watches_is_brought_in_the_version_that_it_watches(backend: gateways.Backend) -> None:
    brought = definitions.bundle(gateways.__name__)
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
    assert [r.match_name for r in got] == list(gateways.TRAEFIK.definitions)


@pytest.mark.xfail(strict=True, reason="spec.traefik.version is read for every backend")
def test_the_version_of_traefiks_chart_is_not_another_backends() -> None:
    another = replace(gateways.TRAEFIK, name="Another")
    spec = inferencegateway.Spec.model_validate({"backend": "Traefik", "traefik": {"version": "1.2.3"}})
    found = {name: ({"metadata": {"name": name}},) for name in another.definitions}
    request = Request(
        {"metadata": {"name": "default"}, "spec": {}},
        required={inputs.definition_key(name): crds for name, crds in found.items()},
    )

    release = next(p.manifest for p in compose.parts(request, spec, another) if p.key == compose.RELEASE)

    assert release["spec"]["forProvider"]["chart"]["version"] == another.chart.version
