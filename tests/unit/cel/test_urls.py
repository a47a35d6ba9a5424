"""Rules see URLs as Kubernetes does (net/url of Go, ParseRequestURI)."""

import pytest

from function import cel

URLS = [
    "https://a.b:80/x?y=1",
    "/x",
    "mailto:x",
    "http://[::1]:80/",
    "https://u:p@a.b",
    "*",
    "http://a.b/%20",
    "HTTP://a",
]
NO_URLS = [
    "",
    "a.b",
    "a.b/c",
    ":x",
    "https://a b/",
    "http://a.b:x/",
    "/%zz",
    "http://a.b\n",
    "http://{}/",
]
READ = {
    "url(self).getScheme()": "https",
    "url(self).getHost()": "a.b:80",
    "url(self).getHostname()": "a.b",
    "url(self).getPort()": "80",
    "url(self).getEscapedPath()": "/x%20y",
}


def test_a_url_is_absolute_or_a_path_from_the_root():
    got = {text: cel.rule("isURL(self)").evaluate(self=text) for text in (*URLS, *NO_URLS)}
    assert got == {**dict.fromkeys(URLS, True), **dict.fromkeys(NO_URLS, False)}


@pytest.mark.parametrize(("part", "want"), READ.items(), ids=list(READ))
def test_a_url_has_parts(part, want):
    assert cel.rule(f'{part} == "{want}"').evaluate(self="https://a.b:80/x%20y?q=1&q=2&r=%20") is True


def test_a_query_has_lists_of_values():
    want = '{"q": ["1", "2"], "r": [" "]}'
    assert cel.rule(f"url(self).getQuery() == {want}").evaluate(self="https://a.b/?q=1&q=2&r=%20") is True


def test_what_is_no_url_has_no_parts():
    with pytest.raises(cel.EvaluationFailed):
        cel.rule('url(self).getHost() == ""').evaluate(self="a.b")
