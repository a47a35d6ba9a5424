"""Says what is wrong with a call of kubectl: its command, the kinds it names, and the fields and labels of ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from function.publish import xrd
from function.publish.catalog import KINDS, Kind
from function.vocabulary import conditions, labels


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COMMANDS = words(
    "annotate api-resources api-versions apply auth autoscale certificate cluster-info config cordon cp create "
    "debug delete describe diff drain edit events exec explain expose get kustomize label logs patch port-forward "
    "proxy replace rollout run scale set taint top uncordon version wait "
)
_OF_KINDS = words("get describe delete patch edit label annotate scale wait explain")
_WITH_VALUE = words(
    "-n --namespace -o --output -l --selector -f --filename -k --context --kubeconfig --type -p --patch --for "
    "--timeout -c --container --field-selector --sort-by --as --as-group --subresource --replicas --server -s "
    "--cascade --raw --tail --since --patch-file --chunk-size --user --cluster --token -L --label-columns "
    "--grace-period "
)
FOREIGN = words(
    # Kubernetes
    "all apiservice clusterrole clusterrolebinding configmap crd customresourcedefinition cm daemonset deploy "
    "deployment deviceclass ds endpointslice event hpa horizontalpodautoscaler job lease namespace networkpolicy "
    "node no ns pdb persistentvolume persistentvolumeclaim po pod poddisruptionbudget priorityclass pv pvc "
    "replicaset resourceclaim resourceclaimtemplate resourceslice role rolebinding sa secret service "
    "serviceaccount statefulset storageclass sts svc validatingadmissionpolicy validatingadmissionpolicybinding "
    "validatingwebhookconfiguration volumesnapshot "
    # Crossplane and its providers
    "clusterproviderconfig composite compositeresourcedefinition composition compositionrevision configuration "
    "configurationrevision deploymentruntimeconfig function functionrevision imageconfig lock managed "
    "managedresourceactivationpolicy managedresourcedefinition mrap mrd object pkg provider providerconfig "
    "providerconfigusage clusterusage providerrevision release usage xrd "
    # Of others
    "backendtlspolicy backendtrafficpolicy clusterpolicy envoyproxy gateway gatewayclass grpcroute httproute "
    "inferencepool ipaddresspool l2advertisement leaderworkerset lws podmonitor prometheusrule scaledobject "
    "servicemonitor securitypolicy "
)
"""Kinds of others, in the singular, that our pages name."""
_OURS: Mapping[str, Kind] = {
    name: kind for kind in KINDS for name in (kind.plural, kind.kind.lower(), *kind.short_names)
}
_CATEGORIES = {category for kind in KINDS for category in xrd.definition(kind)["spec"]["names"].get("categories", ())}
_LABELS = {value for value in vars(labels).values() if isinstance(value, str)}
_TYPES = {"Ready", "Synced"} | {one.type for one in vars(conditions).values() if hasattr(one, "type")}
_CROSSPLANES = {"conditions", "crossplane"}
"""Fields of an XR that Crossplane adds."""


def problem(arguments: list[str]) -> str:
    command, *rest = [*_operands(arguments), ""]
    if command not in _COMMANDS:
        return f"kubectl has no command {command}"
    named = rest[0] if command in _OF_KINDS else ""
    kinds = (
        []
        if named.isupper() or named.startswith(("…", "$"))
        else [part.partition("/")[0] for part in named.split(",") if part]
    )
    unknown = [kind for kind in kinds if not _is_known(kind.partition(".")[0])]
    ours = [_OURS[kind] for kind in kinds if kind in _OURS]
    return "; ".join([*(f"is {kind} a kind? Add it to FOREIGN" for kind in unknown), *_details(arguments, ours)])


def _operands(arguments: list[str]) -> Iterator[str]:
    """Yield the arguments that are no options, and no values of options."""
    before = ""
    for argument in arguments:
        if not argument.startswith("-") and before not in _WITH_VALUE:
            yield argument
        before = argument


def _is_known(kind: str) -> bool:
    name = kind.lower()
    singular = {name, name.removesuffix("s"), name.removesuffix("es"), re.sub("ies$", "y", name)}
    return name in _OURS or name in _CATEGORIES or not FOREIGN.isdisjoint(singular) or kind.isupper()


def _details(arguments: Iterable[str], ours: list[Kind]) -> Iterator[str]:
    text = " ".join(arguments)
    types = re.findall(r'@\.type=="(\w+)"', text) if ours else ()
    yield from (f"no condition has the type {one}" for one in types if one not in _TYPES)
    own = re.findall(r"(?<![\w/.-])modelplane\.ai/[\w-]+(?==)", text)
    yield from (f"there is no label {one}" for one in own if one not in _LABELS)
    if len(ours) == 1:
        paths = re.findall(r"\.((?:spec|status)(?:\.\w+|\[[^\]]*\])*)", text)
        yield from (f"{ours[0].kind} has no field {path}" for path in paths if not _has(xrd.schema(ours[0]), path))


def _has(schema: Mapping[str, Any], path: str) -> bool:
    for name in re.sub(r"\[[^\]]*\]", "", path).split("."):
        schema = schema.get("items", schema)
        if name in _CROSSPLANES or "additionalProperties" in schema or "x-kubernetes-preserve-unknown-fields" in schema:
            return True
        if name not in schema.get("properties", {}):
            return False
        schema = schema["properties"][name]
    return True
