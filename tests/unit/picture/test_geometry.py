"""The geometry of a picture: cards, their places in each layout, and the ways of arrows."""

from __future__ import annotations

import itertools
import re

import pytest

from function import picture
from function.picture import composition, layout, shapes, text
from function.picture.composition import Picture
from tests.support import pictures

FLEETS = {
    "moving": pictures.moving,
    "states": pictures.states,
    "hostile": pictures.hostile,
    "large": lambda: pictures.large(300),
}


def found(name: str) -> Picture:
    return composition.picture(picture.of_plan(FLEETS[name]()))


@pytest.mark.parametrize("name", FLEETS)
def test_no_card_overlaps_another_or_leaves_the_page(name: str) -> None:
    got = found(name)
    for placed in got.layouts:
        boxes = [
            (x, y, x + shapes.WIDTH, y + card.height) for (x, y), card in zip(placed.cards, got.cards, strict=True)
        ]

        assert all(left >= 0 and right <= placed.width and low <= placed.height for left, _, right, low in boxes)
        assert not [pair for pair in itertools.combinations(boxes, 2) if overlap(*pair)]


def overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.mark.slow
@pytest.mark.parametrize("name", FLEETS)
def test_everything_on_a_card_is_inside_it_and_nothing_overlaps(name: str) -> None:
    for card in found(name).cards:
        boxes = [(i.box.x, i.box.y, i.box.x + i.box.width, i.box.y + i.box.height) for i in card.items]

        assert all(left > 0 and right < shapes.WIDTH and low < card.height for left, _, right, low in boxes)
        assert not [pair for pair in itertools.combinations(boxes, 2) if overlap(*pair)]


def test_regions_share_a_row_as_long_as_there_are_columns() -> None:
    got = found("moving")

    heads = {placed.columns: [(h.x, h.y) for h in placed.headings] for placed in got.layouts}
    assert [block.name for block in got.blocks] == ["eu", "us"]
    assert heads[2] == heads[3] == [(0, 0), (shapes.WIDTH + layout.GAP, 0)]
    assert heads[1][1][1] > heads[1][0][1]


def test_an_arrow_leads_from_the_old_replica_to_the_new_one_in_each_layout() -> None:
    got = found("moving")
    for placed, ways in zip(got.layouts, got.arrows, strict=True):
        [arrow] = ways
        source, target = (
            lower_edge(got, placed, side, f"ml-team/chat-{n}") for side, n in (("before", 1), ("after", 2))
        )

        assert arrow.start == source
        assert (arrow.end[0], round(arrow.end[1] - target[1], 1)) == (target[0], 2.0)


def lower_edge(got: Picture, placed: layout.Layout, side: str, replica: str) -> tuple[float, float]:
    for (x, y), card in zip(placed.cards, got.cards, strict=True):
        for (one, name, _), box in card.ends.items():
            if (one, name) == (side, replica):
                return x + box.x + box.width / 2, y + box.y + box.height
    raise AssertionError(replica)


def test_a_replica_that_is_lost_is_marked_where_it_was() -> None:
    slots = [slot for card in found("moving").cards for item in card.items for slot in item.slots]

    assert sorted((slot.side, slot.tone) for slot in slots) == [("after", ""), ("before", ""), ("before", "loss")]


@pytest.mark.slow
def test_a_large_pool_is_a_bar_of_few_parts() -> None:
    many = [pictures.occupant(f"ml/model-{n}", f"model-{n}", pods=n + 1) for n in range(30)]
    data = pictures.plan(None, [pictures.cluster("big", pictures.pool("l4", 1_000, *many))])
    [card] = composition.picture(picture.of_plan(data)).cards

    assert {item.kind for item in card.items} == {"bar"}
    assert len(card.items) < 15
    assert max(item.box.x + item.box.width for item in card.items) < shapes.WIDTH


def test_a_large_fleet_is_folded_except_where_something_happens() -> None:
    got = found("large")
    opened = {name for card in got.cards if len(card.clusters) == 1 for name in card.clusters}

    assert {f"cluster-{n:04}" for n in (0, 8, 16, 9, 17, 25, 5)} <= opened
    assert sum(len(card.clusters) for card in got.cards) == 300
    assert len(opened) <= composition.MOST_TOUCHED


@pytest.mark.slow
def test_a_fleet_that_is_larger_than_a_page_is_cut_and_what_happens_is_kept() -> None:
    got = composition.picture(picture.of_plan(pictures.large(composition.MOST_CLUSTERS + 50)))

    assert got.left_out == 50
    assert len(got.arrows[0]) == 3


def test_numbers_count_the_deployments_that_are_drawn() -> None:
    assert [mark.number for mark in found("moving").marks.values()] == [1, 2]


# Text


@pytest.mark.parametrize("given", ["short", "a" * 300, "名" * 40, "<&>" * 50, "", "x\u202ey"])
def test_a_name_is_cut_in_its_middle_to_the_room_that_it_has(given: str) -> None:
    shown = text.name(given, 120, 14)

    assert text.width(shown, 14) <= 120
    assert "\u202e" not in shown
    assert shown[:1] == given[:1]


def test_a_sentence_is_cut_at_its_end() -> None:
    shown = text.lines("one two three four five six seven eight nine ten", 80, 12, 2)

    assert len(shown) == 2
    assert shown[1].endswith("…")
    assert all(text.width(line, 12) <= 80 for line in shown)


def test_the_style_places_every_card_in_every_layout() -> None:
    html = picture.render(picture.of_plan(pictures.moving()))

    assert len(re.findall(r"#c0\{transform", html)) == len(layout.COLUMNS)
