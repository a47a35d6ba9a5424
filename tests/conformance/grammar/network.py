"""URLs, addresses, blocks of addresses, named formats; and requests for an authorization, which nobody can make."""

from __future__ import annotations

from collections.abc import Mapping

from function.cel.libraries.format import FORMATS
from tests.conformance.grammar.spellings import (
    ADDRESSES,
    BLOCKS,
    NAMES,
    RIGHT_ADDRESSES,
    RIGHT_BLOCKS,
    RIGHT_URLS,
    URLS,
)

_PARTS = ("getScheme", "getHost", "getHostname", "getPort", "getEscapedPath")
_KINDS = ("isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast")
_OF_TWO = ("ip", "cidr", "url", "named")
_VALIDATED = "{named}.validate({spelled})"

LEAVES: Mapping[str, tuple[str, ...]] = {
    "urltext": URLS,
    "iptext": ADDRESSES,
    "cidrtext": BLOCKS,
    "spelled": (*NAMES, *NAMES, *URLS),
    "url": tuple(f"url({text})" for text in RIGHT_URLS),
    "ip": tuple(f"ip({text})" for text in RIGHT_ADDRESSES),
    "cidr": tuple(f"cidr({text})" for text in RIGHT_BLOCKS),
    "named": tuple(f"format.{name}()" for name in FORMATS),
    "formatname": (*(f'"{name}"' for name in FORMATS), '"DNS1123Label"', '""', '"email"', "device.driver"),
    "authorized": ('dyn("a").path("/").check("get")', 'dyn(1).check("get")'),
    "type": ("net.IP", "net.CIDR", ".net.IP"),
    "query": ("url('/?a=1&b=2&a=%20').getQuery()", "url('/').getQuery()"),
}
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "bool": (
        *("isURL({urltext})", "isIP({iptext})", "isCIDR({cidrtext})", "ip.isCanonical({iptext})") * 2,
        *(f"{function}({{{sort}}})" for function in ("isURL", "isIP", "isCIDR") for sort in ("string", "attribute")),
        *(f"{{ip}}.{kind}()" for kind in _KINDS),
        *(f"ip({{iptext}}).{kind}()" for kind in _KINDS),
        *(f"{{{sort}}} {operator} {{{sort}}}" for sort in _OF_TWO for operator in ("==", "!=", "<")),
        *(
            f"dyn({{{sort}}}) {operator} {{{other}}}"
            for sort in _OF_TWO
            for operator in ("==", "!=")
            for other in ("any", sort)
        ),
        *(f"{{any}} == dyn({{{sort}}})" for sort in _OF_TWO),
        *(f"[{{{sort}}}, {{{sort}}}] == [{{{sort}}}, {{{sort}}}]" for sort in _OF_TWO),
        *(f"{{{sort}}} in [{{{sort}}}, {{{sort}}}]" for sort in _OF_TWO),
        *(f"dyn({{{sort}}}) in [{{string}}]" for sort in _OF_TWO),
        "{ip} in {{ip}: {any}}",
        "{cidr} in {{cidr}: {any}, {cidr}: {any}}",
        "dyn({url}) in {{any}: {any}}",
        "dyn({named}) in {{any}: {any}}",
        *(f"optional.of({{{sort}}}) == optional.of({{{sort}}})" for sort in _OF_TWO),
        *(f"cel.bind(b, {{{sort}}}, {{bool@b}})" for sort in _OF_TWO),
        *(f"[{{{sort}}}].all(b, {{bool@b}})" for sort in _OF_TWO),
        *(f"type({{{sort}}}) == {{type}}" for sort in _OF_TWO),
        *(f"cel.bind(o, optional.of({{{sort}}}), o.value() == {{{sort}}})" for sort in _OF_TWO),
        "{cidr}.containsIP({ip})",
        "{cidr}.containsIP({iptext})",
        "{cidr}.containsIP({attribute})",
        "{cidr}.containsCIDR({cidr})",
        "{cidr}.containsCIDR({cidrtext})",
        "{cidr}.containsCIDR({any})",
        "url({urltext}) == url({urltext})",
        "url({urltext}) == {url}",
        "url({urltext}).getQuery() == {query}",
        "ip({iptext}) == {ip}",
        "cidr({cidrtext}) == {cidr}",
        f"{_VALIDATED}.hasValue()",
        f"{_VALIDATED} == {_VALIDATED}",
        f"{_VALIDATED}.orValue([]) == {{strings}}",
        f"{_VALIDATED}.optMap(v, {{bool@v}}).orValue({{bool}})",
        "{named}.validate({any}).hasValue()",
        "format.named({formatname}).hasValue()",
        "format.named({formatname}).optMap(f, f == {named}).orValue({bool})",
        "{authorized}.allowed()",
        "{authorized}.errored()",
        "{authorized} == {any}",
    ),
    "int": (
        "{ip}.family()",
        "ip({iptext}).family()",
        "{cidr}.prefixLength()",
        "cidr({cidrtext}).prefixLength()",
        *(f"url({{urltext}}).{part}().size()" for part in _PARTS),
        "{query}.size()",
        "url({urltext}).getQuery().size()",
        "{query}[{string}].size()",
        f"{_VALIDATED}.value().size()",
        f"{_VALIDATED}.value()[0].size()",
        f"{_VALIDATED}.value().join({{string}}).size()",
        f"{_VALIDATED}.value().map(f, f.size()).sum()",
        "{named}.validate({spelled}).orValue([]).join().indexOf({string})",
    ),
    "string": (
        *(f"{{url}}.{part}()" for part in _PARTS),
        *(f"url({{urltext}}).{part}()" for part in _PARTS),
        "string({ip})",
        "string(ip({iptext}))",
        "string({cidr})",
        "string(cidr({cidrtext}).masked())",
        "string({url})",
        "string(dyn({named}))",
        "{query}[{string}][0]",
        "{query}.a[0]",
        f"{_VALIDATED}.value()[0]",
        "{authorized}.reason()",
        "{authorized}.error()",
        "{urltext}",
        "{iptext}",
        "{cidrtext}",
        "{spelled}",
    ),
    "url": ("url({string})", "url({urltext})", "({bool} ? {url} : {url})", "optional.of({url}).value()"),
    "ip": ("ip({string})", "ip({iptext})", "{cidr}.ip()", "({bool} ? {ip} : {ip})", "[{ip}][0]"),
    "cidr": ("cidr({string})", "cidr({cidrtext})", "{cidr}.masked()", "({bool} ? {cidr} : {cidr})"),
    "named": ("format.named({formatname}).value()", "({bool} ? {named} : {named})"),
    "query": ("url({urltext}).getQuery()", "{url}.getQuery()"),
    "strings": (
        "{query}[{string}]",
        f"{_VALIDATED}.value()",
        f"{_VALIDATED}.orValue({{strings}})",
        "{query}.map(k, k)",
    ),
    "authorized": (
        'dyn({any}).path({string}).check("get")',
        "dyn({any}).group({string}).resource({string}).namespace({string}).name({string}).check({string})",
        "dyn({any}).serviceAccount({string}, {string}).path({string}).check({string})",
        "dyn({any}).fieldSelector({string}).labelSelector({string}).subresource({string})",
        "null.check({string})",
    ),
    "attribute": ("dyn({url})", "dyn({ip})", "dyn({cidr})", "dyn({named})", "dyn({query})", "dyn({authorized})"),
    "map": ("{query}",),
}
