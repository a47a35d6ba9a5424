"""The sources from which a ModelCache gets weights. Each is a model here and a line in the table below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from annotated_types import Len, MaxLen
from pydantic import Field

from function import schema
from function.schema import Member, Rule

_PART = "[A-Za-z0-9_]([-A-Za-z0-9_.]{0,94}[A-Za-z0-9_])?"
_IN_NAMES = r"[^\x00-\x1f\x7f\\$/]"
"""A character of a file's name. Kubernetes would replace $(NAME) in an argument by a variable, which may be secret."""
_CLIMBS = "!('/' + self + '/').contains('/./') && !('/' + self + '/').contains('/../')"


def _stays_inside(path: str) -> bool:
    return not {".", ".."} & set(path.split("/"))


Pattern = Annotated[
    str,
    schema.Text(
        256,
        f"^{_IN_NAMES}+(/{_IN_NAMES}+)*/?$",
        "a pattern of paths such as *-Q4_K_M.gguf or tokenizer/*, without a slash at its start, a backslash or $",
    ),
]
Patterns = Annotated[tuple[Pattern, ...], MaxLen(32)]
Folder = Annotated[
    str,
    schema.Text(
        512,
        f"^{_IN_NAMES}+(/{_IN_NAMES}+)*/?$",
        "a relative path without empty, . or .. parts, a backslash or $",
        cel=_CLIMBS,
        holds=_stays_inside,
    ),
]
ServedName = Annotated[
    str,
    schema.Text(253, r"^[A-Za-z0-9_]([-A-Za-z0-9_./:]*[A-Za-z0-9_])?$", "a model's name, such as Qwen/Qwen3-8B"),
]


class AuthSecret(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in the same namespace."""
    key: schema.SecretKey = "HF_TOKEN"
    """Key of the Secret that holds the token."""


class HuggingFace(schema.Api):
    """Weights of the Hugging Face hub."""

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
    include: Patterns = ()
    """Patterns of the files to stage, as of `hf download --include`. By default, the files that engines load."""
    exclude: Patterns = ()
    """Patterns of files to leave out."""
    endpoint: schema.Endpoint | None = None
    """A mirror of the hub. By default, the one that the operator set, or the hub itself."""
    authSecret: AuthSecret | None = None
    """The token, for a repository that requires one."""
    sizeGiB: Annotated[int, schema.Whole(1, 100000)]
    """Size of the volume for the weights on each cluster, in GiB. Volumes never shrink."""


class KeysSecret(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in the same namespace. Its keys are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and for
    temporary credentials AWS_SESSION_TOKEN."""


class S3(schema.Api):
    """Weights in a bucket of S3, or of a store with the same API."""

    bucket: Annotated[
        str, schema.Text(255, r"^[A-Za-z0-9]([-A-Za-z0-9._]*[A-Za-z0-9])?$", "the name of a bucket", shortest=3)
    ]
    """Name of the bucket."""
    prefix: Folder | None = None
    """The folder of the bucket whose objects are staged, such as models/qwen3-8b. By default, the whole bucket."""
    endpoint: schema.Endpoint | None = None
    """URL of the store, such as https://minio.example.org. By default, that of AWS in the region."""
    region: (
        Annotated[str, schema.Text(63, r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a region, such as us-east-1")] | None
    ) = None
    """Region of the bucket. By default us-east-1, which most other stores accept."""
    include: Patterns = ()
    """Patterns of the objects to stage, relative to the prefix. By default, all of them."""
    exclude: Patterns = ()
    """Patterns of objects to leave out."""
    authSecret: KeysSecret | None = None
    """The access key. If omitted, requests are anonymous: the credentials of a node are never used."""
    servedModelName: ServedName | None = None
    """Name under which engines serve the model. If omitted, none is given to them."""
    sizeGiB: Annotated[int, schema.Whole(1, 100000)]
    """Size of the volume for the weights on each cluster, in GiB. Volumes never shrink."""


class ClusterSelector(schema.Api):
    matchLabels: schema.Selector = Field(default_factory=dict)
    """Labels that an InferenceCluster must have."""


class Claim(schema.Api):
    clusterSelector: ClusterSelector | None = None
    """The clusters that have this claim. By default, all of them."""
    claimName: schema.DnsSubdomain
    """Name of a PersistentVolumeClaim on the cluster, in the namespace of the ModelCache. It must exist."""
    subPath: Folder | None = None
    """The directory of the volume with the weights. By default, its root."""


class PersistentVolumeClaim(schema.Api):
    """Weights that are on the clusters already. Nothing is staged."""

    claims: Annotated[tuple[Claim, ...], Len(1, 64)]
    """The claims. The first whose selector matches a cluster is its claim."""
    servedModelName: ServedName | None = None
    """Name under which engines serve the model. If omitted, none is given to them."""


SOURCES = (
    Member("HuggingFace", HuggingFace),
    Member("S3", S3),
    Member("PersistentVolumeClaim", PersistentVolumeClaim),
)
"""The table of sources, in the order in which the API lists them."""

if TYPE_CHECKING:
    SourceName: TypeAlias = str
else:
    SourceName = Literal[tuple(source.choice for source in SOURCES)]

Staged: TypeAlias = HuggingFace | S3
"""Sources that a Job stages."""
Block: TypeAlias = Staged | PersistentVolumeClaim
