"""Model weights, staged once on every cluster that serves from them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from function import schema
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
    schema.Column("REPO", "string", ".spec.huggingFace.repo"),
    schema.Column("STAGED", "string", ".status.summary.ready"),
)

_PART = "[A-Za-z0-9_]([-A-Za-z0-9_.]{0,94}[A-Za-z0-9_])?"


class AuthSecret(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in the same namespace."""
    key: schema.SecretKey = "HF_TOKEN"
    """Key of the Secret that holds the token."""


class HuggingFace(schema.Api):
    RULES = (
        Rule(
            "!self.repo.contains('--') && !self.repo.contains('..')",
            "repo cannot have two dashes or two dots in a row",
            lambda source: "--" not in source.repo and ".." not in source.repo,
            at="repo",
        ),
        Rule(
            "!has(self.revision) || !self.revision.contains('..')",
            "revision cannot have two dots in a row",
            lambda source: ".." not in source.revision,
            at="revision",
        ),
    )

    repo: Annotated[str, schema.Text(193, f"^{_PART}/{_PART}$", "a repository of the hub, such as Qwen/Qwen3-8B")]
    """The repository on the hub."""
    revision: Annotated[
        str, schema.Text(250, r"^[A-Za-z0-9_]([-A-Za-z0-9_./]*[A-Za-z0-9_])?$", "a branch, a tag or a commit")
    ] = "main"
    """Branch, tag or commit. It is resolved to a commit when the weights are staged."""
    authSecret: AuthSecret | None = None
    """The token, for a repository that requires one."""
    sizeGiB: Annotated[int, schema.Whole(1, 100000)]
    """Size of the volume for the weights on each cluster, in GiB. Volumes never shrink."""


class ClusterSelector(schema.Api):
    matchLabels: schema.Selector = Field(default_factory=dict)
    """Labels that an InferenceCluster must have."""


class Spec(schema.Api):
    RULES = (
        Rule(
            "self.source != 'HuggingFace' || has(self.huggingFace)",
            "source HuggingFace needs huggingFace",
            lambda spec: spec.huggingFace is not None,
            at="huggingFace",
        ),
    )

    source: Literal["HuggingFace"]
    """Where the weights come from."""
    huggingFace: HuggingFace | None = None
    """Weights of the Hugging Face hub."""
    clusterSelector: ClusterSelector | None = None
    """The clusters on which to stage the weights. By default, all of them."""


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
    staged: str | None = None
    """The staged directory of the claim. Its name begins with its revision, which may differ from the spec's."""
    repo: str | None = None
    """The repository of the staged weights. Engines serve the model under its name."""


class Status(schema.Api):
    summary: Summary | None = None
    """Progress over all clusters."""
    clusters: tuple[ClusterStatus, ...] = ()
    """Progress on each cluster."""


def parse(xr: Manifest) -> Spec:
    """Return the spec of an XR. Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_CACHE)
