"""Endpoints at addresses that only the control cluster reaches, and requests that leave their path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.core import Manifest
from tests.tenancy.attack import HARMLESS, attacks
from tests.tenancy.fleet import VICTIM, endpoint, service

_URL = "spec.url"
REFUSED_HOSTS: dict[str, tuple[str, ...]] = {
    "metadata": (
        "169.254.169.254",
        "169.254.170.2",
        "2852039166",
        "0xa9fea9fe",
        "0xa9.0xfe.0xa9.0xfe",
        "0251.0376.0251.0376",
        "169.254.43518",
        "169.16689662",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[::a9fe:a9fe]",
        "[::ffff:0:a9fe:a9fe]",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b:1::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "[fe80::a9fe:a9fe]",
        "[fe80::1%25eth0]",
        "[fd00:ec2::254]",
        "[fd20:ce::254]",
        "100.100.100.200",
        "168.63.129.16",
        "metadata",
        "metadata.google.internal",
        "METADATA.google.INTERNAL",
        "metadata.google.internal.",
        "metadata.goog",
        "instance-data.ec2.internal",
    ),
    "itself": (
        "localhost",
        "LOCALHOST",
        "localhost.",
        "x.localhost",
        "localhost.localdomain",
        "ip6-loopback",
        "127.0.0.1",
        "127.1",
        "0",
        "0.0.0.0",
        "2130706433",
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:7f00:1]",
        "255.255.255.255",
        "224.0.0.1",
        "[ff02::1]",
    ),
    "the control cluster": (
        "kubernetes.default",
        "kubernetes.default.svc",
        "Kubernetes.Default.Svc.Cluster.Local",
        f"chat.{VICTIM}.svc",
        f"chat.{VICTIM}.svc.cluster.local",
        f"chat.{VICTIM}.svc.cluster.local.",
        f"10-0-0-1.{VICTIM}.pod.cluster.local",
        "traefik.traefik-system.svc",
    ),
    "another host than it seems": (
        "api.example.org@169.254.169.254",
        "api.example.org:443@169.254.169.254",
        "169.254.169.254#.example.org",
        "169.254.169.254?.example.org",
        "169.254.169.254\\.example.org",
        "api.example.org\r\nHost: x",
        "api.example.org%0d%0a",
        "api.example.org\x00",
        "169。254。169。254",
        "①69.254.169.254",
        "ⓜetadata.google.internal",
        "",
        "*.example.org",
        "api.example.org:0",
        "api.example.org:65536",
    ),
}
_PATHS = (
    "/v1/..", "/v1/../admin", "/./v1", "//v1", "/v1/%2e%2e/admin", "/v1/..%2fadmin", "/v1/%2Fadmin", "/v1/\\..\\x",
    "/v1\r\nX: y", "/v1?key=1", "/v1#x", "/v1/ x", "/v1/%", "/v1/%zz",
)  # fmt: skip
_FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "a key over the Host header": ({"header": "Host"}, "spec.auth.header"),
    "a key over the length": ({"header": "content-LENGTH"}, "spec.auth.header"),
    "two headers in one": ({"header": "x\r\ny"}, "spec.auth.header"),
    "a pseudo header": ({"header": ":path"}, "spec.auth.header"),
    "a header of the proxy's own": ({"header": "x-envoy-retry-on"}, HARMLESS),
    "two headers in the scheme": ({"scheme": "Bearer x\r\nHost: y"}, "spec.auth.scheme"),
}


def _made() -> Iterator[tuple[str, tuple[Manifest | list[Manifest], str]]]:
    for group, hosts in REFUSED_HOSTS.items():
        for number, host in enumerate(hosts):
            name = f"host-{group.replace(' ', '-')}-{number}"
            yield f"{group}: {host!r}", (endpoint(name, url=f"http://{host}/v1"), _URL)
    for number, path in enumerate(_PATHS):
        yield f"path {path!r}", (endpoint(f"path-{number}", url=f"https://api.example.org{path}"), _URL)
        for field in ("basePath", "rewritePath"):
            made = endpoint(f"{field.lower()}-{number}", **{field: path})
            yield f"{field} {path!r}", (made, f"spec.{field}")
    for number, (what, (auth, refused)) in enumerate(_FIELDS.items()):
        made = endpoint(f"auth-{number}", auth={"secretRef": {"name": "key"}, **auth})
        yield what, (made, refused)
    for number, name in enumerate(("a&b", "a=b", "a\r\nb", "a#")):
        yield f"query {name!r}", (endpoint(f"query-{number}", query={name: "x"}), "spec.query")
    yield "a model with quotes", (endpoint("model", model='x"}\r\n'), "spec.model")
    for number, host in enumerate((f"chat.{VICTIM}", "169.254.169.254.nip.io", "api.example.org")):
        name = f"resolved-{number}"
        made = [endpoint(name, url=f"http://{host}/v1"), service(name)]
        yield f"a name whose addresses are checked: {host}", (made, HARMLESS)


ATTACKS = attacks("endpoints", dict(_made()))
