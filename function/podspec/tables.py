"""What Kubernetes validates of single fields beyond their types, as tables over its schema.

The keys are a definition and a field of `schema.json`; a test fails for a key that the schema does not have. Where a
field is a list, a table is about its items. Source of all values: k8s.io/kubernetes v1.34, pkg/apis/core/types.go and
pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from function.vocabulary import patterns

Field = tuple[str, str]
"""A definition, and one of its fields."""

_PROFILES = ("RuntimeDefault", "Unconfined", "Localhost")
_SELECTS = ("In", "NotIn", "Exists", "DoesNotExist")
_HONOR = ("Honor", "Ignore")

ONE_OF: Mapping[Field, tuple[str, ...]] = {
    ("AppArmorProfile", "type"): _PROFILES,
    ("AzureDiskVolumeSource", "cachingMode"): ("None", "ReadOnly", "ReadWrite"),
    ("AzureDiskVolumeSource", "kind"): ("Shared", "Dedicated", "Managed"),
    ("Container", "imagePullPolicy"): ("Always", "IfNotPresent", "Never"),
    ("Container", "restartPolicy"): ("Always", "OnFailure", "Never"),
    ("Container", "terminationMessagePolicy"): ("File", "FallbackToLogsOnError"),
    ("ContainerPort", "protocol"): ("TCP", "UDP", "SCTP"),
    ("ContainerResizePolicy", "resourceName"): ("cpu", "memory"),
    ("ContainerResizePolicy", "restartPolicy"): ("NotRequired", "RestartContainer"),
    ("ContainerRestartRule", "action"): ("Restart",),
    ("ContainerRestartRuleOnExitCodes", "operator"): ("In", "NotIn"),
    ("HTTPGetAction", "scheme"): ("HTTP", "HTTPS"),
    ("HostPathVolumeSource", "type"): (
        "", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice",
    ),
    ("ImageVolumeSource", "pullPolicy"): ("Always", "IfNotPresent", "Never"),
    ("LabelSelectorRequirement", "operator"): _SELECTS,
    ("NodeSelectorRequirement", "operator"): (*_SELECTS, "Gt", "Lt"),
    ("PersistentVolumeClaimSpec", "accessModes"): (
        "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod",
    ),
    ("PersistentVolumeClaimSpec", "volumeMode"): ("Block", "Filesystem"),
    ("PodOS", "name"): ("linux",),
    ("PodSecurityContext", "fsGroupChangePolicy"): ("OnRootMismatch", "Always"),
    ("PodSecurityContext", "seLinuxChangePolicy"): ("MountOption", "Recursive"),
    ("PodSecurityContext", "supplementalGroupsPolicy"): ("Merge", "Strict"),
    ("PodSpec", "dnsPolicy"): ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    ("PodSpec", "preemptionPolicy"): ("PreemptLowerPriority", "Never"),
    ("PodSpec", "restartPolicy"): ("Always",),
    ("SeccompProfile", "type"): _PROFILES,
    ("SecurityContext", "procMount"): ("Default", "Unmasked"),
    ("Toleration", "effect"): ("NoSchedule", "PreferNoSchedule", "NoExecute"),
    ("Toleration", "operator"): ("Equal", "Exists"),
    ("TopologySpreadConstraint", "nodeAffinityPolicy"): _HONOR,
    ("TopologySpreadConstraint", "nodeTaintsPolicy"): _HONOR,
    ("TopologySpreadConstraint", "whenUnsatisfiable"): ("DoNotSchedule", "ScheduleAnyway"),
    ("VolumeMount", "mountPropagation"): ("None", "HostToContainer", "Bidirectional"),
    ("VolumeMount", "recursiveReadOnly"): ("Disabled", "IfPossible", "Enabled"),
}  # fmt: skip
"""The values that a field may have. A template's pods restart always, since their owner is a Deployment or a gang, and
engines run on Linux."""

_MOST = 2**31 - 1
_PORT = (1, 65535)
_AT_LEAST_ZERO = (0, _MOST)
_AT_LEAST_ONE = (1, _MOST)
_MODE = (0, 0o777)
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
    ("PodSecurityContext", "fsGroup"): _AT_LEAST_ZERO,
    ("PodSecurityContext", "runAsGroup"): _AT_LEAST_ZERO,
    ("PodSecurityContext", "runAsUser"): _AT_LEAST_ZERO,
    ("PodSecurityContext", "supplementalGroups"): _AT_LEAST_ZERO,
    ("PodSpec", "terminationGracePeriodSeconds"): _AT_LEAST_ZERO,
    ("PreferredSchedulingTerm", "weight"): _WEIGHT,
    ("Probe", "failureThreshold"): _AT_LEAST_ZERO,
    ("Probe", "initialDelaySeconds"): _AT_LEAST_ZERO,
    ("Probe", "periodSeconds"): _AT_LEAST_ZERO,
    ("Probe", "successThreshold"): _AT_LEAST_ZERO,
    ("Probe", "terminationGracePeriodSeconds"): _AT_LEAST_ONE,
    ("Probe", "timeoutSeconds"): _AT_LEAST_ZERO,
    ("ProjectedVolumeSource", "defaultMode"): _MODE,
    ("SecretVolumeSource", "defaultMode"): _MODE,
    ("SecurityContext", "runAsGroup"): _AT_LEAST_ZERO,
    ("SecurityContext", "runAsUser"): _AT_LEAST_ZERO,
    ("ServiceAccountTokenProjection", "expirationSeconds"): (600, 2**32),
    ("SleepAction", "seconds"): _AT_LEAST_ZERO,
    ("TCPSocketAction", "port"): _PORT,
    ("TopologySpreadConstraint", "maxSkew"): _AT_LEAST_ONE,
    ("TopologySpreadConstraint", "minDomains"): _AT_LEAST_ONE,
    ("WeightedPodAffinityTerm", "weight"): _WEIGHT,
}
"""The least and the largest number that a field may have. A zero in a probe stands for the default."""


class Form(NamedTuple):
    """The form of a text."""

    longest: int
    pattern: str
    meaning: str

    @property
    def words(self) -> str:
        """What is accepted, in words."""
        return f"{self.meaning} (1 to {self.longest} characters)"


_LABEL = Form(63, patterns.LABEL, patterns.LABEL_WORDS)
_SUBDOMAIN = Form(253, patterns.SUBDOMAIN, patterns.SUBDOMAIN_WORDS)
_KEY = Form(
    patterns.LONGEST_KEY,
    rf"(?=[^/]{{1,{patterns.LONGEST_DOMAIN}}}(/|$)){patterns.KEY}",
    patterns.KEY_WORDS,
)
LABEL_VALUE = Form(63, patterns.LABEL_VALUE, patterns.LABEL_VALUE_WORDS)
_FILE_KEY = Form(253, patterns.FILE_KEY, patterns.FILE_KEY_WORDS)
_VARIABLE = Form(4096, patterns.VARIABLE, patterns.VARIABLE_WORDS)
PORT_NAME = Form(
    15,
    "^(?!.*--)(?=.*[a-z])[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    "a port's name: lower-case letters, digits and single dashes, at least one letter, a letter or digit at both ends",
)
_SYSCTL = Form(
    253,
    r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$",
    "a sysctl's name, such as net.core.somaxconn",
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
    ("CSIVolumeSource", "driver"): Form(
        63,
        r"^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*$",
        "a driver's DNS name",
    ),
    ("ConfigMapEnvSource", "name"): _SUBDOMAIN,
    ("ConfigMapKeySelector", "key"): _FILE_KEY,
    ("ConfigMapKeySelector", "name"): _SUBDOMAIN,
    ("ConfigMapProjection", "name"): _SUBDOMAIN,
    ("ConfigMapVolumeSource", "name"): _SUBDOMAIN,
    ("Container", "image"): _IMAGE,
    ("Container", "name"): _LABEL,
    ("ContainerPort", "name"): PORT_NAME,
    ("EmptyDirVolumeSource", "medium"): Form(
        64, "^(Memory|HugePages(-[0-9]+[KMG]i)?)$", "Memory, HugePages, or HugePages-SIZE such as HugePages-2Mi"
    ),
    ("EnvFromSource", "prefix"): _VARIABLE,
    ("EnvVar", "name"): _VARIABLE,
    ("FileKeySelector", "key"): _VARIABLE,
    ("FileKeySelector", "volumeName"): _LABEL,
    ("HTTPHeader", "name"): Form(4096, r"^[-A-Za-z0-9]+$", "a header's name: letters, digits and dashes"),
    ("HostAlias", "hostnames"): _SUBDOMAIN,
    ("KeyToPath", "key"): _FILE_KEY,
    ("LabelSelectorRequirement", "key"): _KEY,
    ("LabelSelectorRequirement", "values"): LABEL_VALUE,
    ("Lifecycle", "stopSignal"): Form(16, r"^SIG[A-Z0-9]+([-+][0-9]+)?$", "a signal, such as SIGTERM"),
    ("LocalObjectReference", "name"): _SUBDOMAIN,
    ("NodeSelectorRequirement", "key"): _KEY,
    ("PersistentVolumeClaimSpec", "storageClassName"): Form(
        253, rf"^({patterns.DOMAIN})?$", f"empty, or {patterns.SUBDOMAIN_WORDS}"
    ),
    ("PersistentVolumeClaimVolumeSource", "claimName"): _SUBDOMAIN,
    ("PodAffinityTerm", "namespaces"): _LABEL,
    ("PodAffinityTerm", "topologyKey"): _KEY,
    ("PodDNSConfigOption", "name"): Form(253, ".+", "an option of resolv.conf"),
    ("PodReadinessGate", "conditionType"): _KEY,
    ("PodResourceClaim", "name"): _LABEL,
    ("PodResourceClaim", "resourceClaimName"): _SUBDOMAIN,
    ("PodResourceClaim", "resourceClaimTemplateName"): _SUBDOMAIN,
    ("PodSchedulingGate", "name"): _KEY,
    ("PodSpec", "hostname"): _LABEL,
    ("PodSpec", "hostnameOverride"): _SUBDOMAIN._replace(longest=64),
    ("PodSpec", "priorityClassName"): _SUBDOMAIN,
    ("PodSpec", "runtimeClassName"): _SUBDOMAIN,
    ("PodSpec", "serviceAccount"): _SUBDOMAIN,
    ("PodSpec", "serviceAccountName"): _SUBDOMAIN,
    ("PodSpec", "subdomain"): _LABEL,
    ("ResourceClaim", "request"): _LABEL,
    ("SecretEnvSource", "name"): _SUBDOMAIN,
    ("SecretKeySelector", "key"): _FILE_KEY,
    ("SecretKeySelector", "name"): _SUBDOMAIN,
    ("SecretProjection", "name"): _SUBDOMAIN,
    ("SecretVolumeSource", "secretName"): _SUBDOMAIN,
    ("Sysctl", "name"): _SYSCTL,
    ("Toleration", "key"): _KEY,
    ("Toleration", "value"): LABEL_VALUE,
    ("Volume", "name"): _LABEL,
}
"""The form that a text must have."""

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "ConfigMapEnvSource": ("name",),
    "ConfigMapKeySelector": ("name",),
    "ConfigMapProjection": ("name",),
    "ConfigMapVolumeSource": ("name",),
    "Container": ("image",),
    "ContainerRestartRule": ("exitCodes",),
    "EphemeralVolumeSource": ("volumeClaimTemplate",),
    "ExecAction": ("command",),
    "LocalObjectReference": ("name",),
    "PersistentVolumeClaimSpec": ("accessModes", "resources"),
    "PodDNSConfigOption": ("name",),
    "PodTemplateSpec": ("spec",),
    "SecretEnvSource": ("name",),
    "SecretKeySelector": ("name",),
    "SecretProjection": ("name",),
    "SecretVolumeSource": ("secretName",),
}
"""Fields that the schema calls optional, and that Kubernetes' validation, or ours, requires. A required list cannot be
empty."""

EMPTY_MEANS: frozenset[Field] = frozenset({
    ("AppArmorProfile", "localhostProfile"),
    ("AzureDiskVolumeSource", "cachingMode"),
    ("AzureDiskVolumeSource", "kind"),
    ("ClusterTrustBundleProjection", "name"),
    ("ClusterTrustBundleProjection", "signerName"),
    ("Container", "restartPolicy"),
    ("EnvVar", "value"),
    ("HTTPHeader", "value"),
    ("HostPathVolumeSource", "type"),
    ("PersistentVolumeClaimSpec", "storageClassName"),
    ("PersistentVolumeClaimSpec", "volumeAttributesClassName"),
    ("PersistentVolumeClaimSpec", "volumeMode"),
    ("PodDNSConfigOption", "value"),
    ("PodResourceClaim", "resourceClaimName"),
    ("PodResourceClaim", "resourceClaimTemplateName"),
    ("PodSecurityContext", "fsGroupChangePolicy"),
    ("PodSecurityContext", "seLinuxChangePolicy"),
    ("PodSecurityContext", "supplementalGroupsPolicy"),
    ("PodSpec", "hostnameOverride"),
    ("PodSpec", "preemptionPolicy"),
    ("PodSpec", "runtimeClassName"),
    ("SeccompProfile", "localhostProfile"),
    ("SecurityContext", "procMount"),
    ("Sysctl", "value"),
    ("TopologySpreadConstraint", "nodeAffinityPolicy"),
    ("TopologySpreadConstraint", "nodeTaintsPolicy"),
    ("VolumeMount", "mountPropagation"),
    ("VolumeMount", "recursiveReadOnly"),
})  # fmt: skip
"""Fields whose empty text is a value, or is passed on as one. Elsewhere an empty text stands for a field that is not
set: Kubernetes drops it if the field is optional, and misses it if the field is required."""

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
USUAL = ("emptyDir", "configMap", "secret", "persistentVolumeClaim", "projected", "hostPath", "nfs", "csi")
"""Sources of volumes that a message names, of the thirty that there are."""
HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")
"""The fields of a probe of which exactly one must be set."""
MAY_REPEAT: frozenset[Field] = frozenset(
    {("Container", "ports"), ("PodSpec", "hostAliases"), ("PodSpec", "imagePullSecrets")}
)
"""Lists whose items may have the keys of another, although the schema says that keys identify them."""

TOLD: frozenset[Field] = frozenset({*ONE_OF, *BETWEEN, *FORMS})
"""The fields that a table is about."""


def accepted(field: Field) -> str:
    """Return what a table accepts in a field that is in TOLD, in words."""
    if field in ONE_OF:
        listed = ", ".join(filter(None, ONE_OF[field]))
        return f"one of {listed}" if "," in listed else listed
    if field in BETWEEN:
        least, most = BETWEEN[field]
        octal = f", which is {most:04o} in octal" if (least, most) == _MODE else ""
        return f"a whole number from {least} to {most}{octal}"
    return FORMS[field].words
