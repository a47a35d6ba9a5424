"""ModelCallers that the API accepts, and others that it refuses, with the field and the words that their user reads."""

from __future__ import annotations

from tests.support.samples import CALLER, Object, edited

KEYS, TOKENS = "spec.keys", "spec.limits.0.tokens"
_COUNT = "must be a whole number from 1 to 4294967295, which may be written with k, M or G, such as 500k, 2M or 1.5G"
_NAME = (
    "must be a DNS name: lower-case letters, digits, dashes and dots, a letter or digit around every dot"
    " (1 to 253 characters)"
)
_KEY = (
    "must be a key: letters, digits, dashes, dots and underscores, not . and not starting with two dots"
    " (1 to 253 characters)"
)


def _keys(number: int) -> list[Object]:
    return [{"secretRef": {"name": f"key-{index}"}} for index in range(number)]


COUNTS = {
    1: 1,
    4294967295: 4294967295,
    2000000.0: 2000000,
    "1": 1,
    "007": 7,
    "4294967295": 4294967295,
    "500k": 500000,
    "1.5k": 1500,
    "0.001k": 1,
    "2M": 2000000,
    "1.500000M": 1500000,
    "4G": 4000000000,
    "4.294967295G": 4294967295,
}
"""Numbers of tokens as users write them, and what they are."""
NO_COUNTS = (
    *(0, -1, 4294967296, 1.5, True),
    *("", "0", "0k", "0.0M", "-1", "+1", "1.5", "1e6", "2 M", "2m", "2K", "2Mi", "2T", "M", ".5M", "1.k", "1.0005k"),
    *("1.0000001M", "4294967296", "4.294967296G", "5G", "1,000", " 2M", "2M\n", "9" * 13),
)
"""What is no number of tokens."""

GOOD = {
    "a caller without limits": edited(CALLER, "spec.limits"),
    "a caller with an empty list of limits": edited(CALLER, "spec.limits", []),
    "a key without its name": edited(CALLER, KEYS, [{"secretRef": {"name": "a"}}]),
    "two keys of one Secret": edited(
        CALLER, KEYS, [{"secretRef": {"name": "a"}}, {"secretRef": {"name": "a", "key": "b"}}]
    ),
    "one key of two Secrets": edited(CALLER, KEYS, [{"secretRef": {"name": "a"}}, {"secretRef": {"name": "b"}}]),
    "names that make the same text": edited(
        CALLER,
        KEYS,
        [{"secretRef": {"name": "a", "key": "b-c"}}, {"secretRef": {"name": "a-b", "key": "c"}}],
    ),
    "eight keys": edited(CALLER, KEYS, _keys(8)),
    "a limit for each unit": edited(
        CALLER, "spec.limits", [{"tokens": "1k", "per": unit} for unit in ("Minute", "Hour", "Day")]
    ),
    **{f"{count!r} tokens": edited(CALLER, TOKENS, count) for count in COUNTS},
}
BAD = {
    "a caller without keys": (edited(CALLER, KEYS), "spec.keys: is required"),
    "an empty list of keys": (edited(CALLER, KEYS, []), "spec.keys: must have at least 1 item, not 0"),
    "nine keys": (edited(CALLER, KEYS, _keys(9)), "spec.keys: must have at most 8 items, not 9"),
    "a key itself": (edited(CALLER, KEYS, ["sk-Secret"]), "spec.keys[0]: must be a map of fields, not a string"),
    "a key instead of its Secret": (
        edited(CALLER, f"{KEYS}.0.secretRef.name", "sk-Secret"),
        f"spec.keys[0].secretRef.name: {_NAME}",
    ),
    "a key instead of its name": (
        edited(CALLER, f"{KEYS}.0.secretRef.key", "sk/Secret"),
        f"spec.keys[0].secretRef.key: {_KEY}",
    ),
    "one Secret and key twice": (
        edited(CALLER, KEYS, [*_keys(2), {"secretRef": {"name": "key-0", "key": "api-key"}}]),
        "spec.keys[2]: has the Secret and key of an item above it, key-0/api-key; each needs its own",
    ),
    "two limits of one unit": (
        edited(CALLER, "spec.limits.1.per", "Hour"),
        "spec.limits[1]: has the per of an item above it, Hour; each needs its own",
    ),
    "four limits": (
        edited(CALLER, "spec.limits", [{"tokens": 1, "per": unit} for unit in ("Minute", "Hour", "Day", "Day")]),
        "spec.limits: must have at most 3 items, not 4",
    ),
    "a limit of another unit": (
        edited(CALLER, "spec.limits.0.per", "Week"),
        'spec.limits[0].per: must be one of Minute, Hour, Day, not "Week"',
    ),
    "a limit without tokens": (edited(CALLER, TOKENS), "spec.limits[0].tokens: is required"),
    "too many tokens": (edited(CALLER, TOKENS, "5G"), f'spec.limits[0].tokens: {_COUNT}, not "5G"'),
    "a part of a token": (edited(CALLER, TOKENS, "1.0005k"), f'spec.limits[0].tokens: {_COUNT}, not "1.0005k"'),
    "no tokens": (edited(CALLER, TOKENS, 0), f"spec.limits[0].tokens: {_COUNT}, not 0"),
}
