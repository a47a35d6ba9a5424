"""Any method and any function of anything: most of it ill typed, or found out only by evaluation."""

from __future__ import annotations

from collections.abc import Mapping

_METHODS = (
    *("size", "contains", "startsWith", "endsWith", "matches", "charAt", "indexOf", "lastIndexOf", "lowerAscii"),
    *("upperAscii", "trim", "substring", "replace", "split", "join", "format", "find", "findAll", "isSorted", "sum"),
    *("min", "max", "slice", "flatten", "reverse", "distinct", "sort", "first", "last", "compareTo", "isLessThan"),
    *("isGreaterThan", "add", "sub", "isInteger", "asInteger", "asApproximateFloat", "major", "minor", "patch"),
    *("getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery", "family", "isUnspecified"),
    *(
        "isLoopback",
        "isLinkLocalMulticast",
        "isLinkLocalUnicast",
        "isGlobalUnicast",
        "containsIP",
        "containsCIDR",
        "ip",
    ),
    *("masked", "prefixLength", "validate", "path", "group", "resource", "subresource", "namespace", "name", "check"),
    *("errored", "error", "allowed", "reason", "fieldSelector", "labelSelector"),
    *("value", "hasValue", "or", "orValue", "unwrapOpt", "getFullYear", "getHours", "getSeconds", "getMilliseconds"),
)
_FUNCTIONS = (
    *("size", "type", "dyn", "int", "uint", "double", "string", "bytes", "bool", "duration", "timestamp", "matches"),
    *("quantity", "isQuantity", "semver", "isSemver", "sign", "optional.of", "optional.ofNonZeroValue"),
    *("optional.none", "optional.unwrap", "sets.contains", "sets.equivalent", "sets.intersects", "lists.range"),
    *("url", "isURL", "ip", "isIP", "ip.isCanonical", "cidr", "isCIDR", "format.named", "format.uri", "format.nope"),
    *("strings.quote", "has", "math.greatest", "math.abs", "base64.encode", "cel.bind", "max", "nope"),
)

LEAVES: Mapping[str, tuple[str, ...]] = {"called": ("size([])",)}
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "bool": ("{called} == {any}", "{called} == {called}", "dyn({called}) == dyn({any})"),
    "called": (
        *(f"dyn({{any}}).{method}()" for method in _METHODS),
        *(f"dyn({{any}}).{method}(dyn({{any}}))" for method in _METHODS),
        *(f"{{any}}.{method}({{any}})" for method in _METHODS),
        *(
            f"dyn({{any}}).{method}(dyn({{any}}), dyn({{any}}))"
            for method in ("replace", "slice", "substring", "split")
        ),
        *(f"{function}({{any}})" for function in _FUNCTIONS),
        *(f"{function}(dyn({{any}}))" for function in _FUNCTIONS),
        *(f"{function}(dyn({{any}}), dyn({{any}}))" for function in _FUNCTIONS),
    ),
    "attribute": ("{called}",),
}
