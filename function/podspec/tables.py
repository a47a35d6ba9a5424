"""What Kubernetes validates of single fields beyond their types, as tables over its schema.

The keys are a definition and a field of `schema.json`; a test fails for a key that the schema does not have. Source of
all values: k8s.io/kubernetes v1.34, pkg/apis/core/types.go and pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from function.vocabulary import patterns

Field = tuple[str, str]
"""A definition, and one of its fields."""

_SUCCESS = ("RuntimeDefault", "Unconfined", "Localhost")
_SELECTS = ("In", "NotIn", "Exists", "DoesNotExist")
_HONOR = ("Honor", "Ignore")

ONE_OF: Mapping[Field, tuple[str, ...]] = {
    ("AppArmorProfile", "type"): _SUCCESS,
    ("Container", "imagePullPolicy"): ("Always", "IfNotPresent", "Never"),
    ("Container", "terminationMessagePolicy"): ("File", "FallbackToLogsOnError"),
    ("ContainerPort", "protocol"): ("TCP", "UDP", "SCTP"),
    ("ContainerResizePolicy", "restartPolicy"): ("NotRequired", "RestartContainer"),
    ("HTTPGetAction", "scheme"): ("HTTP", "HTTPS"),
    ("HostPathVolumeSource", "type"): (
        "", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice",
    ),
    ("ImageVolumeSource", "pullPolicy"): ("Always", "IfNotPresent", "Never"),
    ("LabelSelectorRequirement", "operator"): _SELECTS,
    ("NodeSelectorRequirement", "operator"): (*_SELECTS, "Gt", "Lt"),
    ("PodSecurityContext", "fsGroupChangePolicy"): ("OnRootMismatch", "Always"),
    ("PodSecurityContext", "supplementalGroupsPolicy"): ("Merge", "Strict"),
    ("PodSpec", "dnsPolicy"): ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    ("PodSpec", "preemptionPolicy"): ("PreemptLowerPriority", "Never"),
    ("PodSpec", "restartPolicy"): ("Always",),
    ("SeccompProfile", "type"): _SUCCESS,
    ("SecurityContext", "procMount"): ("Default", "Unmasked"),
    ("Toleration", "effect"): ("", "NoSchedule", "PreferNoSchedule", "NoExecute"),
    ("Toleration", "operator"): ("", "Equal", "Exists"),
    ("TopologySpreadConstraint", "nodeAffinityPolicy"): _HONOR,
    ("TopologySpreadConstraint", "nodeTaintsPolicy"): _HONOR,
    ("TopologySpreadConstraint", "whenUnsatisfiable"): ("DoNotSchedule", "ScheduleAnyway"),
    ("VolumeMount", "mountPropagation"): ("None", "HostToContainer", "Bidirectional"),
    ("VolumeMount", "recursiveReadOnly"): ("Disabled", "IfPossible", "Enabled"),
}  # fmt: skip
"""The values that a field may have. A template's pods restart always: their owner is a Deployment or a gang."""

_PORT = (1, 65535)
_SECONDS = (0, 2**31 - 1)
_AT_LEAST_ONE = (1, 2**31 - 1)
_MODE = (0, 0o777)
_IDENTITY = (0, 2**31 - 1)
_WEIGHT = (1, 100)

BETWEEN: Mapping[Field, tuple[int, int]] = {
    ("ConfigMapVolumeSource", "defaultMode"): _MODE,
    ("ContainerPort", "containerPort"): _PORT,
    ("ContainerPort", "hostPort"): (0, 65535),
    ("DownwardAPIVolumeFile", "mode"): _MODE,
    ("DownwardAPIVolumeSource", "defaultMode"): _MODE,
    ("GRPCAction", "port"): _PORT,
    ("HTTPGetAction", "port"): _PORT,
    ("KeyToPath", "mode"): _MODE,
    ("PodSecurityContext", "fsGroup"): _IDENTITY,
    ("PodSecurityContext", "runAsGroup"): _IDENTITY,
    ("PodSecurityContext", "runAsUser"): _IDENTITY,
    ("PodSpec", "terminationGracePeriodSeconds"): _SECONDS,
    ("PreferredSchedulingTerm", "weight"): _WEIGHT,
    ("Probe", "failureThreshold"): _AT_LEAST_ONE,
    ("Probe", "initialDelaySeconds"): _SECONDS,
    ("Probe", "periodSeconds"): _AT_LEAST_ONE,
    ("Probe", "successThreshold"): _AT_LEAST_ONE,
    ("Probe", "terminationGracePeriodSeconds"): _AT_LEAST_ONE,
    ("Probe", "timeoutSeconds"): _AT_LEAST_ONE,
    ("ProjectedVolumeSource", "defaultMode"): _MODE,
    ("SecretVolumeSource", "defaultMode"): _MODE,
    ("SecurityContext", "runAsGroup"): _IDENTITY,
    ("SecurityContext", "runAsUser"): _IDENTITY,
    ("ServiceAccountTokenProjection", "expirationSeconds"): (600, 2**32),
    ("SleepAction", "seconds"): _SECONDS,
    ("TCPSocketAction", "port"): _PORT,
    ("TopologySpreadConstraint", "maxSkew"): _AT_LEAST_ONE,
    ("TopologySpreadConstraint", "minDomains"): _AT_LEAST_ONE,
    ("WeightedPodAffinityTerm", "weight"): _WEIGHT,
}
"""The least and the largest number that a field may have."""


