"""Values that have the form of what is asked for and are none of it: the model and the definition refuse the same."""

from __future__ import annotations

import pytest

from function.publish.catalog import BY_KIND
from function.schema import problems
from tests.support.admission import is_admitted
from tests.support.platform_cases import DEVICE
from tests.support.samples import CLASS, CLUSTER, DEPLOYMENT, ENDPOINT, GATEWAY, STACK, Object, edited

SOURCES = "spec.gateway.allowedSources"
POOL = "spec.traefik.metallb.addressPool"
SECRET = "spec.auth.secretRef.key"
LABELS = "spec.clusterSelector.matchLabels"
LONG = ".".join(["a" * 63] * 4)  # 255 characters

GOOD: dict[str, tuple[Object, str, tuple[object, ...]]] = {
    "networks": (STACK, SOURCES, (["0.0.0.0/0", "10.0.0.0/8", "192.0.2.1/32"], ["::/0", "2001:db8::/32", "::1/128"])),
    "pools of addresses": (
        GATEWAY,
        POOL,
        (
            "192.0.2.0/28",
            "192.0.2.10-192.0.2.20",
            "192.0.2.10-192.0.2.10",
            "9.255.255.255-10.0.0.0",
            "0.0.0.0-255.255.255.255",
            "2001:db8::/64",
            "2001:db8::1-2001:db8::ffff",
            "2001:db8::9-2001:0db8::10",
            "2001:db8::-2001:db8::",
        ),
    ),
    "charts' versions": (STACK, "spec.components.certManager.version", ("1.2.3", "v1.2.3-rc.1+build.01", "0.0.0")),
    "Kubernetes' versions": (
        CLUSTER,
        "spec.cluster.eks.kubernetesVersion",
        ("1.36", "v1.36.2", "1.34.1-gke.3899001", "v1.36.2+k3s1"),
    ),
    "host names": (GATEWAY, "spec.tls.hostname", ("models.example.com", "localhost", "a1.xn--p1ai", "1.2.example.com")),
    "keys of Secrets": (ENDPOINT, SECRET, ("a", "tls.crt", ".dockerconfigjson", "a..b", "-", "_")),
    "keys of labels": (DEPLOYMENT, LABELS, ({f"{LONG[:253]}/a": "x"}, {"a" * 63: "x"})),
    "strings of 64 bytes": (CLASS, f"{DEVICE}.attributes", ({"a": {"string": "a" * 64}}, {"a": {"string": "ä" * 32}})),
    "keys of attributes": (CLASS, f"{DEVICE}.attributes", ({f"{'a' * 63}/b": {"int": 1}},)),
}
BAD: dict[str, tuple[Object, str, tuple[object, ...]]] = {
    "networks": (
        STACK,
        SOURCES,
        tuple(
            [text]
            for text in (
                "999.0.0.1/99",
                "10.0.0.0/33",
                "10.0.0.0/08",
                "010.0.0.0/8",
                "10.0.0.1/8",
                "10.0.0/8",
                "10.0.0.0",
                "10.0.0.0/",
                "10.0.0.0/255.0.0.0",
                " 10.0.0.0/8",
                "10.0.0.0/8\n",
                ":::/1",
                "::/129",
                "2001:db8::1/64",
                "::ffff:10.0.0.0/104",
                "fe80::%eth0/64",
                "1:2:3:4:5:6:7:8:9/64",
                "0.0.0.0/-1",
                "",
            )
        ),
    ),
    "pools of addresses": (
        GATEWAY,
        POOL,
        (
            "192.0.2.20-192.0.2.10",
            "10.0.0.0-9.255.255.255",
            "192.0.2.10-192.0.2.256",
            "192.0.2.10-192.0.2.020",
            "192.0.2.10-",
            "-192.0.2.10",
            "192.0.2.10-192.0.2.20-192.0.2.30",
            "192.0.2.10 - 192.0.2.20",
            "192.0.2.10-2001:db8::1",
            "2001:db8::2-2001:db8::1",
            "2001:db8::10-2001:db8::9",
            "fe80::1%a-fe80::2%a",
            "192.0.2.10",
            "192.0.2.1/28",
            "192.0.2.0/33",
            ":-:",
            "a-b",
        ),
    ),
    "charts' versions": (
        STACK,
        "spec.components.certManager.version",
        ("01.2.3", "1.2", "1.2.3-", "1.2.3-..", "1.2.3-01", "1.2.3+", "vv1.2.3", "1.2.3 "),
    ),
    "Kubernetes' versions": (
        CLUSTER,
        "spec.cluster.eks.kubernetesVersion",
        ("1", "1.036", "01.36", "1.36.2-", "1.36-..", "1.36.2.1"),
    ),
    "host names": (
        GATEWAY,
        "spec.tls.hostname",
        ("192.0.2.1", "1.2.3", f"{'a' * 64}.example.com", "a..b", "*.example.com", "example.com.", "A.example.com"),
    ),
    "keys of Secrets": (ENDPOINT, SECRET, (".", "..", "..a", "a/b", "")),
    "keys of labels": (DEPLOYMENT, LABELS, ({f"{LONG[:254]}/a": "x"}, {"a" * 64: "x"})),
    "strings of 64 bytes": (CLASS, f"{DEVICE}.attributes", ({"a": {"string": "a" * 65}}, {"a": {"string": "ä" * 33}})),
    "keys of attributes": (CLASS, f"{DEVICE}.attributes", ({f"{'a' * 64}/b": {"int": 1}},)),
}


def _objects(table: dict[str, tuple[Object, str, tuple[object, ...]]]) -> list[object]:
    return [
        pytest.param(edited(sample, place, value), id=f"{name}: {value!r:.60}")
        for name, (sample, place, values) in table.items()
        for value in values
    ]


def _refused(xr: Object) -> bool:
    return bool(problems(BY_KIND[xr["apiVersion"], xr["kind"]].spec, xr))


@pytest.mark.parametrize("xr", _objects(GOOD))
def test_what_is_sound_is_accepted_by_both(xr: Object) -> None:
    assert (_refused(xr), is_admitted(xr)) == (False, True)


@pytest.mark.parametrize("xr", _objects(BAD))
def test_what_only_looks_sound_is_refused_by_both(xr: Object) -> None:
    assert (_refused(xr), is_admitted(xr)) == (True, False)


def test_a_network_is_refused_with_its_field_its_value_and_what_is_accepted() -> None:
    xr = edited(STACK, SOURCES, ["10.0.0.1/8"])
    [problem] = problems(BY_KIND[xr["apiVersion"], xr["kind"]].spec, xr)

    assert f"{problem.field}: {problem.message}" == (
        "spec.gateway.allowedSources[0]: must be a network such as 192.0.2.0/24: its first address, a slash and a "
        "length, without leading zeros and without IPv4 addresses in IPv6 form (1 to 49 characters), "
        'not "10.0.0.1/8"'
    )
