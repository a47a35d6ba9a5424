"""Scripts in Lua, which Envoy runs for each request, and the keys that they read from files of mounted Secrets.

Keys are read by scripts, and not by Envoy as secrets of its own (SDS), where a missing key must hold nobody up:

- Each file of SDS takes two inotify instances. A user has 128 on a node by default, and Envoy aborts without one.
- The key of a file that is removed stays in use, and one that appears later is missed: the kubelet makes its link after
  the exchange that Envoy waits for (k8s.io/kubernetes v1.36.3, pkg/volume/util/atomic_writer.go).

A script reads its files at most once a second in each worker.
"""

from __future__ import annotations

import string
from typing import Any

from function.manifests.envoy.language import typed


def lua(name: str, source: str) -> dict[str, Any]:
    """Return a filter that runs a script."""
    return typed(name, "extensions.filters.http.lua.v3.Lua", default_source_code={"inline_string": source})


def quoted(text: str) -> str:
    """Return a string of Lua. All but the plainest characters are escaped, as three decimal digits a byte."""
    return '"' + "".join(chr(byte) if byte in _PLAIN else f"\\{byte:03d}" for byte in text.encode()) + '"'


_PLAIN = frozenset((string.ascii_letters + string.digits + "-._/").encode())

KEY_OF = """
local function key_of(path)
  local file = io.open(path, "r")
  if not file then return nil end
  local text = file:read(8192)
  file:close()
  return text and text:match("^%s*(%S+)%s*$")
end
"""
"""The function key_of: the key in a file without white space around it; nil if there is none."""
