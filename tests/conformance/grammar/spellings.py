"""Texts that are nearly URLs, addresses, blocks of them, or names: right ones, and all a step away from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from urllib.parse import unquote_to_bytes

_URLS = (
    *("https://a.example:8080/x/y?q=1&q=2&r=%20#part", "http://u:p@h/%2f?a;b=1&c", "/a b/%C3%A9?x=%ff+y&x=&=z&&x", "/"),
    *("http://[::1%25en0]:80/", "http://[fe80::1]", "http://[::ffff:1.2.3.4]:/", "http://[1.2.3.4]", "mailto:x@y?z=1"),
    *(
        "//h:1/p",
        "//[/",
        "///x",
        "http://a:b:c/",
        "ftp://a:b:80/",
        "ftp://a:80:b",
        "http://h:/",
        "http://@h",
        "*",
        "a:",
    ),
    *("http://%ff/%FF", "http://é/é", "http://%c3%a9:1", "http:///p", "http:/p", "x://u@@h/", "http://u%zz@h", "/#%zz"),
    *("/?#%zz", "/x?", "/x??", "http://h?q", "file:///etc", "urn:a:b#c", "HTTP://H/", "http://h/[]()*!'", "1a:b", ":x"),
    *("http://h/a%2Fb c", "http://<h>", 'http://"h"', "http://h%2e", "http://h%25", "http://[::1%25%41]", "a b:c"),
    *(
        "http://[::1%25 x]/",
        "http://[::1%25%20]",
        "http://[::1%25%2f]",
        "http://u:p:q@h:1",
        "http://a@b:c@d",
        "%zz",
        "",
    ),
    *("http://h\x7f", "\x00/", "http://h/\n", "/?a=1;b=2&c=%zz&d=%C3&%C3=é", "http://\u200b/\u200b%z", "/%é", "/%aé"),
)
_ADDRESSES = (
    *("1.2.3.4", "0.0.0.0", "127.0.0.1", "169.254.1.2", "224.0.0.1", "224.0.1.1", "255.255.255.255", "10.0.0.1"),
    *(
        "01.2.3.4",
        "1.2.3",
        "1.2.3.4.5",
        "256.1.1.1",
        "::",
        "::1",
        "fe80::1",
        "ff02::1",
        "ff12::5",
        "ff01::1",
        "2001:DB8::1",
    ),
    *(
        "::ffff:1.2.3.4",
        "::1.2.3.4",
        "1:2:3:4:5:6:7:8",
        "1::8",
        "1:2:3:4:5:6:1.2.3.4",
        "1:2:3:4:5:6:7::",
        "::ffff:102:304",
    ),
    *(
        "1:2:3:4:5:6:7:8:9",
        "fe80::1%eth0",
        "1.2.3.4%a",
        "12345::",
        "g::",
        ":::",
        "1::2::3",
        "",
        "1",
        "%",
        ":1",
        "1:",
        "::%",
    ),
    *(
        "2001:db8:0:0:1:0:0:1",
        "0:0:0:0:0:0:0:0",
        "febf::1",
        "fec0::",
        "1.2.3.٤",
        "1.2..3",
        ".1.2.3",
        "1.2.3.",
        "::1.2.3",
    ),
)
_LENGTHS = (
    "/0",
    "/8",
    "/16",
    "/24",
    "/31",
    "/32",
    "/33",
    "/64",
    "/128",
    "/129",
    "/08",
    "/+8",
    "/",
    "",
    "/8/9",
    "/٣",
    "/-1",
)
_BLOCKS = (
    *(f"{address}{length}" for address in ("10.1.2.3", "2001:db8::1") for length in _LENGTHS),
    *(f"{address}/12" for address in _ADDRESSES),
    *("10.1.2.3/16", "10.1.0.0/24", "0.0.0.0/0", "::/0", "2001:db8:1::/48", "10.0.0.0/9", "10.128.0.0/9"),
)
_NAMES = (
    *(
        "a",
        "A",
        "a-b",
        "-a",
        "a-",
        "a.b",
        "a..b",
        "a.b-",
        "é-",
        "a/b",
        "/b",
        "a/",
        "a/b/c",
        "A.b/c_d",
        "",
        "-",
        "--",
        "1",
        "1a",
    ),
    *(
        "a_b",
        "my.name",
        "a\n",
        "x" * 63,
        "x" * 64,
        "a.b/" + "x" * 64,
        "x" * 253,
        "x" * 254,
        f"{'x' * 254}/A",
        "A-",
        "a.-",
    ),
    *(
        "123e4567-e89b-12d3-a456-426614174000",
        "123E4567e89b12d3a456426614174000",
        "aGVsbG8=",
        "aGVsbG8",
        "YQ==",
        "ab==cd==",
    ),
    *("2021-02-29", "2020-02-29", "0000-02-29", "1900-02-29", "2021-13-01", "2021-1-01", "2021-04-31", "2021-01-00"),
    *(
        "2021-01-01T00:00:00Z",
        "2021-01-01t23:59:59.5+99:99",
        "2021-01-01T24:00:00Z",
        "2021-01-01T00:00:60Z",
        "2021-01-01",
    ),
    *(
        "2021-01-01T00:00:00x5z",
        "2021-01-01T00:00:00İ5z",
        "2021-01-01T00:00:00ztrue",
        "2021-01-01T00:00:00",
        "2021-01-01T",
    ),
)
_ODD = ("", "%", "%2", "é", "/", ":", "@", "#", "?", "[", "]", ".", "0", "f", "-", " ", "\u007f")


def _near(texts: Iterable[str]) -> Iterator[str]:
    """Each text, and each with one character doubled, or replaced by an odd one."""
    for text in texts:
        yield text
        if len(text) > len(_NAMES[-1]) * 2:
            continue
        for i, letter in enumerate(text):
            yield text[:i] + letter + text[i:]
            yield from (text[:i] + odd + text[i + 1 :] for odd in _ODD)


def _are_texts(url: str) -> bool:
    """Whether what is read from its escapes is UTF-8: else only paths are read here."""
    try:
        unquote_to_bytes(url).decode()
    except UnicodeDecodeError:
        return url.startswith("/") and url[1:2] != "/" and "?" not in url
    return True


def _literals(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(json.dumps(text, ensure_ascii=False) for text in texts))


URLS = _literals(filter(_are_texts, _near(_URLS)))
ADDRESSES, BLOCKS, NAMES = (_literals(_near(texts)) for texts in (_ADDRESSES, _BLOCKS, _NAMES))
RIGHT_URLS = _literals(filter(_are_texts, _URLS))
RIGHT_ADDRESSES, RIGHT_BLOCKS = (_literals(texts) for texts in (_ADDRESSES, _BLOCKS))
"""Most of them are right."""
