"""Elements with equal keys come out of a sort in the order in which Kubernetes' library has them."""

from __future__ import annotations

from random import Random

from function.cel.golang import pdqsort
from tests.conformance import oracle
from tests.conformance.seeds import seed

_DEVICE = {"driver": "d", "attributes": {}, "capacity": {}}
_LENGTHS = (5, 12, 13, 14, 20, 30, 49, 50, 51, 60, 100, 150)


def test_equal_keys_are_sorted_as_the_library_sorts_them(record_property):
    oracle.wanted()
    random = Random(seed("orders"))
    texts = [_claim(_keys(random)) for _ in range(100)]
    record_property("orders compared", len(texts))
    got = [said["outcome"] for said in oracle.answers((text, _DEVICE) for text in texts)]
    assert [text for text, outcome in zip(texts, got, strict=True) if outcome != "match"] == []


def _keys(random: Random) -> list[int]:
    """In no order, rising, falling, or nearly in order; few of them or many."""
    count = random.choice(_LENGTHS)
    keys = [random.randrange(random.choice((1, 2, 3, 10, count))) for _ in range(count)]
    match random.randrange(4):
        case 0:
            keys.sort()
        case 1:
            keys.sort(reverse=True)
        case 2:
            keys.sort()
            i, j = random.randrange(count), random.randrange(count)
            keys[i], keys[j] = keys[j], keys[i]
    return keys


def _claim(keys: list[int]) -> str:
    """What we hold to be the order, for the library to judge."""
    ours = pdqsort.positions(len(keys), lambda i, j: keys[i] < keys[j])
    return f"cel.bind(k, {keys}, lists.range({len(keys)}).sortBy(x, k[x])) == {ours}"
