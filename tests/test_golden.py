"""Every case renders to exactly what it says it does. UPDATE_GOLDEN=1 rewrites what is wanted; then read the diff."""

import os
from pathlib import Path

from tests.support.cases import answer, each_case, load, text


@each_case
def test_renders(case: Path) -> None:
    got = text(answer(case), load(case)[0].observed)

    want = case / "want.yaml"
    if os.environ.get("UPDATE_GOLDEN"):
        want.write_text(got)
    assert got == want.read_text()


@each_case
def test_says_why_it_exists(case: Path) -> None:
    assert (case / "xr.yaml").read_text().startswith("# ")
