"""What a selector reads of a device, and what it expects of it."""

from __future__ import annotations

import pytest

from function import cel

DEVICE = cel.Device("gpu.example.com", (("arch", "Hopper"), ("other.example.com/tier", 3)), (("memory", "80Gi"),))
ARCH = 'device.attributes["gpu.example.com"].arch'
PATH = ("attributes", "gpu.example.com", "arch")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (f'{ARCH} == "Ada"', ((PATH, ("Ada",)),)),
        (f'"Ada" == {ARCH}', ((PATH, ("Ada",)),)),
        (f'{ARCH} in ["Ada", "Hopper"]', ((PATH, ("Ada", "Hopper")),)),
        ('device.driver == "gpu.example.com"', ((cel.DRIVER, ("gpu.example.com",)),)),
        (f'{ARCH} == "Ada" || {ARCH} == "Hopper"', ((PATH, ("Ada",)), (PATH, ("Hopper",)))),
        (f'{ARCH} != "Ada"', ()),
        (f"{ARCH} in [{ARCH}]", ()),
        ('device.capacity["gpu.example.com"].memory.compareTo(quantity("1Gi")) >= 0', ()),
    ],
)
def test_constants_that_a_value_must_equal_are_expected(text: str, want: tuple[object, ...]) -> None:
    read = [(one.path, tuple(word.text for word in one.values)) for one in cel.reads(text) if one.values]
    assert tuple(read) == want


def test_a_device_is_read_by_the_paths_that_it_publishes() -> None:
    read = {path: cel.published(DEVICE, *path) for path in (*cel.names(DEVICE), cel.DRIVER)}

    assert read == {
        PATH: "Hopper",
        ("attributes", "other.example.com", "tier"): "3",
        ("capacity", "gpu.example.com", "memory"): "80Gi",
        cel.DRIVER: "gpu.example.com",
    }


def test_what_is_not_published_has_no_value() -> None:
    assert cel.published(DEVICE, "capacity", "gpu.example.com", "arch") is None
