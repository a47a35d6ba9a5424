"""The listener of probes: whether the proxy serves, its metrics, and which keys it lacks.

Pods start without a Secret or a key that is missing, because one key must not hold up the other endpoints and callers.
Nobody but the proxy knows then, since nothing else reads the Secrets. So the proxy tells: it looks at the files, and
answers with names, and never with values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from function.manifests.envoy import places
from function.manifests.envoy.language import listener, manager
from function.manifests.envoy.scripts import lua, quoted

ADMIN = "admin"
"""The cluster of Envoy's own interface."""


def probe(files: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the listener. `files` are pairs of what is mounted, as people know it, and its path."""
    metrics = {
        "match": {"path": places.METRICS_PATH},
        "route": {"cluster": ADMIN, "prefix_rewrite": "/stats/prometheus?usedonly"},
    }
    ready = {"match": {"path": places.PROBE_PATH}, "direct_response": {"status": 200}}
    none = {"match": {"prefix": "/"}, "direct_response": {"status": 404}}
    missing = lua("modelplane.missing", _script(files))
    return listener("probe", places.PROBE_PORT, manager("probe", [ready, metrics, none], [missing]))


def admin() -> dict[str, Any]:
    """Return the cluster of Envoy's own interface, which has the metrics."""
    address = {"pipe": {"path": places.ADMIN}}
    return {
        "name": ADMIN,
        "type": "STATIC",
        "connect_timeout": "1s",
        "load_assignment": {
            "cluster_name": ADMIN,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}],
        },
    }


def _script(files: Iterable[tuple[str, str]]) -> str:
    pairs = "".join(f"  {{{quoted(what)}, {quoted(path)}}},\n" for what, path in sorted(set(files)))
    return f"local files = {{\n{pairs}}}\n{_MISSING}"


_MISSING = f"""
local function is_missing(path)
  local file = io.open(path, "r")
  local text = file and file:read(65536)
  if file then file:close() end
  return not (text and text:find("%S"))
end

function envoy_on_request(handle)
  if handle:headers():get(":path") ~= "{places.MISSING_PATH}" then return end
  local found = {{}}
  for _, one in ipairs(files) do
    if is_missing(one[2]) then found[#found + 1] = '"' .. one[1] .. '"' end
  end
  handle:respond(
    {{[":status"] = "200", ["content-type"] = "application/json"}},
    '{{"missing":[' .. table.concat(found, ",") .. ']}}\\n')
end
"""
