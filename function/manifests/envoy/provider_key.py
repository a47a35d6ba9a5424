"""The key of an endpoint's provider: the filter of the endpoint's listener that adds it to requests."""

from __future__ import annotations

from typing import Any

from function.manifests.envoy import local_replies
from function.manifests.envoy.scripts import KEY_OF, lua, quoted
from function.manifests.envoy.upstream import Key


def injector(endpoint: str, key: Key) -> dict[str, Any]:
    """Return the filter. Without the key, no request passes, and the front asks another endpoint.

    The client's own header is removed before anything that may fail: Envoy passes a request on if a script does.
    """
    missing = local_replies.error(f"the API key of endpoint {endpoint} is missing", "missing_key")
    data = {"path": key.secret.path, "header": key.header.lower(), "prefix": key.prefix, "missing": missing}
    given = "".join(f"local {name} = {quoted(text)}\n" for name, text in data.items())
    return lua("modelplane.key", f"{given}{KEY_OF}{_INJECT}")


_INJECT = f"""
local key, read_at = nil, -1

function envoy_on_request(handle)
  local headers = handle:headers()
  headers:remove(header)
  local now = os.time()
  if now ~= read_at then
    key, read_at = key_of(path), now
  end
  if not key then
    handle:respond(
      {{[":status"] = "503", ["content-type"] = "application/json", ["{local_replies.UNSENT}"] = "true"}}, missing)
    return
  end
  headers:replace(header, prefix .. key)
end
"""
