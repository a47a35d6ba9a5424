"""Checks of the profiles by which the kernel confines a container: AppArmor, SELinux and seccomp."""

from __future__ import annotations

from collections.abc import Iterator

from function.podspec.security.pod import Place, Pod
from function.podspec.security.violation import Found

_CONFINED = "RuntimeDefault", "Localhost"
"""Types of AppArmor and seccomp profiles that confine a container."""
_APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
"""Prefix of the annotations that set a container's AppArmor profile before Kubernetes 1.30. They are still obeyed."""
_SELINUX_TYPES = "container_t", "container_init_t", "container_kvm_t", "container_engine_t"
_MUST_CONFINE = f"must be {' or '.join(_CONFINED)}"


def apparmor(pod: Pod) -> Iterator[Found]:
    yield from _unconfined(pod, "appArmorProfile")
    annotations = pod.template.at("metadata", "annotations")
    for key, value in sorted(annotations.content.items(), key=str) if annotations else ():
        if isinstance(key, str) and key.startswith(_APPARMOR_ANNOTATION) and not _is_confined(value):
            container = key.removeprefix(_APPARMOR_ANNOTATION)
            yield Found(container, f"metadata.annotations[{key}]", "must be runtime/default or localhost/…")


def _is_confined(annotation: object) -> bool:
    is_text = isinstance(annotation, str)
    return not is_text or annotation in ("", "runtime/default") or str(annotation).startswith("localhost/")


def selinux(pod: Pod) -> Iterator[Found]:
    for security in pod.securities:
        if options := security.at("seLinuxOptions"):
            yield from _changed_selinux(options)


def _changed_selinux(options: Place) -> Iterator[Found]:
    if options.text("type") not in (None, "", *_SELINUX_TYPES):
        yield Found(options.container, options.field("type"), f"must be one of {', '.join(_SELINUX_TYPES)}")
    for field in ("user", "role"):
        if options.text(field):
            yield Found(options.container, options.field(field), "must not be set")


def seccomp(pod: Pod) -> Iterator[Found]:
    yield from _unconfined(pod, "seccompProfile")


def required_seccomp(pod: Pod) -> Iterator[Found]:
    """A profile of the pod is that of each container without one of its own."""
    if pod.is_windows:  # Windows has no seccomp, and the API server refuses it there
        return
    wrong = list(_unconfined(pod, "seccompProfile"))
    yield from wrong
    if pod.security.at("seccompProfile") and not any(found.container == "" for found in wrong):
        return
    for security in pod.securities[1:]:
        if not security.at("seccompProfile"):
            what = f"{_MUST_CONFINE}, on the container or on the pod"
            yield Found(security.container, security.field("seccompProfile", "type"), what)


def _unconfined(pod: Pod, profile: str) -> Iterator[Found]:
    """Yield the profiles that are set to a type that does not confine."""
    for security in pod.securities:
        given = security.at(profile)
        if given and given.text("type") not in _CONFINED:
            yield Found(given.container, given.field("type"), _MUST_CONFINE)
