"""Patterns of Kubernetes' names and keys, in the common syntax of Go and Python, anchored at both ends.

Source: k8s.io/apimachinery v0.36, pkg/util/validation.
"""

PART = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
DOMAIN = rf"{PART}(\.{PART})*"
NAME = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
LONGEST_DOMAIN = 253
"""Characters of the domain in a label key (IsQualifiedName)."""
LONGEST_KEY = 317
"""Characters of a label key: a domain, a slash, and a name of 63."""
LABEL = f"^{PART}$"
"""A DNS label, of up to 63 characters."""
SUBDOMAIN = f"^{DOMAIN}$"
"""A DNS name, of up to 253 characters."""
KEY = f"^({DOMAIN}/)?{NAME}$"
"""A label key, of up to LONGEST_KEY characters."""
KEY_WORDS = (
    "a label key: up to 63 letters, digits, dashes, dots and underscores, alone or after a DNS name of up to 253"
    " characters and a slash"
)
LABEL_VALUE = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
"""A label's value, of up to 63 characters."""
VARIABLE = r"^([-_A-Za-z]|\.[-_A-Za-z0-9])[-._A-Za-z0-9]*$"
VARIABLE_WORDS = (
    "a variable's name: letters, digits, dashes, dots and underscores, no digit first, not . and not starting with two"
    " dots"
)
"""An environment variable's name (IsRelaxedEnvVarName is wider; IsEnvVarName)."""
FILE_KEY = r"^([-_A-Za-z0-9]|\.[-_A-Za-z0-9])[-._A-Za-z0-9]*$"
FILE_KEY_WORDS = "a key: letters, digits, dashes, dots and underscores, not . and not starting with two dots"
"""A key of a Secret or ConfigMap (IsConfigMapKey)."""
