"""The configurations that we write for pickers, judged by the loader and the plugins of llm-d's router (`picker/`)."""

from __future__ import annotations

import os
from typing import Any

import pytest

from function.core import dig
from function.manifests import picker
from tests.conformance import programs
from tests.support import cases

pytestmark = pytest.mark.slow

SCORERS = ["prefix-cache-scorer*3", "queue-scorer*2", "kv-cache-utilization-scorer*2"]
GOOD = picker.config(block_size=16)
BAD = {
    "another group": ("llm-d.ai/", "example.org/", "no kind"),
    "another version": ("/v1alpha1", "/v1beta7", "no kind"),
    "an unknown field": ("\nplugins:", "\nplugin: x\nplugins:", 'unknown field "plugin"'),
    "an unknown plugin": ("type: queue-scorer", "type: queue-scorers", "'queue-scorers' is not registered"),
    "a plugin that is there twice": ("type: queue-scorer", "type: prefix-cache-scorer", "duplicate plugin name"),
    "a parameter that a plugin does not know": ("autoTune:", "autotuning:", 'unknown field "autotuning"'),
    "a parameter of another type": ("autoTune: false", "autoTune: 1", "cannot unmarshal number"),
    "blocks of no size": ("blockSizeTokens: 16", "blockSizeTokens: 0", "must be > 0 when AutoTune is disabled"),
    "a threshold that never splits": ("nonCachedTokens: 256", "nonCachedTokens: 0", "never disaggregates"),
    "a decider that is not there": ("deciders: {prefill: ", "deciders: {prefill: other-", "plugin not found"),
    "a reference to nothing": ("pluginRef: decode-filter", "pluginRef: other", "references undefined plugin 'other'"),
    "a weight that is no number": ("weight: 3", "weight: much", "cannot unmarshal string"),
    "a profile that is not there": ("decode: decode", "decode: other", 'profile "other" for decode is not there'),
    "a profile that is there twice": ("- name: decode", "- name: prefill", "duplicate name 'prefill'"),
    "no handler": ("type: disagg-profile-handler", "type: prefill-filter\n  name: x", "no profile handler configured"),
}
"""By what is wrong: what is replaced in a good configuration, by what, and what the loader says."""


@pytest.fixture(autouse=True)
def _go() -> None:
    if not programs.is_buildable():
        assert "CI" not in os.environ, "Go is wanted where this must run"
        pytest.skip("there is no Go to build the loader with")


def test_every_configuration_of_a_golden_case_loads_and_chooses_by_phase(record_property: Any) -> None:
    """Each profile has its own filter, the three scorers by their weights, and what takes the best."""
    found = {path.name: text for path in cases.CASES for text in _configurations(path)}
    verdicts = programs.answers("picker", ({"config": text} for text in found.values()))
    got = dict(zip(found, verdicts, strict=True))
    record_property("configurations of pickers loaded", len(got))
    assert len(got) >= 3
    assert got == dict.fromkeys(found, _loaded())


def test_any_size_of_blocks_loads_with_either_decider() -> None:
    sizes = [1, 16, 32, 64, 128, 256, 544, 999999]
    texts = [picker.config(block_size=size, splits_all=always) for size in sizes for always in (False, True)]
    got = programs.answers("picker", ({"config": text} for text in texts))
    assert got == [_loaded()] * len(texts)


def test_a_configuration_with_a_mistake_is_refused() -> None:
    """Otherwise the checks above would show nothing."""
    texts = {name: GOOD.replace(old, new, 1) for name, (old, new, _) in BAD.items()}
    got = dict(zip(texts, programs.answers("picker", ({"config": text} for text in texts.values())), strict=True))
    assert not [name for name, verdict in got.items() if verdict["loaded"]]
    assert not {name: got[name]["why"] for name, (_, _, why) in BAD.items() if why not in got[name]["why"]}


def _loaded() -> dict[str, Any]:
    profiles = {phase: [f"{phase}-filter", *SCORERS, "max-score-picker"] for phase in ("prefill", "decode")}
    return {"loaded": True, "profiles": profiles}


def _configurations(case: Any) -> list[str]:
    composed = cases.answer(case).resources.values()
    carried = (dig(resource.manifest, "spec", "forProvider", "manifest") for resource in composed)
    maps = (manifest for manifest in carried if dig(manifest, "kind") == "ConfigMap")
    return [text for one in maps for text in one.get("data", {}).values() if "kind: EndpointPickerConfig" in text]
