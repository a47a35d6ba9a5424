"""Who may call a service, how much, and what is recorded of it: the parts that its front gets for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from function.manifests.envoy import callers, limits, usage
from function.manifests.envoy.callers import Callers
from function.vocabulary.settings import Server


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a service says of its callers and of their usage."""

    callers: Callers | None = None
    """None if requests are not authenticated."""
    server: Server | None = None
    """The server that counts tokens of callers with limits. None if nothing is limited."""
    logged: str | None = None
    """The name of the service in a line for each request. None if there are no lines."""

    @property
    def is_limited(self) -> bool:
        return bool(self.server and self.callers and self.callers.units)

    @property
    def is_counted(self) -> bool:
        """Whether tokens are counted."""
        return self.is_limited or self.logged is not None

    @property
    def before(self) -> list[dict[str, Any]]:
        """The filters before the one that reads a request's body."""
        return [callers.listener_filter()] if self.callers else []

    @property
    def behind(self) -> list[dict[str, Any]]:
        """The filters behind the one that reads a request's body."""
        limiter = [limits.limiter(self.callers.units)] if self.callers and self.is_limited else []
        return [*limiter, *(usage.filters() if self.is_counted else ())]

    @property
    def replies(self) -> list[dict[str, Any]]:
        return [limits.reply()] if self.is_limited else []

    def logs(self, model: str) -> dict[str, Any]:
        """Return the fields of the connection manager that write lines. `model` is the header with the model."""
        return {"access_log": [usage.log(self.logged, model)]} if self.logged else {}

    @property
    def routes(self) -> dict[str, Any]:
        """The fields of the routes' configuration."""
        known: Mapping[str, Any] = callers.route_config(self.callers) if self.callers else {}
        return {
            **({"typed_per_filter_config": known} if known else {}),
            **({"request_headers_to_remove": [*usage.UNREADABLE]} if self.is_counted else {}),
        }

    @property
    def guards(self) -> list[dict[str, Any]]:
        """The routes before all others."""
        return [callers.guard()] if self.callers and self.callers.required else []

    @property
    def clusters(self) -> list[dict[str, Any]]:
        return [limits.cluster(self.server)] if self.server and self.is_limited else []


OPEN = Access()
"""Anybody may call, and nothing is recorded."""
