"""The charts of Traefik, and of MetalLB, which gives it an address where nothing else does.

Read from each project's Chart.yaml and values.yaml at the version given.
"""

from __future__ import annotations

from function.vocabulary.charts import Chart

TRAEFIK = Chart(name="traefik", repository="oci://ghcr.io/traefik/helm", version="41.3.0", namespace="traefik-system")
METALLB = Chart(
    name="metallb", repository="https://metallb.github.io/metallb", version="0.16.1", namespace="metallb-system"
)
