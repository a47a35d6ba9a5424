"""The pod template of an engine's member: the pod fields that users may set, checked as Kubernetes checks them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from annotated_types import Len, MaxLen
from pydantic import Field

from function import schema
from function.cel.libraries import quantity
from function.schema import Rule


def _one_of(value: Any, *fields: str) -> bool:
    return sum(getattr(value, field) is not None for field in fields) == 1


class SecretKeyRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in the same namespace."""
    key: schema.SecretKey
    """Key of the Secret."""
    optional: schema.Flag | None = None
    """Whether the pod starts if the Secret or the key does not exist."""


class ConfigMapKeyRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a ConfigMap in the same namespace."""
    key: schema.SecretKey
    """Key of the ConfigMap."""
    optional: schema.Flag | None = None
    """Whether the pod starts if the ConfigMap or the key does not exist."""


class FieldRef(schema.Api):
    apiVersion: Literal["v1"] | None = None
    """Version of the pod's schema."""
    fieldPath: schema.FieldPath
    """The field of the pod."""


class ValueFrom(schema.Api):
    RULES = (
        Rule(
            "(has(self.secretKeyRef) ? 1 : 0) + (has(self.configMapKeyRef) ? 1 : 0)"
            " + (has(self.fieldRef) ? 1 : 0) == 1",
            "valueFrom needs exactly one of secretKeyRef, configMapKeyRef and fieldRef",
            lambda source: _one_of(source, "secretKeyRef", "configMapKeyRef", "fieldRef"),
        ),
    )

    secretKeyRef: SecretKeyRef | None = None
    """A key of a Secret. It is copied to the cluster."""
    configMapKeyRef: ConfigMapKeyRef | None = None
    """A key of a ConfigMap. It is copied to the cluster."""
    fieldRef: FieldRef | None = None
    """A field of the pod itself."""


class EnvVar(schema.Api):
    RULES = (
        Rule(
            "!(has(self.value) && has(self.valueFrom))",
            "a variable has a value or a valueFrom, not both",
            lambda var: var.value is None or var.valueFrom is None,
        ),
    )

    name: Annotated[
        str,
        schema.Text(
            253,
            r"^([-_A-Za-z]|\.[-_A-Za-z0-9])[-._A-Za-z0-9]*$",
            "a variable's name: letters, digits, dashes, dots and underscores, no digit first, not . and not starting"
            " with two dots",
        ),
    ]
    """Name of the variable."""
    value: Annotated[str, schema.Text(32768, shortest=0, secret=True)] | None = None
    """Value of the variable. $(NAME) expands to a variable defined before it."""
    valueFrom: ValueFrom | None = None
    """Source of the value, instead of value."""


Amounts = Annotated[
    dict[str, schema.Quantity],
    MaxLen(3),
    schema.Keys(
        17,
        "^(cpu|memory|ephemeral-storage)$",
        "cpu, memory or ephemeral-storage (devices are asked for by nodeSelector.devices)",
    ),
]


def _within_limits(resources: Any) -> bool:
    both = resources.requests.keys() & resources.limits.keys()
    return all(quantity.parse(resources.requests[name]) <= quantity.parse(resources.limits[name]) for name in both)


class Resources(schema.Api):
    RULES = (
        Rule(
            "!has(self.requests) || !has(self.limits) || self.requests.all(name, !(name in self.limits) ||"
            " quantity(string(self.requests[name])).compareTo(quantity(string(self.limits[name]))) <= 0)",
            "a request cannot be more than its limit",
            _within_limits,
            at="requests",
        ),
    )

    requests: Amounts = Field(default_factory=dict)
    """Resources reserved for the pod: cpu, memory, ephemeral-storage."""
    limits: Amounts = Field(default_factory=dict)
    """Most resources that the pod may use: cpu, memory, ephemeral-storage."""


class Header(schema.Api):
    name: Annotated[str, schema.Text(256, r"^[-A-Za-z0-9]+$", "a header's name: letters, digits and dashes")]
    """Name of the header."""
    value: Annotated[str, schema.Text(4096, shortest=0, secret=True)]
    """Value of the header."""


Port = Annotated[int, schema.Whole(1, 65535)]


class HttpGet(schema.Api):
    path: Annotated[str, schema.Text(1024, r"^/\S*$", "an absolute path")] = "/"
    """Path to request."""
    port: Port
    """Port to connect to."""
    scheme: Literal["HTTP", "HTTPS"] | None = None
    """Scheme of the request. By default, HTTP."""
    httpHeaders: Annotated[tuple[Header, ...], MaxLen(16)] = ()
    """Additional headers of the request."""


