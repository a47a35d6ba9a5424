"""A toy gateway, which takes few backends and needs one CRD."""

from __future__ import annotations

from function import schema
from function.contracts.gateway import Implementation, Setup
from function.manifests import control
from function.manifests.parts import Part
from function.vocabulary.charts import Chart

_CHART = Chart(name="toy", repository="https://toy.example.org/charts", version="0.1.0", namespace="toy-system")


class Toy(schema.Api):
    """How Toy is set up."""

    replicas: int = 1
    """Pods of it."""


def _parts(setup: Setup) -> tuple[Part, ...]:
    toy: Toy = setup.block or Toy()
    values = {"replicas": toy.replicas, "https": setup.has_tls}
    return (Part(key="toy-release", manifest=control.release(_CHART, values)),)


IMPLEMENTATION = Implementation(
    name="Toy",
    block=Toy,
    controller="example.org/toy",
    http_port=8080,
    https_port=8443,
    most_backends=2,
    definitions={"gateways.gateway.networking.k8s.io": "v1"},
    package="function.gateways.traefik",  # a toy brings no CRDs of its own
    charts=(_CHART,),
    parts=_parts,
    program="toy-release",
)
