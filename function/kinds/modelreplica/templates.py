"""What a replica's templates mean beside their pods: fields that clash with ours, and remarks for their user."""

from __future__ import annotations

from collections.abc import Iterator

from function import podspec
from function.api.modelreplica import Member, Spec
from function.core import MOST_NAMED, InvalidSpec, enumerate_names
from function.kinds.modelreplica import engine, pods
from function.manifests import picker
from function.schema import format_path
from function.vocabulary import conditions as c

Placed = tuple[str, Member]
"""The path of a member in the XR, and the member."""


def check(spec: Spec) -> None:
    """Raise InvalidSpec for a template that clashes with what its pods are given."""
    for path, member in _members(spec) if spec.modelCacheRef else ():
        _check_mounts(path, member)
    for i, one in enumerate(spec.engines):
        for j, member in enumerate(one.members if one.phase == "Decode" else ()):
            _check_names(f"spec.engines[{i}].members[{j}]", member)


def _check_mounts(path: str, member: Member) -> None:
    """Refuse a mount where the weights of the ModelCache are mounted."""
    for index, mount in enumerate(engine.engine_container(member).get("volumeMounts", ())):
        if pods.is_mounted_at(mount, pods.MODELS):
            container = f"{path}.template.spec.containers[{member.engine_index}]"
            problem = f"is {pods.MODELS}, where the weights of spec.modelCacheRef are mounted; choose another path"
            raise InvalidSpec(c.INVALID_REPLICA(field=f"{container}.volumeMounts[{index}].mountPath", problem=problem))


def _check_names(path: str, member: Member) -> None:
    """Refuse a container with the name of the routing sidecar, which is added to pods that decode."""
    for field in ("initContainers", "containers"):
        for index, container in enumerate(member.template["spec"].get(field, ())):
            if container["name"] == picker.SIDECAR:
                problem = (
                    f"is {picker.SIDECAR}, which Modelplane adds to the pods of phase Decode; if it is llm-d's sidecar,"
                    " leave it out, else choose another name"
                )
                raise InvalidSpec(
                    c.INVALID_REPLICA(field=f"{path}.template.spec.{field}[{index}].name", problem=problem)
                )


def remarks(spec: Spec) -> Iterator[str]:
    """Yield what a user should know: containers that are renamed, fields that Kubernetes does not know, and what is not
    counted on shared nodes."""
    named = dict.fromkeys(f"{engine.engine_container(m)['name']}" for _, m in _members(spec))
    renamed = [name for name in named if name != podspec.ENGINE]
    if renamed:
        yield f"container {', '.join(renamed)} runs as {podspec.ENGINE}, which is also the name of its logs"
    unknown = [
        f"{path}.template.{format_path(fault.path)}"
        for path, member in _members(spec)
        for fault in podspec.read(member.template).unknown
    ]
    if unknown:
        yield f"passed on, but not known to Kubernetes {podspec.VERSION}: {enumerate_names(unknown, MOST_NAMED)}"
    sharing = [member for _, member in _members(spec) if member.nodeSharing]
    uncounted = sorted({one for member in sharing for one in podspec.uncounted(member.template["spec"])})
    if uncounted:
        listed = enumerate_names(uncounted, MOST_NAMED)
        yield f"not certain to fit on shared nodes, where these are not counted: {listed}"


def claims(spec: Spec) -> list[str]:
    """Return the PersistentVolumeClaims of the cluster that the pods mount, by name."""
    return sorted({name for _, member in _members(spec) for _, name in podspec.claims(member.template)})


def _members(spec: Spec) -> Iterator[Placed]:
    for i, one in enumerate(spec.engines):
        for j, member in enumerate(one.members):
            yield f"spec.engines[{i}].members[{j}]", member