class TcpSocket(schema.Api):
    port: Port
    """Port that must accept a connection."""


class Grpc(schema.Api):
    port: Port
    """Port of the gRPC health service."""
    service: Annotated[str, schema.Text(253, shortest=0)] | None = None
    """Name of the service to check."""


Arguments = Annotated[
    tuple[Annotated[str, schema.Text(32768, shortest=0, secret=True)], ...],
    MaxLen(256),
]


class Exec(schema.Api):
    command: Annotated[tuple[Annotated[str, schema.Text(32768, shortest=0, secret=True)], ...], Len(1, 64)]
    """A program in the container, and its arguments. It succeeds if it exits with 0."""


Seconds = Annotated[int, schema.Whole(1, 86400)]


class Probe(schema.Api):
    RULES = (
        Rule(
            "(has(self.httpGet) ? 1 : 0) + (has(self.tcpSocket) ? 1 : 0) + (has(self.grpc) ? 1 : 0)"
            " + (has(self.exec) ? 1 : 0) == 1",
            "a probe needs exactly one of httpGet, tcpSocket, grpc and exec",
            lambda probe: _one_of(probe, "httpGet", "tcpSocket", "grpc", "exec"),
        ),
    )

    httpGet: HttpGet | None = None
    """Send an HTTP request. Status 200 to 399 is success."""
    tcpSocket: TcpSocket | None = None
    """Open a TCP connection."""
    grpc: Grpc | None = None
    """Call a gRPC health service."""
    exec: Exec | None = None
    """Run a program in the container."""
    initialDelaySeconds: Annotated[int, schema.Whole(0, 86400)] | None = None
    """Seconds between the container's start and the first probe."""
    timeoutSeconds: Seconds | None = None
    """Seconds after which the probe times out."""
    periodSeconds: Seconds | None = None
    """Seconds between probes."""
    successThreshold: Annotated[int, schema.Whole(1, 1000)] | None = None
    """Successes in a row that count as success after a failure."""
    failureThreshold: Annotated[int, schema.Whole(1, 10000)] | None = None
    """Failures in a row that count as failure."""
    terminationGracePeriodSeconds: Seconds | None = None
    """Seconds for the container to stop after this probe fails."""


_ONCE = "successThreshold must be 1 for startupProbe and livenessProbe"


def _succeeds_once(probe: Probe | None) -> bool:
    return probe is None or probe.successThreshold in (None, 1)


class Container(schema.Api):
    RULES = (
        Rule(
            "(!has(self.startupProbe) || !has(self.startupProbe.successThreshold)"
            " || self.startupProbe.successThreshold == 1)"
            " && (!has(self.livenessProbe) || !has(self.livenessProbe.successThreshold)"
            " || self.livenessProbe.successThreshold == 1)",
            _ONCE,
            lambda container: _succeeds_once(container.startupProbe) and _succeeds_once(container.livenessProbe),
        ),
        Rule(
            "!has(self.readinessProbe) || !has(self.readinessProbe.terminationGracePeriodSeconds)",
            "terminationGracePeriodSeconds is not for a readinessProbe, which ends no container",
            lambda container: (
                container.readinessProbe is None or container.readinessProbe.terminationGracePeriodSeconds is None
            ),
            at="readinessProbe",
        ),
    )

    name: Literal["engine"]
    """Must be engine."""
    image: schema.Image
    """The engine's image."""
    command: Arguments = ()
    """Command that replaces the image's entry point."""
    args: Arguments = ()
    """Arguments of the engine. They are passed on unchanged."""
    env: Annotated[tuple[EnvVar, ...], MaxLen(128), schema.ListMap()] = ()
    """Environment variables, set after those of Modelplane."""
    resources: Resources | None = None
    """Requests and limits for cpu, memory and ephemeral-storage. Devices are requested by nodeSelector.devices."""
    startupProbe: Probe | None = None
    """Replaces the default startup probe, which allows time for the weights to load."""
    readinessProbe: Probe | None = None
    """Replaces the default readiness probe, which decides whether the pod gets traffic."""
    livenessProbe: Probe | None = None
    """Replaces the default liveness probe, which restarts the container."""


