"""Model weights, staged once on every cluster that serves from them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from function import schema
from function.api.proxy import Proxy
from function.api.weights import SOURCES, Block, ClusterSelector, SourceName
from function.core import Manifest
from function.schema import Rule
from function.vocabulary import conditions as c
from function.vocabulary import versions

API_VERSION = versions.MODELPLANE
KIND = "ModelCache"
PLURAL = "modelcaches"
SHORT_NAMES = ("mc",)
SCOPE = "Namespaced"
AUDIENCE = schema.Audience.TEAM
RUNS_IN_NAMESPACE = True
COLUMNS = (
    schema.Column("SOURCE", "string", ".spec.source"),
    schema.Column("STAGED", "string", ".status.summary.ready"),
    schema.Column("REPO", "string", ".spec.huggingFace.repo", wide=True),
)


@schema.union("source", SOURCES)
class Spec(schema.Api):
    RULES = (
        Rule(
            "self.source != 'PersistentVolumeClaim' || !has(self.proxy)",
            "proxy is only for a source that is downloaded",
            lambda spec: spec.source != "PersistentVolumeClaim" or spec.proxy is None,
            at="proxy",
        ),
    )

    source: SourceName = Field(description="Where the weights come from.")
    proxy: Proxy | None = None
    """Proxies and certificates for the Job that downloads the weights."""
    clusterSelector: ClusterSelector | None = None
    """The clusters on which to stage the weights. By default, all of them."""

    @property
    def block(self) -> Block:
        """The block of the source."""
        found: Block = getattr(self, schema.field_of(self.source))
        return found


class Summary(schema.Api):
    ready: str
    """Number of clusters that have the weights, of those that match, such as 2/3."""


Phase = Literal["Pending", "Hydrating", "Ready", "Failed"]


class ClusterStatus(schema.Api):
    name: str
    """Name of the InferenceCluster."""
    phase: Phase
    """Progress of staging on the cluster."""
    message: str | None = None
    """What staging waits for, or why it failed."""
    claimName: str | None = None
    """The claim that engines mount, if it is not the cache's own."""
    staged: str | None = None
    """The directory of the claim that engines mount. The name of a directory that was staged begins with its revision
    or its folder, which may differ from the spec's. If omitted beside a claimName, engines mount its root."""
    repo: str | None = None
    """The repository of the staged weights. Engines serve the model under its name."""
    servedModelName: str | None = None
    """The name that the source gives to the model, if the weights are of no repository."""


class Status(schema.Status):
    summary: Summary | None = None
    """Progress over all clusters."""
    clusters: tuple[ClusterStatus, ...] = ()
    """Progress on each cluster."""


def parse(xr: Manifest) -> Spec:
    """Return the spec of an XR. Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_CACHE)
