"""What is made of content is made once for each content, of nothing else, and not for ever."""

from __future__ import annotations

import gc
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from function.core import ContentCache, DeadlineExceeded, deadline


@pytest.fixture(autouse=True)
def _threads_in_turn():
    """Threads take turns often, so that they meet."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


class Told(dict):
    """A manifest that can tell its content."""

    def digest(self, *keys):
        return repr([self.get(key) for key in keys]).encode()


def doubled(manifest):
    return manifest["n"] * 2


def test_equal_content_is_made_once():
    doubles = ContentCache("n", make=doubled, most=9)
    assert [doubles(Told(n=n, name=name)) for n, name in ((1, "a"), (2, "b"), (1, "c"))] == [2, 4, 2]
    assert doubles.made == 2


def test_other_fields_are_not_seen():
    seen = ContentCache("n", make=dict, most=9)
    assert seen(Told(n=1, name="a")) == {"n": 1}
    assert seen({"n": 1, "name": "a"}) == {"n": 1}


def test_what_is_remembered_is_bounded_and_the_longest_unasked_goes_first():
    doubles = ContentCache("n", make=doubled, most=2)
    for n in (1, 2, 1, 3, 1):
        doubles(Told(n=n))
    assert (len(doubles), doubles.made) == (2, 3)
    doubles(Told(n=2))
    assert doubles.made == 4


@pytest.mark.slow
def test_no_manifest_is_kept_alive():
    doubles = ContentCache("n", make=doubled, most=9)
    manifest = Told(n=1)
    alive = weakref.ref(manifest)
    doubles(manifest)
    del manifest
    gc.collect()
    assert alive() is None
    assert len(doubles) == 1


def test_what_cannot_tell_its_content_is_made_each_time():
    doubles = ContentCache("n", make=doubled, most=9)
    assert [doubles({"n": 1}), doubles({"n": 1})] == [2, 2]
    assert (len(doubles), doubles.made) == (0, 2)


@pytest.mark.slow
def test_threads_that_ask_at_once_get_one_value():
    """Values may be compared by identity."""
    things = ContentCache("n", make=lambda manifest: object(), most=64)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda n: (n % 40, things(Told(n=n % 40))), range(20_000), chunksize=500))
    assert len({value for _, value in answers}) == len(dict(answers)) == 40


@pytest.mark.slow
def test_threads_that_push_each_other_out_break_nothing():
    doubles = ContentCache("n", make=doubled, most=3)
    with ThreadPoolExecutor(8) as threads:
        got = list(threads.map(lambda n: doubles(Told(n=n % 7)), range(20_000), chunksize=500))
    assert got == [n % 7 * 2 for n in range(20_000)]
    assert len(doubles) == 3


def test_a_call_that_is_over_is_noticed():
    limit, doubles = deadline.Deadline(), ContentCache("n", make=doubled, most=3)
    with deadline.within(limit):
        limit.cancel()
        with pytest.raises(DeadlineExceeded):
            doubles(Told(n=1))
