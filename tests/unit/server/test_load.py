"""`make load` at a size at which it takes seconds: what it counts and asserts, and no times."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from function.server.runner import Runner
from tests.load import __main__ as load
from tests.load import alone, memory, replay, report
from tests.load.callers import Answered, Run
from tests.load.day import Size
from tests.load.memory import Sample
from tests.load.replay import Call


@pytest.mark.slow
def test_calls_at_once_are_answered_as_they_are_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Crossplane's calls of all phases, against one and two processes."""
    file, plot = tmp_path / "replay", tmp_path / "memory.svg"
    size = ("--clusters", "3", "--deployments", "6", "--calls", "60", "--file", str(file))
    rest = (
        "--processes",
        "1",
        "2",
        "--rate",
        "50",
        "--parts",
        "replay",
        "memory",
        "--memory-calls",
        "120",
        "--no-large",
        "--plot",
        str(plot),
    )
    assert load.main([*size, *rest]) == 0, capsys.readouterr().out
    calls = replay.calls(replay.load(file))
    assert {"settled", "placed", "scaled up", "rolled out", "cluster lost", "restarted"} <= {c.phase for c in calls}
    assert {"ModelDeployment", "ModelReplica", "ModelEndpoint"} <= {c.kind for c in calls}
    assert ET.parse(plot).getroot().tag.endswith("svg")


@pytest.mark.slow
def test_the_memory_of_a_process_does_not_grow_over_ten_thousand_calls() -> None:
    """Of calls that never repeat: in each, all that users choose is new. Some have 1,000 clusters in the request."""
    found = memory.run(replay.make(Size(4, 8, 60), seed=1), memory.CALLS)
    assert memory.problems(found) == {}, found.samples
    assert found.peak < 2 * 1024


@pytest.mark.slow
def test_a_replay_depends_on_its_size_and_seed_alone() -> None:
    first, again, other = (replay.make(Size(2, 2, 12), seed) for seed in (1, 1, 2))
    assert first == again != other


def test_an_answer_for_another_xr_is_found() -> None:
    """Two calls that differ in their tags alone, which are repeated in answers."""
    calls = [
        Call(i, "settled", "Unknown", fnv1.RunFunctionRequest(meta={"tag": f"t{i}"}).SerializeToString())
        for i in (1, 2)
    ]
    known = alone.answers(calls)
    first = Runner(workers=1).answer(calls[0].data)
    mixed = Run([Answered(call, 0.1, first) for call in calls], 1.0)
    assert report.wrong(mixed, known) == {"another answer than alone: Unknown, settled": 1}


@pytest.mark.parametrize(
    ("per_call", "jump", "wrong"),
    [(0.0, 0.0, 0), (0.0, 2.0, 0), (0.006, 0.0, 1), (0.01, 0.0, 2), (0.0, 100.0, 2)],
)
def test_growth_is_found(per_call: float, jump: float, wrong: int) -> None:
    """MiB of the heap for each call, and once in the last third."""
    samples = [Sample(n, 100.0, 50 + n * per_call + (jump if n > 6_500 else 0)) for n in range(0, 10_001, 100)]
    found = memory.Run(samples, 100.0, Counter({"usual: OK": 10_000}))
    assert len(memory.problems(found)) == wrong
