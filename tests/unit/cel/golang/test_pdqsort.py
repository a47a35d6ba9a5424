"""The order of what is sorted: by keys, and where keys are equal as Go has it."""

from random import Random

import pytest

from function.cel.golang import pdqsort


@pytest.mark.parametrize("count", [0, 1, 12, 13, 49, 50, 51, 300])
def test_elements_are_in_the_order_of_their_keys(count):
    random = Random(count)
    for many in (1, 3, 1000):
        keys = [random.randrange(many) for _ in range(count)]
        got = pdqsort.positions(count, lambda i, j, keys=keys: keys[i] < keys[j])
        assert sorted(got) == list(range(count))
        assert [keys[i] for i in got] == sorted(keys)


def test_few_elements_keep_their_order_and_many_do_not():
    keys = [0, 1] * 10
    few = pdqsort.positions(pdqsort.SHORT, lambda i, j: keys[i] < keys[j])
    assert few == sorted(range(pdqsort.SHORT), key=lambda i: keys[i])
    many = pdqsort.positions(20, lambda i, j: keys[i] < keys[j])
    assert many != sorted(range(20), key=lambda i: keys[i])
