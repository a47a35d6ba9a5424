"""How a URL spells a host, and which hosts no request may be sent to, in whatever form they are written."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.vocabulary import hosts

REFUSED = (
    "0.0.0.0",
    "0.1.2.3",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "169.254.42.42",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "::",
    "::1",
    "fe80::a9fe:a9fe",
    "ff02::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "::ffff:7f00:1",
    "::7f00:1",
    "::ffff:0:7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::7f00:1",
    "64:ff9b:1:7f00:0:100::",
    "64:ff9b:1:7f:0:1::",
    "64:ff9b:1:0:7f:0:100:0",
    "2002:7f00:1::1",
    "2002:a9fe:a9fe::",
    "2001:0:7f00:1::ffff:ffff",
    "2001:0:c000:201:0:0:80ff:fffe",
    "2001:db8::5efe:7f00:1",
    "2001:db8::200:5efe:a9fe:a9fe",
    "localhost",
    "a.localhost",
    "localhost.",
    "localhost.localdomain",
    "ip6-localhost",
    "ip6-loopback",
    "metadata",
    "metadata.google.internal",
    "metadata.google.internal.",
    "instance-data",
    "instance-data.eu-west-1.compute.internal",
    "kubernetes.default.svc.cluster.local",
)
ALLOWED = (
    "192.0.2.1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "2001:db8::1",
    "fd12:3456::1",
    "::ffff:192.0.2.1",
    "64:ff9b::c000:201",
    "64:ff9b:1::a00:1",
    "64:ff9b:1:c000:2:100::",
    "2002:c000:201::1",
    "2001:0:c000:201::3fff:fdfe",
    "2001:db8::5efe:c000:201",
    "api.example.com",
    "localhost.example.com",
    "notlocalhost",
    "metadata.example.com",
    "vllm.ml-team.svc.cluster.local",
)


@pytest.mark.parametrize("host", REFUSED)
def test_what_means_the_asker_or_a_metadata_service_is_refused(host: str) -> None:
    assert hosts.fault(host)


@pytest.mark.parametrize("host", ALLOWED)
def test_what_others_can_reach_is_not(host: str) -> None:
    assert hosts.fault(host) is None


IPV4 = st.integers(0, 2**32 - 1).map(ipaddress.IPv4Address)


def dressed(address: ipaddress.IPv4Address) -> list[str]:
    """An IPv4 address in every IPv6 form that has a place for one."""
    number = int(address)
    high, low = f"{number >> 16:x}", f"{number & 0xFFFF:x}"
    return [
        f"::ffff:{high}:{low}",
        f"::ffff:0:{high}:{low}",
        f"64:ff9b::{high}:{low}",
        f"64:ff9b:1::{high}:{low}",
        f"2002:{high}:{low}::1",
        f"2001:0:{high}:{low}::3fff:fdfe",
        f"2001:0:c000:201:0:0:{0xFFFF ^ number >> 16:x}:{0xFFFF ^ number & 0xFFFF:x}",
        f"2001:db8::5efe:{high}:{low}",
        f"2001:db8::200:5efe:{high}:{low}",
        *([f"::{high}:{low}"] if number > 1 else []),
    ]


@given(IPV4)
def test_an_address_is_refused_in_every_form_or_in_none(address: ipaddress.IPv4Address) -> None:
    want = hosts.fault(str(address)) is not None
    assert {form: hosts.fault(form) is not None for form in dressed(address)} == dict.fromkeys(dressed(address), want)


@pytest.mark.parametrize(
    ("host", "want"),
    [
        ("vllm.ml-team.svc", "ml-team"),
        ("vllm.ml-team.svc.cluster.local", "ml-team"),
        ("pod-0.vllm.ml-team.svc.cluster.local", "ml-team"),
        ("10-0-0-1.other.pod.cluster.local", "other"),
        ("vllm", None),
        ("vllm.ml-team", None),
        ("svc.example.com", None),
    ],
)
def test_names_of_the_control_cluster_tell_their_namespace(host: str, want: str | None) -> None:
    assert hosts.namespace(host) == want


@pytest.mark.parametrize(
    ("host", "want"),
    [("192.0.2.1", "192.0.2.1"), ("2001:db8::1", "[2001:db8::1]"), ("a.example.com", "a.example.com"), ("", "")],
)
def test_a_url_spells_an_ipv6_address_in_brackets(host: str, want: str) -> None:
    assert hosts.in_url(host) == want
