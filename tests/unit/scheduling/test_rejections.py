"""Every rejection is in the union, and so in messages, in the reference and in what `explain` suggests."""

import dataclasses
import inspect
from pathlib import Path
from typing import get_args

import pytest

from function.core import NamespacedName
from function.publish import rejections
from function.scheduling import rejection
from function.scheduling.explain import digest
from function.scheduling.job import Job
from function.scheduling.rejection import NEAREST_FIRST, Reason, Rejection
from function.scheduling.suggestion import satisfying

PAGE = Path(__file__).parents[3] / "docs/reference/rejections.md"
CLASSES = [c for _, c in inspect.getmembers(rejection, inspect.isclass) if "detail" in vars(c)]
each_class = pytest.mark.parametrize("class_", CLASSES, ids=lambda class_: class_.__name__)


def _made(class_: type[Reason]) -> Reason:
    """One with facts of the types that its fields have."""
    samples = {"str": "x", "int": 1, "str | None": None, "tuple[str, ...]": ()}
    return class_(**{field.name: samples[str(field.type)] for field in dataclasses.fields(class_)})


def test_the_order_is_that_of_the_union() -> None:
    assert get_args(Reason) == NEAREST_FIRST
    assert len(set(NEAREST_FIRST)) == len(NEAREST_FIRST)


@each_class
def test_a_class_with_a_message_is_in_the_union(class_: type[Reason]) -> None:
    assert class_ in NEAREST_FIRST


@each_class
def test_it_is_in_the_digest_in_the_reference_and_handled_by_suggestions(class_: type[Reason]) -> None:
    reason = _made(class_)
    assert digest([Rejection("berlin", reason)]) == f"1 cluster: 1 {reason}"
    assert (
        f"| [{class_.__name__}](../runbooks/{class_.__name__}.md) | {rejections.meaning(class_)} |" in PAGE.read_text()
    )
    assert reason.detail()
    anything = Job(NamespacedName("ml", "m"), 1, ())
    satisfying(anything, reason)  # asserts that it is never reached by one that it does not know


def test_one_without_a_docstring_is_not_published() -> None:
    @dataclasses.dataclass
    class Undocumented:
        pool: str

    with pytest.raises(ValueError, match="Undocumented has no docstring"):
        rejections.meaning(Undocumented)  # type: ignore[arg-type]
