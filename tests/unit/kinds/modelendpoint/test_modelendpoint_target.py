"""What an endpoint's URL means."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from function.api.modelendpoint import Spec
from function.core import InvalidSpec
from function.kinds.modelendpoint import target


def parsed(url: str, **more: object) -> target.Target:
    return target.parse(Spec.model_validate({"url": url, **more}))


@pytest.mark.parametrize(
    ("url", "want"),
    [
        ("http://192.0.2.1", ("192.0.2.1", 80, "IPv4", False)),
        ("https://192.0.2.1", ("192.0.2.1", 443, "IPv4", True)),
        ("http://192.0.2.1:8080/v1", ("192.0.2.1", 8080, "IPv4", False)),
        ("http://[2001:0DB8::1]:8080/v1", ("2001:db8::1", 8080, "IPv6", False)),
        ("http://[::ffff:c000:201]/v1", ("192.0.2.1", 80, "IPv4", False)),
        ("https://API.Example.com/v1", ("api.example.com", 443, "FQDN", True)),
        ("https://api.example.com:443/v1", ("api.example.com", 443, "FQDN", True)),
        ("http://vllm.ml-team.svc.cluster.local:8000", ("vllm.ml-team.svc.cluster.local", 8000, "FQDN", False)),
    ],
)
def test_where_a_url_leads(url: str, want: tuple[str, int, str, bool]) -> None:
    got = parsed(url)
    assert (got.host, got.port, got.address_type, got.tls) == want


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("", "/"),
        ("/", "/"),
        ("/v1", "/"),
        ("/v1/", "/"),
        ("/models/qwen/v1", "/models/qwen/"),
        ("/models/qwen/v1/", "/models/qwen/"),
    ],
)
def test_a_path_that_ends_in_the_api_is_rewritten_without_it(path: str, want: str) -> None:
    """Clients bring /v1 along: it must not be there twice."""
    got = parsed(f"http://192.0.2.1{path}")
    assert (got.rewrite_path, got.base_path) == (want, None)


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("/openai", "/openai"),
        ("/api/rev1", "/api/rev1"),
        ("/v1beta/openai/", "/v1beta/openai"),
        ("/v1beta", "/v1beta"),
        ("/v1/projects/p", "/v1/projects/p"),
    ],
)
def test_any_other_path_takes_the_place_of_the_api(path: str, want: str) -> None:
    """As for an OpenAI client, which appends /chat/completions to its base URL."""
    got = parsed(f"https://api.example.com{path}")
    assert (got.rewrite_path, got.base_path) == ("/", want)


@pytest.mark.parametrize(
    ("base", "want"),
    [("/", ("/", "")), ("/openai/", ("/", "/openai")), ("/a/v1", ("/a/", None)), ("/v1", ("/", None))],
)
def test_a_base_path_stands_over_the_path_of_the_url(base: str, want: tuple[str, str | None]) -> None:
    got = parsed("https://api.example.com/other/v1", basePath=base)
    assert (got.rewrite_path, got.base_path) == want


def test_an_endpoint_that_serves_by_the_former_meaning_keeps_it() -> None:
    """Earlier versions appended /v1 to every URL: a server that answers there goes on to be asked there."""
    spec = {"url": "http://192.0.2.1/team/model"}
    got = target.parse(Spec.model_validate(spec), "/team/model/")
    assert (got.rewrite_path, got.base_path, got.is_former) == ("/team/model/", None, True)
    edited = target.parse(Spec.model_validate({"url": "http://192.0.2.1/other"}), "/team/model/")
    assert (edited.base_path, edited.is_former) == ("/other", False)


def test_a_rewrite_path_that_is_given_stays() -> None:
    assert parsed("http://192.0.2.1/a/v1", rewritePath="/b/v1").rewrite_path == "/b/v1"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/v1",
        "http://0.0.0.0/v1",
        "http://169.254.169.254/v1",
        "http://224.0.0.1/v1",
        "http://255.255.255.255/v1",
        "http://[::1]/v1",
        "http://[::]/v1",
        "http://[fe80::1]/v1",
        "http://[::ffff:7f00:1]/v1",
        "http://[64:ff9b::a9fe:a9fe]/v1",
        "http://[2002:7f00:1::1]/v1",
        "http://[::7f00:1]/v1",
        "http://[FD00:EC2::254]/v1",
        "http://0.1.2.3/v1",
        "http://100.100.100.200/v1",
        "http://168.63.129.16/v1",
        "https://localhost/v1",
        "https://LocalHost.LocalDomain/v1",
        "https://ip6-loopback/v1",
        "https://metadata.google.internal/v1",
        "https://METADATA/v1",
        "https://kubernetes.default.svc/v1",
        "http://traefik.localhost:8080/v1",
        f"http://{'a.' * 127}com/v1",
        f"http://192.0.2.1/{'a' * 1024}",
    ],
)
def test_what_nobody_can_reach_is_refused(url: str) -> None:
    with pytest.raises(InvalidSpec) as why:
        parsed(url)
    assert why.value.condition.reason == "InvalidURL"


NUMBERS = (
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.0.0.0x1",
    "127.0.0.01",
    "127.0.0.1.",
    "localhost.",
    "%6cocalhost",
    "127.0.0.1%2f",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[fe80::1%eth0]",
    "127.0.0.1%00.example.com",
)


@pytest.mark.parametrize("host", NUMBERS)
def test_a_host_that_resolvers_read_as_an_address_has_one_form_only(host: str) -> None:
    with pytest.raises(ValidationError):
        parsed(f"http://{host}/v1")


PARTS = ("//v1", "/a//b", "/.", "/..", "/a/../b", "/a/./b/", "/%2e%2e/b", "/%2E/b", "/a%2Fb", "/a%2fb", "/%zz", "/%2")
ODD = (
    '/"a"',
    "/<a>",
    "/{a}",
    "/a|b",
    "/a^b",
    "/`a`",
    "/a\\b",
    "/\u00e9",
    "/a b",
    "/a\tb",
    "/a\n",
    "/\x00",
    "/a?b",
    "/a#b",
)


@pytest.mark.parametrize("path", [*PARTS, *ODD])
def test_a_path_that_another_may_read_otherwise_is_refused(path: str) -> None:
    """In a URL, and where it is given as what a route rewrites to."""
    for spec in ({"url": f"http://192.0.2.1{path}"}, {"url": "http://192.0.2.1", "rewritePath": path}):
        with pytest.raises(ValidationError):
            Spec.model_validate(spec)


@pytest.mark.parametrize(
    "path", ["/", "/a/", "/...", "/.well-known/x", "/a..b/c.", "/~u/-_.!$&'()*+,;=:@", "/%20/%7Ea"]
)
def test_a_path_with_one_meaning_is_taken(path: str) -> None:
    assert parsed(f"http://192.0.2.1{path}", rewritePath=path).rewrite_path == path


@pytest.mark.parametrize(
    ("spec", "of_a_user", "of_a_replica"),
    [
        ({"url": "http://192.0.2.1/v1"}, False, False),
        ({"url": "http://a1.elb.example.com/v1"}, True, False),
        ({"url": "http://vllm:8000/v1"}, True, True),
        ({"url": "https://192.0.2.1/v1"}, True, True),
        ({"url": "http://192.0.2.1/v1", "auth": {"secretRef": {"name": "key"}}}, True, True),
    ],
)
def test_what_only_a_proxy_can_ask(spec: dict[str, object], of_a_user: bool, of_a_replica: bool) -> None:
    """A gateway cannot check what a name resolves to."""
    model = Spec.model_validate(spec)
    got = [target.needs_proxy(model, target.parse(model), is_checked=is_checked) for is_checked in (True, False)]
    assert got == [of_a_user, of_a_replica]
