"""What is made of content is made once for each content, of nothing else, and not for ever."""

from __future__ import annotations

import gc
import weakref

from function.core import ByContent


class Told(dict):
    """A manifest that can tell its content."""

    def digest(self, *keys):
        return repr([self.get(key) for key in keys]).encode()


def doubled(manifest):
    return manifest["n"] * 2


def test_equal_content_is_made_once():
    doubles = ByContent("n", make=doubled, most=9)
    assert [doubles(Told(n=n, name=name)) for n, name in ((1, "a"), (2, "b"), (1, "c"))] == [2, 4, 2]
    assert doubles.made == 2


def test_other_fields_are_not_seen():
    seen = ByContent("n", make=dict, most=9)
    assert seen(Told(n=1, name="a")) == {"n": 1}
    assert seen({"n": 1, "name": "a"}) == {"n": 1}


def test_what_is_remembered_is_bounded_and_the_longest_unasked_goes_first():
    doubles = ByContent("n", make=doubled, most=2)
    for n in (1, 2, 1, 3, 1):
        doubles(Told(n=n))
    assert (len(doubles), doubles.made) == (2, 3)
    doubles(Told(n=2))
    assert doubles.made == 4


def test_no_manifest_is_kept_alive():
    doubles = ByContent("n", make=doubled, most=9)
    manifest = Told(n=1)
    alive = weakref.ref(manifest)
    doubles(manifest)
    del manifest
    gc.collect()
    assert alive() is None
    assert len(doubles) == 1


def test_what_cannot_tell_its_content_is_made_each_time():
    doubles = ByContent("n", make=doubled, most=9)
    assert [doubles({"n": 1}), doubles({"n": 1})] == [2, 2]
    assert (len(doubles), doubles.made) == (0, 2)
