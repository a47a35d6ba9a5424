"""When a request to a service is sent to another endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from function.manifests.envoy import local_replies
from function.manifests.envoy.endpoint import Endpoint
from function.manifests.envoy.front import Front
from function.manifests.envoy.language import typed

_UNSENT = "retriable-headers,connect-failure,refused-stream"
"""By header, what a listener could not send; by the other two, what did not reach a listener that is being replaced."""


def unsent(served: Front, members: Sequence[Endpoint], **more: Any) -> dict[str, Any]:
    """Return the policy for any request: repeat it where no endpoint saw it.

    There are no more retries than other endpoints, because Envoy would ask the same ones again.
    """
    return {
        "retry_on": _UNSENT,
        "retriable_headers": [{"name": local_replies.UNSENT, "present_match": True}],
        "num_retries": min(served.retry.attempts, max(len(members) - 1, 1)),
        "retry_priority": typed(
            "envoy.retry_priorities.previous_priorities",
            "extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig",
            update_frequency=_tries_of_a_priority(served, members),
        ),
        "retry_host_predicate": [
            typed(
                "envoy.retry_host_predicates.previous_hosts",
                "extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate",
            )
        ],
        "host_selection_retry_max_attempts": 5,
        "retry_back_off": {"base_interval": "0.025s", "max_interval": "0.25s"},
        **more,
    }


def _tries_of_a_priority(served: Front, members: Sequence[Endpoint]) -> int:
    """Return how many endpoints of a priority are tried before the next: two, if there are two and it is not the last.

    The next priority may cost money where another replica costs none. It gets at least one of the tries.
    """
    first = [one for one in members if one.priority == min(other.priority for other in members)]
    return 2 if len(first) > 1 and served.retry.attempts > 1 else 1


def repeated(served: Front, members: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the policy for requests that may be repeated although an endpoint saw them.

    `reset` makes Envoy repeat what did not answer in time. An endpoint that throttles is not asked again at once: with
    no other, the client gets its answer.
    """
    retry = served.retry
    asked = set(retry.statuses)
    statuses = sorted(asked if len(members) > 1 else asked - {_THROTTLED})
    on = [
        _UNSENT,
        *(["5xx"] if retry.on_5xx else []),
        *(["retriable-status-codes"] if statuses else []),
        *(["reset"] if retry.per_try else []),
    ]
    marks = [local_replies.UNSENT, *([local_replies.RESET] if retry.on_reset else [])]
    return unsent(
        served,
        members,
        retry_on=",".join(on),
        retriable_headers=[{"name": mark, "present_match": True} for mark in marks],
        **({"retriable_status_codes": statuses} if statuses else {}),
        **({"per_try_timeout": retry.per_try} if retry.per_try else {}),
    )


_THROTTLED = 429