class ImagePullSecret(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in the same namespace. It is copied to the cluster."""


class PodSpec(schema.Api):
    RULES = (
        Rule(
            "!has(self.priorityClassName) || !self.priorityClassName.startsWith('system-')",
            "priorityClassName must be a PriorityClass of the cluster's own: those that begin with system- are for what"
            " a cluster cannot live without, and evict everything else",
            lambda pod: not (pod.priorityClassName or "").startswith("system-"),
            at="priorityClassName",
        ),
    )

    containers: Annotated[tuple[Container, ...], Len(1, 1), schema.ListMap()]
    """Exactly one container, named engine."""
    imagePullSecrets: Annotated[tuple[ImagePullSecret, ...], MaxLen(8), schema.ListMap()] = ()
    """Secrets for pulling the image."""
    terminationGracePeriodSeconds: Annotated[int, schema.Whole(0, 86400)] | None = None
    """Seconds for requests to finish when a pod ends. By default, 120."""
    priorityClassName: schema.DnsSubdomain | None = None
    """PriorityClass of the pods on the cluster. Names that begin with system- are Kubernetes' own, and are refused."""
    serviceAccountName: schema.DnsSubdomain | None = None
    """ServiceAccount of the pods on the cluster."""


_MOST_ANNOTATIONS = 248 * 1024
"""Kubernetes accepts 256 KiB (k8s.io/apimachinery v0.36, pkg/api/validation, TotalAnnotationSizeLimitB). The difference
is for annotations of Modelplane, LeaderWorkerSet and the cluster's network."""
_SIZE_OF_ANNOTATIONS = "self.annotations.map(key, bytes(key).size() + bytes(self.annotations[key]).size()).sum()"


def _bytes(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


class PodMetadata(schema.Api):
    RULES = (
        Rule(
            f"!has(self.annotations) || {_SIZE_OF_ANNOTATIONS} <= {_MOST_ANNOTATIONS}",
            f"annotations may have {_MOST_ANNOTATIONS} bytes together, keys and values",
            lambda metadata: (
                sum(_bytes(key) + _bytes(value) for key, value in metadata.annotations.items()) <= _MOST_ANNOTATIONS
            ),
            at="annotations",
        ),
    )

    labels: schema.Labels = Field(default_factory=dict)
    """Labels of the member's pods. Keys under modelplane.ai/ are reserved for Modelplane."""
    annotations: schema.Annotations = Field(default_factory=dict)
    """Annotations of the member's pods. Keys under modelplane.ai/ are reserved for Modelplane."""


MOST_TEXT = 320 * 1024
"""Limit for one template. A gang has two in one object, and an Object of provider-kubernetes contains that twice,
desired and observed. etcd accepts 1.5 MiB (etcd v3.6, server/embed, DefaultMaxRequestBytes)."""
_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


def _texts(container: Container) -> Iterator[str]:
    """Yield the texts of a container that may be long."""
    yield from (*container.command, *container.args)
    yield from (variable.value or "" for variable in container.env)
    for probe in (container.startupProbe, container.readinessProbe, container.livenessProbe):
        yield from probe.exec.command if probe and probe.exec else ()
        yield from (header.value for header in probe.httpGet.httpHeaders) if probe and probe.httpGet else ()


def _is_small(template: Template) -> bool:
    annotations = template.metadata.annotations.values() if template.metadata else ()
    texts = (*annotations, *(text for container in template.spec.containers for text in _texts(container)))
    return sum(map(len, texts)) <= MOST_TEXT


def _sum(path: str, of: str = "size(text)") -> str:
    """Return CEL for the total length of a list's texts. The list and its parents may be absent."""
    fields = path.split(".")
    there = " && ".join(f"has({'.'.join(fields[:count])})" for count in range(2, len(fields) + 1))
    return f"({there} ? {path}.map(text, {of}).sum() : 0)"


_SIZE_OF_CONTAINER = " + ".join(
    (
        _sum("c.command"),
        _sum("c.args"),
        _sum("c.env", "has(text.value) ? size(text.value) : 0"),
        *(_sum(f"c.{probe}.exec.command") for probe in _PROBES),
        *(_sum(f"c.{probe}.httpGet.httpHeaders", "size(text.value)") for probe in _PROBES),
    )
)


class Template(schema.Api):
    RULES = (
        Rule(
            f"{_sum('self.metadata.annotations', 'size(self.metadata.annotations[text])')}"
            f" + self.spec.containers.map(c, {_SIZE_OF_CONTAINER}).sum() <= {MOST_TEXT}",
            "command, args, values of env, probes and annotations may have"
            f" {MOST_TEXT} characters together; mount what is longer from a file of the image",
            _is_small,
        ),
    )

    metadata: PodMetadata | None = None
    """Labels and annotations of the member's pods."""
    spec: PodSpec
    """Spec of the member's pods."""
