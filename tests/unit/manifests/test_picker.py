"""The picker's configuration really splits requests. tests/conformance has a loader read it."""

from __future__ import annotations

from typing import Any

import yaml

from function.manifests import picker

CONFIG: dict[str, Any] = yaml.safe_load(picker.config(block_size=32))


def test_every_plugin_that_is_referred_to_is_there() -> None:
    there = {plugin.get("name", plugin["type"]) for plugin in CONFIG["plugins"]}
    referred = {plugin["pluginRef"] for profile in CONFIG["schedulingProfiles"] for plugin in profile["plugins"]}
    handler = _parameters("disagg-profile-handler")
    assert referred | set(handler["deciders"].values()) <= there
    assert set(handler["profiles"].values()) == {profile["name"] for profile in CONFIG["schedulingProfiles"]}


def test_a_request_is_split_by_what_is_not_cached() -> None:
    """A threshold of 0 would never ask what is cached; one that tunes itself wants metrics that some lack."""
    assert _parameters("prefix-based-pd-decider")["nonCachedTokens"] > 0
    assert _parameters("approx-prefix-cache-producer") == {
        "autoTune": False,
        "blockSizeTokens": 32,
        "maxPrefixTokensToMatch": 131072,
    }


def test_where_all_are_split_nobody_is_asked_what_is_cached() -> None:
    config = yaml.safe_load(picker.config(block_size=1, splits_all=True))
    types = [plugin["type"] for plugin in config["plugins"]]
    [handler] = [plugin for plugin in config["plugins"] if plugin["type"] == "disagg-profile-handler"]
    assert [t for t in types if t.endswith("-decider")] == ["always-disagg-pd-decider"]
    assert handler["parameters"]["deciders"] == {"prefill": "always-disagg-pd-decider"}
    assert types.index("always-disagg-pd-decider") < types.index("disagg-profile-handler")


def test_each_profile_chooses_among_its_own_phase() -> None:
    chosen = {p["name"]: p["plugins"][0]["pluginRef"] for p in CONFIG["schedulingProfiles"]}
    assert chosen == {"prefill": "prefill-filter", "decode": "decode-filter"}


def _parameters(type_: str) -> dict[str, Any]:
    return dict(next(plugin["parameters"] for plugin in CONFIG["plugins"] if plugin["type"] == type_))
