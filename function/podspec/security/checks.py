"""All checks, and the level of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from function.podspec.security import host, privileges, profiles, sysctls, users, volumes
from function.podspec.security.pod import Pod
from function.podspec.security.violation import Found, Violation
from function.vocabulary.pod_security import BASELINE, PRIVILEGED, RESTRICTED, Level


@dataclass(frozen=True, slots=True)
class Check:
    """A check of Kubernetes' policy library."""

    id: str
    """Its ID there."""
    level: Level
    """The least strict level that has it: baseline or restricted."""
    find: Callable[[Pod], Iterator[Found]]
    overrides: str = ""
    """The ID of the check of baseline that restricted leaves out in its favour."""

    def violations(self, pod: Pod) -> Iterator[Violation]:
        for found in self.find(pod):
            yield Violation(self.level, self.id, found.container, found.field, found.what)


CHECKS = (
    Check("appArmorProfile", BASELINE, profiles.apparmor),
    Check("capabilities_baseline", BASELINE, privileges.added_capabilities),
    Check("hostNamespaces", BASELINE, host.namespaces),
    Check("hostPathVolumes", BASELINE, host.path_volumes),
    Check("hostPorts", BASELINE, host.ports),
    Check("hostProbesAndHostLifecycle", BASELINE, host.probes_and_handlers),
    Check("privileged", BASELINE, privileges.privileged),
    Check("procMount", BASELINE, privileges.masked_proc),
    Check("seLinuxOptions", BASELINE, profiles.selinux),
    Check("seccompProfile_baseline", BASELINE, profiles.seccomp),
    Check("sysctls", BASELINE, sysctls.unsafe),
    Check("windowsHostProcess", BASELINE, host.processes),
    Check("allowPrivilegeEscalation", RESTRICTED, privileges.escalation),
    Check(
        "capabilities_restricted",
        RESTRICTED,
        privileges.restricted_capabilities,
        overrides="capabilities_baseline",
    ),
    Check("procMount_restricted", RESTRICTED, privileges.always_masked_proc, overrides="procMount"),
    Check("restrictedVolumes", RESTRICTED, volumes.types, overrides="hostPathVolumes"),
    Check("runAsNonRoot", RESTRICTED, users.non_root),
    Check("runAsUser", RESTRICTED, users.root_user),
    Check("seccompProfile_restricted", RESTRICTED, profiles.required_seccomp, overrides="seccompProfile_baseline"),
)
"""In the order in which Kubernetes reports them: those of baseline, then those of restricted, each by ID."""


def _of(level: Level) -> tuple[Check, ...]:
    if level == PRIVILEGED:
        return ()
    if level == BASELINE:
        return tuple(check for check in CHECKS if check.level == BASELINE)
    overridden = {check.overrides for check in CHECKS}
    return tuple(check for check in CHECKS if check.id not in overridden)


BY_LEVEL: dict[Level, tuple[Check, ...]] = {level: _of(level) for level in (PRIVILEGED, BASELINE, RESTRICTED)}
"""The checks that a pod must pass to be admitted, by level."""
