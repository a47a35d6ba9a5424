"""The pages of `--html` in a browser: what they load, how they look, and how they are used without a mouse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import WIDTHS, Opened

NAMES = ("plan", "what-if", "drain", "n-1", "explain", "shared", "large", "states", "hostile")
Visit = Callable[..., Opened]

MOST_ELEMENTS, MOST_BYTES = 15_000, 1_000_000
"""Of the page of 1,000 clusters."""

OVERLAPS = """() => {
  const isShown = text => text.textContent.trim() && getComputedStyle(text).visibility === 'visible';
  const shown = [...document.querySelectorAll('#map text')].filter(isShown);
  const boxes = shown.map(t => [t.textContent, t.getBoundingClientRect()]);
  const found = [];
  boxes.forEach(([a, x], i) => boxes.slice(i + 1).forEach(([b, y]) => {
    const wide = Math.min(x.right, y.right) - Math.max(x.left, y.left);
    const high = Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top);
    if (wide > 0.5 && high > 3) found.push(`${a} | ${b}`);
  }));
  return found;
}"""
OUTSIDE = """() => [...document.querySelectorAll('.card')].flatMap(card => {
  const frame = card.querySelector('.frame').getBoundingClientRect();
  const leaves = box => box.left < frame.left || box.right > frame.right || box.top < frame.top
    || box.bottom > frame.bottom;
  return [...card.querySelectorAll('text, .base')].filter(one => leaves(one.getBoundingClientRect()))
    .map(one => one.textContent);
})"""
ARROWS = """() => [...document.querySelectorAll('.arrows')].filter(g => getComputedStyle(g).display !== 'none')
  .flatMap(g => [...g.querySelectorAll('.arrow')].map(path => {
    const at = length => {
      const point = path.getPointAtLength(length).matrixTransform(path.getScreenCTM());
      return [point.x, point.y];
    };
    return [at(0), at(path.getTotalLength())];
  }))"""
BOXES = """label => [...document.querySelectorAll('#map .item')].filter(i => i.ariaLabel.includes(label)).map(i => {
  const b = i.querySelector('.base').getBoundingClientRect();
  return [b.left, b.top, b.right, b.bottom];
})"""


def active(page: Page) -> str:
    return str(page.evaluate("document.activeElement.ariaLabel || document.activeElement.id"))


def violations(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html'][:160]}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("name", NAMES)
def test_no_request_leaves_a_page_and_nothing_goes_wrong(visit: Visit, pages: dict[str, Path], name: str) -> None:
    got = visit(name)

    assert (got.requests, got.said) == ([pages[name].as_uri()], [])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_no_label_covers_another_or_leaves_its_card_and_no_page_its_window(visit: Visit, name: str, width: int) -> None:
    page = visit(name, width).page

    assert (page.evaluate(OVERLAPS), page.evaluate(OUTSIDE)) == ([], [])
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_accessible_with_everything_open(visit: Visit, name: str, scheme: str) -> None:
    page = visit(name, scheme=scheme).page
    assert violations(page) == []

    page.locator("summary").click()
    page.locator("#map .item").first.click()
    assert violations(page) == []


# Without a mouse


def test_one_node_is_in_the_order_of_the_tab_key_and_arrows_go_to_its_neighbours(visit: Visit) -> None:
    page = visit("plan").page
    page.locator("#map .item[tabindex='0']").focus()
    seen = [active(page)]
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home"):
        page.keyboard.press(key)
        seen.append(active(page))

    where = [" ".join(label.split()[:8]) for label in seen]
    assert where == [
        "europe, pool a100, Node 1 of 3: State",
        "europe, pool a100, Node 2 of 3: State",
        "europe, pool a100, Node 3 of 3: State",
        "starter, pool l4, Node 1 of 2: State",
        "europe, pool a100, Node 3 of 3: State",
        "virginia, pool a100, Node 2 of 2: State",
        "europe, pool a100, Node 1 of 3: State",
    ]
    assert page.locator("#map .item[tabindex='0']").count() == 1


def test_enter_opens_the_details_and_escape_returns_to_the_node(visit: Visit) -> None:
    page = visit("what-if").page
    page.locator("#map .item").nth(2).focus()
    page.keyboard.press("Enter")
    opened = active(page), page.locator("#panel").inner_text()
    page.keyboard.press("Escape")

    assert opened[0] == "panel"
    assert "moves to virginia" in opened[1]
    assert "gke-a100-8x-a2" in opened[1]
    assert active(page).startswith("europe, pool a100, Node 3 of 3")
    assert page.locator("#panel").is_hidden()


def test_hover_names_a_node(visit: Visit) -> None:
    page = visit("plan").page
    page.locator("#map .item").nth(3).hover()

    assert "starter, pool l4, Node 1 of 2: State ready; Taken by ml-team/qwen3-8b" in page.locator("#tip").inner_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("qwen3-235b", "2 nodes found"),
        ("VIRGINIA", "2 nodes, 1 note found"),
        ("us-central", "2 nodes found"),
        ("gke-l4", "2 nodes found"),
        ("NoDevice", "1 note found"),
        ("nonsense", "Nothing found"),
        ("", ""),
    ],
)
def test_search_announces_what_it_finds(visit: Visit, words: str, told: str) -> None:
    page = visit("plan").page
    page.keyboard.press("/")
    page.keyboard.type(words)

    found = page.locator("#found")
    assert (found.inner_text(), found.get_attribute("role")) == (told, "status")


def test_search_dims_the_rest_and_escape_ends_it(visit: Visit) -> None:
    page = visit("plan").page
    page.locator("#search").fill("virginia")
    hits = page.locator(".item.hit").count(), page.locator("tbody tr:not([hidden])").count()
    page.keyboard.press("Escape")

    assert (hits, page.locator(".searching, .hit").count()) == ((2, 1), 0)


def test_a_deployment_of_the_legend_is_searched_with_one_key(visit: Visit) -> None:
    page = visit("plan").page
    chip = page.locator(".chip", has_text="ml-team/qwen3-32b")
    chip.focus()
    page.keyboard.press("Enter")

    assert (page.locator("#found").inner_text(), chip.get_attribute("aria-pressed")) == ("2 nodes found", "true")


def test_the_theme_can_be_chosen(visit: Visit) -> None:
    page = visit("plan").page
    seen = [page.evaluate("getComputedStyle(document.body).backgroundColor")]
    for _ in ("light", "dark", "system"):
        page.locator("#theme").click()
        seen.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light, dark = seen[0], seen[2]
    assert (seen, light != dark) == ([light, light, dark, light], True)


# Before and after


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("what-if", [("moves to virginia", "comes from europe")]),
        ("drain", [("moves to oregon", "from iowa"), ("moves to taiwan", "from iowa")]),
        ("large", [(f"moves to cluster-{t:04}", f"from cluster-{s:04}") for s, t in ((0, 9), (8, 17), (16, 25))]),
    ],
)
def test_arrows_lead_from_where_a_replica_was_to_where_it_is(
    visit: Visit, name: str, width: int, moves: list[tuple[str, str]]
) -> None:
    page = visit(name, width).page
    arrows = page.evaluate(ARROWS)

    assert len(arrows) == len(moves)
    for (start, end), (source, target) in zip(arrows, moves, strict=True):
        assert any(touches(start, box) for box in page.evaluate(BOXES, source)), source
        assert any(touches(end, box) for box in page.evaluate(BOXES, target)), target


def touches(point: list[float], box: list[float]) -> bool:
    """Whether a point is at the lower edge of a box."""
    return box[0] <= point[0] <= box[2] and abs(point[1] - box[3]) <= 4


def test_before_and_after_can_be_seen_alone(visit: Visit) -> None:
    page = visit("what-if").page
    seen = {}
    for view in ("Before", "Change", "After"):
        page.get_by_text(view, exact=True).first.click()
        sides = (".card .before", ".card .after", ".a3 .arrow")
        seen[view] = [page.locator(side).first.is_visible() for side in sides]

    assert seen == {"Before": [True, False, False], "Change": [True, True, True], "After": [False, True, False]}


def test_a_loss_is_red_and_crossed_out(visit: Visit) -> None:
    page = visit("what-if").page
    lost = page.locator(".card .loss")

    assert (lost.count(), lost.locator(".cross").count()) == (2, 2)
    assert lost.first.locator(".cross").evaluate("e => getComputedStyle(e).stroke") == "rgb(184, 15, 42)"


# Other readers


@pytest.mark.parametrize("name", NAMES)
def test_a_page_works_without_scripts(visit: Visit, name: str) -> None:
    page = visit(name, script=False).page
    page.locator("summary").click()

    assert page.locator("#map .item").first.is_visible()
    assert page.locator("tbody tr").first.is_visible()
    assert not page.locator("#search").is_visible()


def test_paper_gets_light_colours_and_no_controls(visit: Visit) -> None:
    page = visit("what-if", 800, scheme="dark").page
    page.emulate_media(media="print")

    assert not page.locator("#search").is_visible()
    assert page.locator("#map .frame").first.evaluate("e => getComputedStyle(e).fill") == "rgb(255, 255, 255)"


def test_the_page_of_a_thousand_clusters_is_bounded(visit: Visit, pages: dict[str, Path]) -> None:
    page = visit("large").page

    assert page.locator("#map .square").count() == 1_000 - 7
    assert page.evaluate("document.querySelectorAll('*').length") < MOST_ELEMENTS
    assert pages["large"].stat().st_size < MOST_BYTES


def test_every_folded_cluster_can_be_found_and_opened(visit: Visit) -> None:
    page = visit("large").page
    page.locator("#search").fill("cluster-0777")
    told = page.locator("#found").inner_text()
    page.locator(".square.hit").click()

    assert told == "1 folded cluster found"
    assert "team-0/model-" in page.locator("#panel").inner_text()


def test_hostile_names_are_text(visit: Visit) -> None:
    got = visit("hostile")
    page = got.page
    page.locator("summary").click()
    page.locator("#map .item").first.click()

    assert page.evaluate("window.hacked") is None
    assert page.locator("img, iframe, script:not([type]) ~ script, a[href^=javascript]").count() == 0
    assert "<img src=x" in page.locator("#panel").inner_text()
    assert (len(got.requests), got.said) == (1, [])


def test_states_are_told_apart_without_colours(visit: Visit) -> None:
    """Each has another form: a sign, a pattern or a kind of line."""
    page = visit("states").page
    forms = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.legend .state')].map(li => {
          const shapes = [...li.querySelectorAll('svg *')].filter(e => !e.closest('pattern')).map(e => {
            const style = getComputedStyle(e);
            return [
              e.tagName, e.getAttribute('d'), e.textContent, style.strokeDasharray, style.fill === 'none',
              style.fill.startsWith('url') && style.fill,
            ];
          });
          return [li.lastChild.textContent.trim(), JSON.stringify(shapes)];
        }))"""
    )

    assert set(forms) == {
        "cordoned", "not ready", "tainted", "state not known", "not there yet", "no such node", "node removed",
        "reserved by others", "does not serve",
    }  # fmt: skip
    assert len({*forms.values()}) == len(forms)
