"""The page as a file: what it may load, how it escapes, that it is stable, and its colours."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from html.parser import HTMLParser
from importlib import resources

import pytest

from function import picture
from function.picture import palette
from tests.support import pictures

STYLE = (resources.files("function.picture") / "templates/style.css").read_text()


def render(data: pictures.Data) -> str:
    return picture.render(picture.of_plan(data))


def test_the_same_input_gives_the_same_bytes() -> None:
    assert render(pictures.moving()) == render(pictures.moving())


def test_a_page_may_load_nothing_and_runs_only_its_own_script() -> None:
    html = render(pictures.moving())
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    [script] = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)

    told = dict(part.split(" ", 1) for part in policy.split("; "))
    assert told == {
        "default-src": "'none'",
        "style-src": digest(style),
        "script-src": digest(script),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert re.findall(r"""(?:src|href)=["'](?!#)|url\((?!#)|@import|https?://(?!www\.w3\.org/)""", html) == []


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class Elements(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


def test_hostile_names_add_no_element_and_no_attribute() -> None:
    got, harmless = Elements(), Elements()
    got.feed(render(pictures.hostile()))
    for harmless_data in (pictures.states(), pictures.moving()):
        harmless.feed(render(harmless_data))

    assert {tag for tag, _ in got.found} - {tag for tag, _ in harmless.found} <= {"b"}
    assert [name for _, names in got.found for name in names if name.startswith("on")] == []
    assert sum(tag == "script" for tag, _ in got.found) == 2


def test_what_may_be_secret_is_not_shown() -> None:
    html = render(pictures.hostile())

    assert "hunter2" not in html
    assert "(sensitive)" in html


def test_the_data_of_the_details_survives_as_json() -> None:
    [data] = re.findall(r'id="data">(.*?)</script>', render(pictures.hostile()), re.DOTALL)

    assert "<img src=x" in json.dumps(json.loads(data))


def test_a_fleet_of_nothing_is_a_page() -> None:
    assert "Nothing is lost, and nothing waits." in render(pictures.plan([], []))


# Colours


def colours(selector: str) -> dict[str, str]:
    block = STYLE[STYLE.index(selector) :].partition("}")[0]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


THEMES = {"light": colours(":root {"), "dark": colours(':root[data-theme="dark"]')}


def channels(colour: str) -> list[float]:
    values = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


def contrast(a: str, b: str) -> float:
    """WCAG 2.2, "contrast ratio"."""
    first, second = (sum(w * v for w, v in zip((0.2126, 0.7152, 0.0722), channels(c), strict=True)) for c in (a, b))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_text_has_enough_contrast(theme: str) -> None:
    has = THEMES[theme]
    pairs = [(has[f"t{n}"], has[f"d{n}"]) for n in range(palette.COLOURS)]
    pairs += [(has[ink], has[ground]) for ink in ("ink", "soft") for ground in ("page", "card", "faint")]
    pairs += [(has[name], has[ground]) for name in ("loss", "wait", "good") for ground in ("card", f"{name}-soft")]

    assert [pair for pair in pairs if contrast(*pair) < 4.5] == []


@pytest.mark.parametrize("theme", THEMES)
def test_graphics_have_enough_contrast(theme: str) -> None:
    has = THEMES[theme]
    names = [f"d{n}" for n in range(palette.COLOURS)] + ["others", "edge", "accent", "loss"]

    assert [name for name in names if contrast(has[name], has["card"]) < 3] == []


def test_the_theme_of_the_system_is_the_dark_one() -> None:
    media = STYLE[STYLE.index("@media screen and (prefers-color-scheme: dark)") :]

    assert dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", media.partition("}")[0])) == THEMES["dark"]


BLINDNESS = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
}
"""Machado, Oliveira and Fernandes 2009, severity 1.0: linear RGB."""


def lab(colour: str, matrix: tuple[tuple[float, ...], ...]) -> tuple[float, float, float]:
    """OKLab of a colour as it is seen (bottosson.github.io, "A perceptual color space")."""
    r, g, b = (min(1.0, max(0.0, sum(w * v for w, v in zip(row, channels(colour), strict=True)))) for row in matrix)
    long, middle, short = (
        (x * r + y * g + z * b) ** (1 / 3)
        for x, y, z in (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        )
    )
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("theme", THEMES)
def test_colours_of_deployments_differ_for_every_eye(theme: str, blindness: str) -> None:
    seen = {n: lab(THEMES[theme][f"d{n}"], BLINDNESS[blindness]) for n in range(palette.COLOURS)}
    near = [
        (a, b, round(sum((x - y) ** 2 for x, y in zip(seen[a], seen[b], strict=True)) ** 0.5, 3))
        for a, b in itertools.combinations(seen, 2)
    ]

    assert [pair for pair in near if pair[2] < 0.05] == []


def test_a_deployment_keeps_its_colour_when_another_comes() -> None:
    few = palette.marks(["ml/chat", "ml/search"])
    more = palette.marks(["ml/chat", "ml/search", "zz/last"])

    assert [few[name].colour for name in few] == [more[name].colour for name in few]


def test_deployments_have_different_colours_as_long_as_there_are_some_and_numbers_always() -> None:
    got = palette.marks(f"ml/model-{n}" for n in range(3 * palette.COLOURS))

    assert len({mark.number for mark in got.values()}) == 3 * palette.COLOURS
    assert {mark.colour for mark in list(got.values())[: palette.COLOURS]} == set(range(palette.COLOURS))
