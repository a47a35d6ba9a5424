"""DRA drivers on EKS: EFA devices have a build of dranet of their own."""

from __future__ import annotations

from collections.abc import Mapping

from function.contracts.cloud.source import DriverChart
from function.vocabulary import charts, drivers

# aws/eks-charts, stable/aws-dranet: it brings DeviceClass efa.networking.k8s.aws, runs only on types with EFA, and
# tolerates no taint of GPU nodes by itself
_EFA = DriverChart(chart=charts.AWS_DRANET, values={"tolerations": [{"operator": "Exists"}]})
CHARTS: Mapping[str, DriverChart | None] = {drivers.NETWORK: _EFA}
