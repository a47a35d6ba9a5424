"""A ModelCaller, reconciled by a real Crossplane: its keys are published, and it goes when it is deleted.

What a caller may do is in test_callers.py, with published keys.
"""

import functools

from tests.e2e import objects
from tests.e2e.control import Control
from tests.e2e.kube import says
from tests.e2e.waiting import until


def test_a_caller_publishes_its_keys_and_goes(crossplane: Control) -> None:
    api, key = crossplane.api, {"name": "eval-key", "key": "api-key"}
    caller = objects.of("ModelCaller", "eval", objects.TEAM, keys=[{"secretRef": key}])
    look = functools.partial(api.current, caller)

    api.apply(caller)
    until(look, "ModelCaller eval to be Ready", holds=lambda seen: says(seen, "Ready"))
    assert api.get(objects.GROUP, "ModelCaller", "eval", objects.TEAM)["status"]["keys"] == [
        {"secretName": key["name"], "key": key["key"]}
    ]

    api.delete(caller)
    until(look, "ModelCaller eval to be gone", holds=lambda seen: seen is None)
