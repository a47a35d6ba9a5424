"""What the process keeps between calls is bounded, whatever users name things."""

from __future__ import annotations

import gc
import importlib
import pkgutil
from itertools import islice

import pytest

import function
from tests.load import alone, caches, replay, variations
from tests.load.day import Size
from tests.load.replay import Replay

_OPTIONAL = ("boto3", "botocore", "huggingface_hub")
"""Packages that only `modelplane hydrate` needs."""

FINITE = {
    "function.api.tenancy.reserved": "the name of an environment variable",
    "function.cel.language.declarations.types.parse": "types in the declarations of the language",
    "function.cli.completion._outlines": "",
    "function.manifests.definitions.bundle": "charts whose definitions are in the package",
    "function.picture.page._environment": "",
    "function.planning.explanation.naming._words": "",
    "function.podspec.reading._required_of": "names in Kubernetes' schema",
    "function.publish.generate.files": "",
    "function.publish.runbooks.of_conditions": "",
    "function.publish.runbooks.of_rejections": "",
    "function.publish.xrd.schema": "our kinds",
}
"""Functions that keep results without a bound, and what their arguments are: none, or texts that no user chooses."""
_CALLS = 200
_BYTES = 200
"""Of a call, at most, that stay without being in a cache: less than the smallest object that could be kept for it."""


pytestmark = pytest.mark.slow  # all modules are imported


@pytest.fixture(scope="module", autouse=True)
def _all_modules() -> None:
    gc.unfreeze()  # what another test in this process froze would not be found
    for module in pkgutil.walk_packages(function.__path__, "function."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as missing:
            if missing.name not in _OPTIONAL:
                raise


@pytest.fixture(scope="module")
def made() -> Replay:
    return replay.make(Size(4, 8, 60), seed=1)


def test_caches_without_a_bound_are_keyed_by_finite_sets() -> None:
    unbounded = {cache.name for cache in caches.of_functools() if cache.most is None}
    assert unbounded == set(FINITE)


def test_all_other_caches_have_a_bound() -> None:
    found = caches.of_ours()
    assert {"cluster_statuses", "node_shapes", "selector_programs", "selector_costs", "progress"} <= {
        cache.name for cache in found
    }
    assert [cache.name for cache in found if not cache.most] == []


def test_calls_that_never_repeat_leave_nothing_but_entries_of_caches(made: Replay) -> None:
    """Collections of modules, and of objects that they hold, keep their size."""
    calls = variations.varied(made, large=False)
    alone.swallow(islice(calls, _CALLS))
    before = caches.collections()
    alone.swallow(islice(calls, _CALLS))
    after = caches.collections()
    grown = {name: (before.get(name, 0), size) for name, size in after.items() if size > before.get(name, 0)}
    assert grown == {}


def test_the_heap_is_what_it_was_once_the_caches_are_empty(made: Replay) -> None:
    calls = variations.varied(made, large=False)
    alone.swallow(islice(calls, _CALLS))
    before = caches.heap_without()
    alone.swallow(islice(calls, 5 * _CALLS))
    assert caches.heap_without() - before < 5 * _CALLS * _BYTES