class Form(NamedTuple):
    """The form of a text."""

    longest: int
    pattern: str
    words: str


_LABEL = Form(63, patterns.LABEL, "a DNS label: lower-case letters, digits and dashes")
_SUBDOMAIN = Form(253, patterns.SUBDOMAIN, "a DNS name: lower-case letters, digits, dashes and dots")
_KEY = Form(patterns.LONGEST_KEY, patterns.KEY, patterns.KEY_WORDS)
_FILE_KEY = Form(253, patterns.FILE_KEY, patterns.FILE_KEY_WORDS)
PORT_NAME = Form(
    15,
    r"^([a-z0-9]+-)*[a-z0-9]*[a-z][a-z0-9]*(-[a-z0-9]+)*$|^[0-9]+(-[a-z0-9]+)*-[a-z0-9]*[a-z][a-z0-9]*(-[a-z0-9]+)*$",
    "a port's name: up to 15 lower-case letters, digits and dashes, with a letter",
)
_HOST_PART = "([a-zA-Z0-9]|[a-zA-Z0-9][-a-zA-Z0-9]*[a-zA-Z0-9])"
_REGISTRY = rf"({_HOST_PART}(\.{_HOST_PART})*|\[[a-fA-F0-9:]+\])(:[0-9]+)?"
_PATH_PART = "[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*"
_TAG = "[A-Za-z0-9_][-A-Za-z0-9_.]{0,127}"
_DIGEST = "[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_IMAGE = Form(
    1024,
    rf"^({_REGISTRY}/)?{_PATH_PART}(/{_PATH_PART})*(:{_TAG})?(@{_DIGEST})?$",
    "an image reference, such as registry.example.org/team/engine:v1, with its path in lower case",
)
"""An image reference as kubelets parse it (distribution/reference v0.6, regexp.go). Others are never pulled
(InvalidImageName)."""

FORMS: Mapping[Field, Form] = {
    ("ConfigMapEnvSource", "name"): _SUBDOMAIN,
    ("ConfigMapKeySelector", "key"): _FILE_KEY,
    ("ConfigMapKeySelector", "name"): _SUBDOMAIN,
    ("ConfigMapProjection", "name"): _SUBDOMAIN,
    ("ConfigMapVolumeSource", "name"): _SUBDOMAIN,
    ("Container", "image"): _IMAGE,
    ("Container", "name"): _LABEL,
    ("ContainerPort", "name"): PORT_NAME,
    ("EnvVar", "name"): Form(4096, patterns.VARIABLE, patterns.VARIABLE_WORDS),
    ("HTTPHeader", "name"): Form(256, r"^[-A-Za-z0-9]+$", "a header's name: letters, digits and dashes"),
    ("KeyToPath", "key"): _FILE_KEY,
    ("LocalObjectReference", "name"): _SUBDOMAIN,
    ("PersistentVolumeClaimVolumeSource", "claimName"): _SUBDOMAIN,
    ("PodAffinityTerm", "topologyKey"): _KEY,
    ("PodResourceClaim", "name"): _LABEL,
    ("PodResourceClaim", "resourceClaimName"): _SUBDOMAIN,
    ("PodResourceClaim", "resourceClaimTemplateName"): _SUBDOMAIN,
    ("PodSchedulingGate", "name"): _KEY,
    ("PodSpec", "hostname"): _LABEL,
    ("PodSpec", "priorityClassName"): _SUBDOMAIN,
    ("PodSpec", "runtimeClassName"): _SUBDOMAIN,
    ("PodSpec", "serviceAccountName"): _SUBDOMAIN,
    ("PodSpec", "subdomain"): _LABEL,
    ("SecretEnvSource", "name"): _SUBDOMAIN,
    ("SecretKeySelector", "key"): _FILE_KEY,
    ("SecretKeySelector", "name"): _SUBDOMAIN,
    ("SecretProjection", "name"): _SUBDOMAIN,
    ("SecretVolumeSource", "secretName"): _SUBDOMAIN,
    ("TopologySpreadConstraint", "topologyKey"): _KEY,
    ("Volume", "name"): _LABEL,
}
"""The form that a text must have."""

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "ConfigMapEnvSource": ("name",),
    "ConfigMapKeySelector": ("name",),
    "ConfigMapProjection": ("name",),
    "ConfigMapVolumeSource": ("name",),
    "Container": ("image",),
    "LocalObjectReference": ("name",),
    "PodTemplateSpec": ("spec",),
    "SecretEnvSource": ("name",),
    "SecretKeySelector": ("name",),
    "SecretProjection": ("name",),
    "SecretVolumeSource": ("secretName",),
}
"""Fields that the schema calls optional, and that Kubernetes' validation, or ours, requires."""

EXACTLY_ONE: Mapping[str, tuple[str, ...]] = {
    "EnvFromSource": ("prefix",),
    "EnvVarSource": (),
    "LifecycleHandler": (),
    "PodResourceClaim": ("name",),
    "Volume": ("name",),
    "VolumeProjection": (),
}
"""Definitions of which exactly one field must be set, besides those that are listed. A volume without a source is an
emptyDir to the API server; written out, it says what it means."""
HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")
"""The fields of a probe of which exactly one must be set."""
