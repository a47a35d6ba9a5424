"""The names of node pools in AKS, which are shorter and plainer than ours: 1 to 12 of [a-z0-9], a letter first.

A name that AKS accepts is kept if it has at most 11 characters. Any other becomes exactly 12 characters: the first of
its letters and digits, and a hash of the whole. So no kept name equals a made one, and the name depends on that of the
pool alone. Nodes have our name as label modelplane.ai/pool, and the agent pool has it as tag modelplane-pool.
"""

from __future__ import annotations

import hashlib
import re

from function.contracts.cloud.nodes import SYSTEM_POOL

_LONGEST = 12
_HASH = 7
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
TAG = "modelplane-pool"
"""Key of the tag with our name. Azure refuses a slash in keys of tags."""


def agent_pool(pool: str) -> str:
    """Return the name in AKS of a node pool. It never equals that of the system pool, which no pool of ours has."""
    if re.fullmatch(f"[a-z][a-z0-9]{{0,{_LONGEST - 2}}}", pool) and pool != SYSTEM_POOL:
        return pool
    plain = re.sub("[^a-z0-9]", "", pool)
    readable = plain if plain[:1].isalpha() else f"p{plain}"
    readable = readable[: _LONGEST - _HASH].ljust(_LONGEST - _HASH, "x")
    return f"{readable}{_hash(pool)}"


def _hash(text: str) -> str:
    number = int.from_bytes(hashlib.sha256(text.encode()).digest())
    digits = []
    for _ in range(_HASH):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(digits)
