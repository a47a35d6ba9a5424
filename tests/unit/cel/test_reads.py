"""What a selector reads from a device, where, and with which values it compares it."""

from __future__ import annotations

import pytest

from function.cel import Read, reads

GPU = 'device.attributes["gpu.nvidia.com"]'


def told(text: str) -> list[tuple[str, str, str, tuple[str, ...], bool]]:
    return [(*read.path, tuple(value.text for value in read.values), read.is_certain) for read in reads(text)]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("true", []),
        ('device.driver == "gpu.nvidia.com"', [("driver", "", "", ("gpu.nvidia.com",), True)]),
        ('"x" == device.driver', [("driver", "", "", ("x",), True)]),
        (f'{GPU}.architecture == "Hopper"', [("attributes", "gpu.nvidia.com", "architecture", ("Hopper",), True)]),
        (f'{GPU}["architecture"] in ["A", "B"]',
         [("attributes", "gpu.nvidia.com", "architecture", ("A", "B"), True)]),
        (f'{GPU}.architecture in ["A", {GPU}.b]',
         [("attributes", "gpu.nvidia.com", "architecture", (), True), ("attributes", "gpu.nvidia.com", "b", (), True)]),
        (f'{GPU}.architecture != "Hopper"', [("attributes", "gpu.nvidia.com", "architecture", (), True)]),
        (f"{GPU}.index == 3", [("attributes", "gpu.nvidia.com", "index", (), True)]),
        ("device.capacity.gpu.memory.isGreaterThan(quantity('1'))", [("capacity", "gpu", "memory", (), True)]),
        (f'{GPU}.a == "1" && ({GPU}.b == "2" || {GPU}.c == "3")',
         [("attributes", "gpu.nvidia.com", "a", ("1",), True), ("attributes", "gpu.nvidia.com", "b", ("2",), False),
          ("attributes", "gpu.nvidia.com", "c", ("3",), False)]),
        (f'!({GPU}.a == "1")', [("attributes", "gpu.nvidia.com", "a", ("1",), False)]),
        (f'{GPU}.a == "1" ? true : false', [("attributes", "gpu.nvidia.com", "a", ("1",), False)]),
        (f'["1"].exists(x, {GPU}.a == x)', [("attributes", "gpu.nvidia.com", "a", (), False)]),
        (f'has({GPU}.a) && {GPU}.a == "1"', []),
        (f'"a" in {GPU} && {GPU}.a == "1"', []),
        (f'{GPU}.?a.orValue("x") == "1"', []),
    ],
)  # fmt: skip
def test_reads_are_found_with_what_they_are_compared_with(text: str, want: list[object]) -> None:
    assert told(text) == want


def test_names_and_values_have_their_places() -> None:
    text = f'true &&\n  {GPU}.architecture == "Hopper"'
    (read,) = reads(text)

    assert isinstance(read, Read)
    assert [text[word.at :].startswith(start) for word, start in (
        (read.domain, '"gpu.nvidia.com"'), (read.name, "architecture"), (read.values[0], '"Hopper"'),
    ) if word] == [True] * 3  # fmt: skip
