"""URLs are what Kubernetes takes them for (net/url of Go 1.26)."""

import pytest

from function import cel
from function.cel.golang.url_parser import parse
from function.cel.language.limits import URL_PARAMETERS
from function.cel.libraries.url import Url
from tests.unit.cel.evaluating import fails, holds

URLS = [
    *("https://a.b:80/x?y=1", "/x", "mailto:x", "http://[::1]:80/", "https://u:p@a.b", "*", "http://a.b/%20", "HTTP://a"),
    *("a:", "//h/p", "//[/", "/#%20", "/?#%zz", "http://a.b:", "x://a:b:1", "http://%c3%a9/", "http://[::1%25en0]"),
    *('http://<h>"', "/a b", "http://u@v@h", "x:/y", "http://[::ffff:1.2.3.4]"),
]  # fmt: skip
NO_URLS = [
    *("", "a.b", "a.b/c", ":x", "https://a b/", "http://a.b:x/", "/%zz", "http://a.b\n", "http://{}/", "/#%zz", "#x"),
    *("http://a:b:1", "http://[::1", "http://[1.2.3.4]", "http://[a]", "http://a[b", "http://%41/", "http://[::1%25%2f]"),
    *("http://é@h", "http://u%@h", "http://a\\b", "1a:b", "*x", "http://[::1]x", "\x7f:"),
]  # fmt: skip
READ = {
    "https://a.b:80/x%20y?q#f": ["https", "a.b:80", "a.b", "80", "/x%20y"],
    "HTTP://[::1%25e%20n]:": ["http", "[::1%e n]:", "::1%e n", "", ""],
    "http://%C3%A9:1/é[]": ["http", "é:1", "é", "1", "/%C3%A9%5B%5D"],
    "//h:2/a[b]%2f'": ["", "h:2", "h", "2", "/a[b]%2f'"],
    "///x": ["", "", "", "", "///x"],
    "mailto:a@b": ["mailto", "", "", "", ""],
    "*": ["", "", "", "", "*"],
    "x://a:b:": ["x", "a:b:", "a:b", "", ""],
}
QUERIES = {
    "/?q=1&q=2&r=%20": '{"q": ["1", "2"], "r": [" "]}',
    "/?a+b=c+d&x&=y&&": '{"a b": ["c d"], "x": [""], "": ["y"]}',
    "/?a=1;b=2&c=%zz&d=1=2#e=3": '{"d": ["1=2"]}',
    "mailto:x?y=1": '{"y": ["1"]}',
    "/": "{ }",
}
SAME = [
    ("http://h/a", "HTTP://h/a"),
    ("http://u%3Ab@h", "http://u%3ab@h"),
    ("http://h?", "http://h?#"),
    ("file:///x", "FILE:///x"),
    ("/#é", "/#%C3%A9"),
    ("http://h/é", "http://h/%C3%A9"),
]
DIFFERENT = [
    *(("http://h", "http://h/"), ("/a", "/%61"), ("http://h?", "http://h"), ("http://h:80", "http://h")),
    *(("file:///x", "file:/x"), ("http://u@h", "http://u:@h"), ("/#", "/?")),
]  # fmt: skip
PARTS = ("getScheme", "getHost", "getHostname", "getPort", "getEscapedPath")


def test_a_url_is_absolute_or_a_path_from_the_root():
    got = {text: holds("isURL({})", text) for text in (*URLS, *NO_URLS)}
    assert got == {**dict.fromkeys(URLS, True), **dict.fromkeys(NO_URLS, False)}


@pytest.mark.parametrize(("text", "want"), READ.items(), ids=list(READ))
def test_a_url_has_parts(text, want):
    assert [holds(f"url({{}}).{part}() == {{}}", text, value) for part, value in zip(PARTS, want, strict=True)] == [
        True
    ] * 5


@pytest.mark.parametrize(("text", "want"), QUERIES.items(), ids=list(QUERIES))
def test_a_query_has_lists_of_values(text, want):
    assert holds(f"url({{}}).getQuery() == {want}", text)


@pytest.mark.parametrize("text", ["a.b", "/?#%zz", "//[/"])
def test_what_is_no_url_has_no_parts(text):
    """Once a fragment or a host is told apart, less is a URL."""
    assert fails('url({}).getHost() == ""', text)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_urls_are_equal_when_they_are_written_alike(one, other):
    assert holds("url({}) == url({})", one, other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_urls_that_mean_the_same_are_not_equal_for_it(one, other):
    assert not holds("url({}) == url({})", one, other)


def test_a_host_that_is_no_text_ends_the_evaluation():
    assert fails('url({}).getHost() != "" || true', "http://%ff/")


def test_more_parameters_than_go_reads_are_none():
    text = "a&" * URL_PARAMETERS
    assert dict(Url(parse(f"/?{text[:-1]}")).parameters) == {"a": [""] * URL_PARAMETERS}
    assert dict(Url(parse(f"/?{text}")).parameters) == {}


def test_rules_have_urls_and_queries_have_not():
    assert cel.rule("url(self).getPort() == '80'").evaluate(self="https://a.b:80/")
    with pytest.raises(cel.InvalidSelector, match="that a query does not have"):
        cel.query("isURL(object.spec.url)")
