"""Patterns of Kubernetes' names and keys, in the common syntax of Go and Python, anchored at both ends.

Source: k8s.io/apimachinery v0.36, pkg/util/validation.
"""

from __future__ import annotations

import re

PART = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
DOMAIN = rf"{PART}(\.{PART})*"
NAME = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
LONGEST_DOMAIN = 253
"""Characters of the domain in a label key (IsQualifiedName)."""
LONGEST_KEY = 317
"""Characters of a label key: a domain, a slash, and a name of 63."""
LABEL = f"^{PART}$"
"""A DNS label, of up to 63 characters."""
LABEL_WORDS = "a DNS label: lower-case letters, digits and dashes, a letter or digit at both ends"
SUBDOMAIN = f"^{DOMAIN}$"
"""A DNS name, of up to 253 characters."""
SUBDOMAIN_WORDS = "a DNS name: lower-case letters, digits, dashes and dots, a letter or digit around every dot"
KEY = f"^({DOMAIN}/)?{NAME}$"
"""A label key, of up to LONGEST_KEY characters."""
KEY_WORDS = (
    "a label key: up to 63 letters, digits, dashes, dots and underscores, alone or after a DNS name of up to 253"
    " characters and a slash"
)
LABEL_VALUE = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
"""A label's value, of up to 63 characters."""
LABEL_VALUE_WORDS = "a label value: letters, digits, dashes, dots and underscores, a letter or digit at both ends"
VARIABLE = r"^[ -<>-~]+$"
VARIABLE_WORDS = "a variable's name: ASCII characters that can be printed, except ="
"""An environment variable's name (IsRelaxedEnvVarName, which Kubernetes 1.34 and later use)."""
FILE_KEY = r"^([-_A-Za-z0-9]|\.[-_A-Za-z0-9])[-._A-Za-z0-9]*$"
FILE_KEY_WORDS = "a key: letters, digits, dashes, dots and underscores, not . and not starting with two dots"
"""A key of a Secret or ConfigMap (IsConfigMapKey)."""


_LONGEST_LABEL = 63
_IS_LABEL = re.compile(PART)


def is_label(text: object) -> bool:
    """Return whether a value is a DNS label."""
    return isinstance(text, str) and len(text) <= _LONGEST_LABEL and bool(_IS_LABEL.fullmatch(text))


def is_key(text: str) -> bool:
    """Return whether a text is a label key (IsQualifiedName)."""
    is_short = len(text) <= LONGEST_KEY and len(text.partition("/")[0]) <= LONGEST_DOMAIN
    return is_short and re.fullmatch(KEY, text) is not None
