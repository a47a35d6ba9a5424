"""What the function refuses although the API server accepts it. The function's own checks are called, one by one.

Whether a cloud can make a node pool depends on its InferenceClass. A pool whose class is not among the objects is
judged without it: the class may be on the control cluster already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from function import clouds
from function.api import (
    inferenceclass,
    inferencecluster,
    inferencegateway,
    modeldeployment,
    modelendpoint,
    modelreplica,
    servingstack,
    tenancy,
)
from function.core import InvalidSpec, Manifest, identity
from function.kinds.inferencecluster import composer as clusters
from function.kinds.inferencecluster import pools
from function.kinds.inferencecluster.inputs import Classes
from function.kinds.modelendpoint import composer as endpoints
from function.kinds.modelendpoint import target
from function.kinds.modelreplica import composer as replicas
from function.kinds.modelreplica import engine, templates
from function.kinds.servingstack import gateway, owner
from function.publish.catalog import BY_KIND
from function.schema import Path
from function.validation import engines
from function.validation.finding import Finding

_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")

Refusal = tuple[str, str]
"""A field, and its problem."""


def classes_of(manifests: Iterable[Manifest]) -> Classes:
    """Return the InferenceClasses among some objects. Of two with one name, the first counts."""
    ours = (inferenceclass.API_VERSION, inferenceclass.KIND)
    found = [m for m in manifests if (m["apiVersion"], m["kind"]) == ours]
    return Classes({identity(class_).name: (class_,) for class_ in reversed(found)})


def findings(index: int, manifest: Manifest, classes: Classes) -> Iterator[Finding]:
    """Report what the function would refuse of an object whose fields are valid.

    Args:
        index: Index of the object.
        manifest: The object.
        classes: The InferenceClasses that its node pools may name.
    """
    for field, problem in dict.fromkeys(_refusals(manifest, classes)):
        yield Finding(index, _path(field), problem, "refused")


def _refusals(manifest: Manifest, classes: Classes) -> Iterator[Refusal]:
    yield from _namespace(manifest)
    try:
        if manifest["kind"] == inferencecluster.KIND:
            yield from _cluster(manifest, classes)
        elif check := _CHECKS.get(manifest["kind"]):
            yield from check(manifest)
    except InvalidSpec as why:
        yield _refusal(why)


def _namespace(manifest: Manifest) -> Iterator[Refusal]:
    """Check the namespace. An object without one goes to the user's current namespace. Endpoints are checked below."""
    namespace, kind = identity(manifest).namespace, BY_KIND[manifest["apiVersion"], manifest["kind"]]
    if kind.runs_in_namespace and kind.kind != modelendpoint.KIND and tenancy.is_reserved(namespace):
        yield tenancy.FIELD, tenancy.refusal(namespace)


def _refusal(why: InvalidSpec) -> Refusal:
    facts = why.condition.facts
    return str(facts["field"]), str(facts["problem"])


def _path(field: str) -> Path:
    """Parse a path as `format_path` writes it, for fields without special characters."""
    return tuple(int(at) if at else name for at, name in _STEP.findall(field))


def _cluster(manifest: Manifest, classes: Classes) -> Iterator[Refusal]:
    spec = inferencecluster.parse(manifest)
    source = clouds.BY_NAME[spec.cluster.source]
    yield from clusters.cluster_faults(spec, source)
    for fault in pools.faults(spec, source, pools.Known(classes=classes)):
        yield fault.field, fault.problem
    stack = spec.servingStack or servingstack.Stack()
    if not servingstack.is_empty(stack):
        yield from _stack(stack, spec.cluster.source, identity(manifest).name)


def _stack(stack: servingstack.Stack, source: str, cluster: str) -> Iterator[Refusal]:
    """Check the ServingStack that a cluster composes."""
    composed = {"clusterName": cluster, "providerConfigRef": {"name": cluster}, "source": source}
    try:
        gateway.check(servingstack.Spec.model_validate({**stack.model_dump(exclude_none=True), **composed}))
    except InvalidSpec as why:
        field, problem = _refusal(why)
        yield field.replace("spec.", "spec.servingStack.", 1), problem


def _deployment(manifest: Manifest) -> Iterator[Refusal]:
    """Check the replicas that a deployment creates."""
    return _engines(engines.as_replica(manifest))


def _replica(manifest: Manifest) -> Iterator[Refusal]:
    replicas.check_owner(manifest)
    return _engines(manifest)


def _engines(manifest: Manifest) -> Iterator[Refusal]:
    spec = modelreplica.parse(manifest)
    engine.plans(identity(manifest), spec)
    templates.check(spec)
    return iter(())


def _own_stack(manifest: Manifest) -> Iterator[Refusal]:
    owner.check(manifest)
    owner.check_access(manifest, servingstack.parse(manifest))
    return iter(())


def _endpoint(manifest: Manifest) -> Iterator[Refusal]:
    spec = modelendpoint.parse(manifest)
    endpoints.check_namespace(manifest, spec)
    target.parse(spec)
    return iter(())


def _gateway(manifest: Manifest) -> Iterator[Refusal]:
    inferencegateway.parse(manifest)
    return iter(())


_CHECKS: Mapping[str, Callable[[Manifest], Iterator[Refusal]]] = {
    modeldeployment.KIND: _deployment,
    modelreplica.KIND: _replica,
    modelendpoint.KIND: _endpoint,
    inferencegateway.KIND: _gateway,
    servingstack.KIND: _own_stack,
}
