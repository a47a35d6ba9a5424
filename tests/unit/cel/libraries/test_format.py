"""Named formats find what Kubernetes finds, and say it in its words (k8s.io/apiserver v0.36, k8s.io/apimachinery)."""

import pytest

from function import cel
from function.cel.libraries.format import FORMATS
from tests.unit.cel.evaluating import fails, holds

_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_NAME = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_HOST = "invalid host: ParseAddr("
_NO_DIGIT = "each colon-separated field must have at least one digit"
_NO_OCTET = "IPv4 field must have at least one digit"
VALID = {
    "dns1123Label": ["a", "1-b", "x" * 63],
    "dns1123Subdomain": ["a.b-c.1", "x" * 253],
    "dns1035Label": ["a", "a1", "x" * 63],
    "qualifiedName": ["A", "a.b/C_d.e", f"{'x' * 253}/a"],
    "dns1123LabelPrefix": ["a-", "ab-"],
    "dns1123SubdomainPrefix": ["a.b-", "a.-"],
    "dns1035LabelPrefix": ["a-", "1-"],
    "labelValue": ["", "A_b", "x" * 63],
    "uri": ["/x", "http://h"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000", "123E4567e89b12d3a456426614174000"],
    "byte": ["aGVsbG8=", "YQ==", "abcd"],
    "date": ["2020-02-29", "0000-02-29", "9999-12-31"],
    "datetime": ["2021-01-01t23:59:59.5+99:99", "2021-01-01T00:00:00x5z", "2021-01-01T00:00:00ZT later"],
}
FAULTS = [
    ("dns1123Label", "A", [_LABEL]),
    ("dns1123Label", "a.b", ["must not contain dots"]),
    ("dns1123Label", "a." + "x" * 62, ["must be no more than 63 characters", "must not contain dots"]),
    ("dns1123Label", "é" * 32, ["must be no more than 63 characters", _LABEL]),
    ("dns1123LabelPrefix", "é-", [_LABEL]),
    ("qualifiedName", "/" + "x" * 64, ["prefix part must be non-empty", "name part must be no more than 63 bytes"]),
    ("qualifiedName", "a/", ["name part must be non-empty", _NAME]),
    ("labelValue", "x" * 64, ["must be no more than 63 bytes"]),
    ("uri", "", ['parse "": empty url']),
    ("uri", "a\t", [r'parse "a\t": net/url: invalid control character in URL']),
    ("uri", "x", ['parse "x": invalid URI for request']),
    ("uri", ":x", ['parse ":x": missing protocol scheme']),
    ("uri", "/%é", [r'parse "/%é": invalid URL escape "%é"']),
    ("uri", "/%aé", [r'parse "/%aé": invalid URL escape "%a\xc3"']),
    ("uri", "http://a b", ['parse "http://a b": invalid character " " in host name']),
    ("uri", "http://a:b", ['parse "http://a:b": invalid port ":b" after host']),
    ("uri", "http://a[", ['parse "http://a[": invalid IP-literal']),
    ("uri", "http://[a", ["parse \"http://[a\": missing ']' in host"]),
    ("uri", "http://é@h", ['parse "http://é@h": net/url: invalid userinfo']),
    ("uri", "http://[]", ['parse "http://[]": invalid host: ParseAddr(""): unable to parse IP']),
    ("uri", "http://[%ff:]", [rf'parse "http://[%ff:]": {_HOST}"\xff:"): {_NO_DIGIT} (at "\xff:")']),
    ("uri", "http://[1:2:3]", ['parse "http://[1:2:3]": invalid host: ParseAddr("1:2:3"): address string too short']),
    ("uri", "http://[::1.2.3.]", [f'parse "http://[::1.2.3.]": {_HOST}"::1.2.3."): {_NO_OCTET} (at ".")']),
    ("uuid", "123e4567", ["does not match the UUID format"]),
    ("byte", "", ["invalid base64"]),
    ("byte", "abc", ["invalid base64"]),
    ("byte", "YQ==\n", ["invalid base64"]),
    ("date", "2021-02-29", ["invalid date"]),
    ("date", "2021-1-01", ["invalid date"]),
    ("datetime", "2021-01-01T24:00:00Z", ["invalid datetime"]),
    ("datetime", "2021-01-01T00:00:00", ["invalid datetime"]),
    ("datetime", "2021-01-01", ["invalid datetime"]),
]  # fmt: skip


def _listed(texts: list[str]) -> str:
    return f"[{', '.join('{}' for _ in texts)}]"


@pytest.mark.parametrize("name", VALID)
def test_what_has_a_format_has_no_faults(name):
    got = [text for text in VALID[name] if holds(f"format.{name}().validate({{}}).hasValue()", text)]
    assert got == []


@pytest.mark.parametrize(("name", "text", "want"), FAULTS)
def test_what_has_no_format_is_told_why(name, text, want):
    assert holds(f"format.{name}().validate({{}}).value() == {_listed(want)}", text, *want)


def test_a_format_is_found_by_its_name():
    assert tuple(FORMATS) == tuple(VALID)
    assert all(holds(f"format.named({{}}).value() == format.{name}()", name) for name in FORMATS)
    assert not holds("format.named({}).hasValue()", "DNS1123Label")


def test_formats_are_compared_with_formats_and_are_no_keys():
    assert holds("format.uri() != format.uuid()")
    assert fails("dyn(format.uri()) == {}", "uri")
    assert fails("{dyn(format.uri()): 1}.size() == 1 || true")
    assert fails("dyn(format.uri()) in {{}: 1} || true", "a")
    assert fails("dyn(format.uri()) in [{}] || true", "a")


def test_an_unknown_format_does_not_compile():
    with pytest.raises(cel.InvalidSelector):
        cel.compiled('format.email().validate("a").hasValue()')
