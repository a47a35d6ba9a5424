"""Who calls: the filter of a service's front that knows callers by the API keys of mounted Secrets.

A script reads the keys, so that a key is admitted, and refused, a second after its file changes. It is part of the
routes, so that callers come and go without a new listener. The listener's own script, which runs without that part,
admits nobody.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from function.manifests.envoy.language import JSON_ANSWER, TYPES
from function.manifests.envoy.scripts import KEY_OF, lua, quoted

CALLER = "x-mp-caller"
"""Header with the name of the caller, for the listeners behind the front."""
METADATA = "mp"
"""Namespace of the dynamic metadata of a request: its caller and its tokens."""
LIMITS = "mp.limits"
"""Namespace of the dynamic metadata with the limits of the caller, by unit of time."""
_FILTER = "modelplane.callers"
_UNITS = {"Minute": "MINUTE", "Hour": "HOUR", "Day": "DAY"}
"""Units of time, as Envoy names them (envoy.type.v3.RateLimitUnit)."""


@dataclass(frozen=True, slots=True)
class Limit:
    tokens: int
    per: str
    """Minute, Hour or Day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A caller, and the files that hold its keys."""

    name: str
    files: tuple[str, ...]
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Callers:
    """Who may call a service."""

    namespace: str
    """Of the service and of its callers."""
    required: bool
    """Whether requests without a caller's key are refused. Otherwise they pass as they are."""
    callers: tuple[Caller, ...]

    @property
    def units(self) -> tuple[str, ...]:
        """The units of time of their limits, the shortest first."""
        used = {limit.per for one in self.callers for limit in one.limits}
        return tuple(unit for unit in _UNITS if unit in used)


def listener_filter() -> dict[str, Any]:
    """Return the filter of the listener."""
    return lua(_FILTER, _REFUSE + "function envoy_on_request(handle)\n  refuse(handle)\nend\n")


def route_config(known: Callers) -> dict[str, Any]:
    """Return the part of the routes that says who the callers are, by the name of the filter."""
    type_ = f"{TYPES}.extensions.filters.http.lua.v3.LuaPerRoute"
    return {_FILTER: {"@type": type_, "source_code": {"inline_string": _script(known)}}}


def guard() -> dict[str, Any]:
    """Return the route that refuses what no caller sent, where callers are required.

    The script refuses that itself. But Envoy passes a request on if a script fails, so that one fault in it would open
    the service.
    """
    return {
        "match": {"prefix": "/", "headers": [{"name": CALLER, "present_match": False}]},
        "direct_response": {"status": 401, "body": {"inline_string": json.dumps({"error": _ERROR})}},
        "response_headers_to_add": [*JSON_ANSWER],
    }


# The script. Bare `return` ends a request's part in it, and lets the request pass.


def _script(known: Callers) -> str:
    data = f"local required = {str(known.required).lower()}\nlocal callers = {{\n{''.join(_lines(known))}}}\n"
    return f"{data}{KEY_OF}{_REFUSE}{_ADMIT}"


def _lines(known: Callers) -> Iterator[str]:
    for one in sorted(known.callers, key=lambda one: one.name):
        limits = ", ".join(
            f"{limit.per} = {{caller = {quoted(f'{known.namespace}/{one.name}')}, "
            f"requests_per_unit = {limit.tokens}, unit = {quoted(_UNITS[limit.per])}}}"
            for limit in one.limits
        )
        yield f"  {{name = {quoted(one.name)}, files = {{{_list(one.files)}}}, limits = {{{limits}}}}},\n"


def _list(texts: Iterable[str]) -> str:
    return ", ".join(map(quoted, texts))


_ERROR = {
    "message": "an API key is needed that this service knows, as a bearer token or in x-api-key",
    "type": "invalid_request_error",
    "param": None,
    "code": "invalid_api_key",
}
_REFUSE = f"""
local function refuse(handle)
  handle:respond(
    {{[":status"] = "401", ["content-type"] = "application/json", ["www-authenticate"] = "Bearer"}},
    [[{json.dumps({"error": _ERROR})}]])
end

"""
_ADMIT = f"""
-- The caller of each key, and when the files were read.
local owners, read_at = {{}}, -1

local function known()
  local now = os.time()
  if now ~= read_at then
    local found = {{}}
    for _, caller in ipairs(callers) do
      for _, path in ipairs(caller.files) do
        local key = key_of(path)
        if key and not found[key] then found[key] = caller end
      end
    end
    owners, read_at = found, now
  end
  return owners
end

local function caller_of(headers)
  local bearer, key = headers:get("authorization"), headers:get("x-api-key")
  local token = bearer and bearer:match("^[Bb][Ee][Aa][Rr][Ee][Rr] +(%S+) *$")
  local there = known()
  return (token and there[token]) or (key and there[key])
end

function envoy_on_request(handle)
  local headers = handle:headers()
  local caller = caller_of(headers)
  if not caller then
    if required then refuse(handle) end
    return
  end
  headers:remove("authorization")
  headers:remove("x-api-key")
  headers:replace("{CALLER}", caller.name)
  local metadata = handle:streamInfo():dynamicMetadata()
  metadata:set("{METADATA}", "caller", caller.name)
  for unit, limit in pairs(caller.limits) do metadata:set("{LIMITS}", unit, limit) end
end
"""
