"""Every field of Kubernetes' pod template is classified: what a tenant can do with it, and which test holds that."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from function import podspec
from function.podspec import definitions, reserved, security
from function.podspec.definitions import Type
from function.vocabulary.pod_security import BASELINE, RESTRICTED
from tests.tenancy.attacks.pods import CONTAINERS, SPECS
from tests.tenancy.fleet import template

OWN = "what it names is in the pod, or in its namespace on the cluster"
"""Nothing to refuse."""
COPIED = "a Secret or ConfigMap of the namespace, which is copied"
REFUSED = "refused"
JUDGED = "judged by Pod Security at baseline, the default level of a cluster"
RESTRICTS = "storage of the cluster's network or cloud: only restricted refuses it, as in Kubernetes"
CLUSTERS = "names an object without a namespace, which the platform team made for pods"
PINNED = "the pool and its node selector decide first"

CLASSES: dict[str, dict[str, str]] = {
    "PodSpec": {
        **dict.fromkeys(("hostNetwork", "hostPID", "hostIPC"), JUDGED),
        **dict.fromkeys(("nodeName", "nodeSelector", "schedulerName", "ephemeralContainers"), REFUSED),
        **dict.fromkeys(("priorityClassName", "runtimeClassName"), CLUSTERS),
        **dict.fromkeys(("priority", "preemptionPolicy", "overhead"), CLUSTERS),  # admission sets them by the class
        **dict.fromkeys(("tolerations", "affinity", "topologySpreadConstraints"), PINNED),
        **dict.fromkeys(("containers", "initContainers", "volumes", "securityContext"), OWN),  # tables of their own
        "imagePullSecrets": COPIED,
        **dict.fromkeys(("serviceAccountName", "serviceAccount"), OWN),  # but for those of ours, which are refused
        **dict.fromkeys(
            (
                "activeDeadlineSeconds", "automountServiceAccountToken", "dnsConfig", "dnsPolicy", "enableServiceLinks",
                "hostAliases", "hostUsers", "hostname", "hostnameOverride", "os", "readinessGates", "resourceClaims",
                "resources", "restartPolicy", "schedulingGates", "setHostnameAsFQDN", "shareProcessNamespace",
                "subdomain", "terminationGracePeriodSeconds",
            ),
            OWN,
        ),
    },
    "Container": {
        **dict.fromkeys(("securityContext", "ports", "livenessProbe", "readinessProbe", "startupProbe"), JUDGED),
        "lifecycle": JUDGED,
        **dict.fromkeys(("env", "envFrom"), COPIED),
        "resources": REFUSED,  # devices of device plugins, which the fleet does not count
        **dict.fromkeys(
            (
                "args", "command", "image", "imagePullPolicy", "name", "resizePolicy", "restartPolicy",
                "restartPolicyRules", "stdin", "stdinOnce", "terminationMessagePath", "terminationMessagePolicy", "tty",
                "volumeDevices", "volumeMounts", "workingDir",
            ),
            OWN,
        ),
    },
    "Volume": {
        "hostPath": JUDGED,
        "gitRepo": REFUSED,
        **dict.fromkeys(("configMap", "secret", "projected"), COPIED),
        **dict.fromkeys(("name", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim"), OWN),
        "csi": CLUSTERS,  # drivers that the platform team lets pods use inline
        **dict.fromkeys(
            (
                "awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc", "flexVolume", "flocker",
                "gcePersistentDisk", "glusterfs", "iscsi", "nfs", "photonPersistentDisk", "portworxVolume", "quobyte",
                "rbd", "scaleIO", "storageos", "vsphereVolume",
            ),
            RESTRICTS,
        ),
    },
    "PodSecurityContext": {
        **dict.fromkeys(("appArmorProfile", "seLinuxOptions", "seccompProfile", "sysctls", "windowsOptions"), JUDGED),
        **dict.fromkeys(
            (
                "fsGroup", "fsGroupChangePolicy", "runAsGroup", "runAsNonRoot", "runAsUser", "seLinuxChangePolicy",
                "supplementalGroups", "supplementalGroupsPolicy",
            ),
            OWN,
        ),
    },
    "SecurityContext": {
        **dict.fromkeys(("appArmorProfile", "capabilities", "privileged", "procMount"), JUDGED),
        **dict.fromkeys(("seLinuxOptions", "seccompProfile", "windowsOptions"), JUDGED),
        **dict.fromkeys(
            ("allowPrivilegeEscalation", "readOnlyRootFilesystem", "runAsGroup", "runAsNonRoot", "runAsUser"), OWN
        ),
    },
    "PersistentVolumeClaimSpec": {
        "dataSourceRef": REFUSED,  # its namespace
        **dict.fromkeys(("volumeName", "selector"), CLUSTERS),  # a volume is bound to one claim only
        **dict.fromkeys(("storageClassName", "volumeAttributesClassName"), CLUSTERS),
        **dict.fromkeys(("accessModes", "dataSource", "resources", "volumeMode"), OWN),
    },
}  # fmt: skip


@pytest.mark.parametrize("definition", CLASSES)
def test_every_field_is_classified(definition: str) -> None:
    """A field that a later version of Kubernetes adds is classified before it is passed on."""
    assert set(CLASSES[definition]) == set(definitions.definition(definition).fields)


def test_every_field_that_names_a_namespace_is_refused() -> None:
    types = _types(definitions.TEMPLATE.fields["spec"], set())
    there = {name for type_ in types for name, child in type_.fields.items() if child.kind != "boolean"}

    assert {name for name in there if "namespace" in name.lower()} == reserved.NAMESPACES


def test_every_definition_that_names_another_host_is_known() -> None:
    """The kubelet connects to it from the node: `host` of a probe or hook, which baseline refuses."""
    types = _types(definitions.TEMPLATE, set())

    assert {type_.definition for type_ in types if "host" in type_.fields} == {"HTTPGetAction", "TCPSocketAction"}


def _types(type_: Type, seen: set[str]) -> Iterator[Type]:
    if type_.kind in ("list", "map") and type_.items is not None:
        yield from _types(type_.items, seen)
    elif type_.kind == "object" and type_.definition not in seen:
        seen.add(type_.definition)
        yield type_
        for child in type_.fields.values():
            yield from _types(child, seen)


def _fields(class_: str, definition: str) -> list[str]:
    return [field for field, is_of in CLASSES[definition].items() if is_of == class_]


REFUSED_FIELDS = [("spec", field) for field in _fields(REFUSED, "PodSpec")] + [("containers", "resources")]


@pytest.mark.parametrize(("place", "field"), REFUSED_FIELDS)
def test_what_is_classified_as_refused_is_refused(place: str, field: str) -> None:
    table = SPECS if place == "spec" else CONTAINERS
    tried = [given for given, refused in table.values() if field in given and refused]
    assert tried, f"no attack tries {field}"
    for given in tried:
        made = template(None, **given) if place == "spec" else template(given)
        assert podspec.read(made).faults != ()


@pytest.mark.parametrize("field", [*_fields(JUDGED, "PodSpec"), *_fields(JUDGED, "Container"), "hostPath"])
def test_what_is_classified_as_judged_is_judged(field: str) -> None:
    """By an attack of the table that has the field, or by Kubernetes' own cases (tests/conformance)."""
    tried = [template(None, **given) for given, _ in SPECS.values() if field in str(given)]
    tried += [template(given) for given, _ in CONTAINERS.values() if field in given]
    if field in ("readinessProbe", "startupProbe"):
        tried = [template({field: {"tcpSocket": {"host": "10.0.0.1", "port": 22}}})]

    assert any(security.violations(made, BASELINE) for made in tried)


@pytest.mark.parametrize("field", _fields(RESTRICTS, "Volume"))
def test_storage_of_the_network_needs_a_cluster_that_is_not_restricted(field: str) -> None:
    made = template(None, volumes=[{"name": "v", field: {}}])

    assert "restrictedVolumes" in {violation.check for violation in security.violations(made, RESTRICTED)}
