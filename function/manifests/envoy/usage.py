"""How much was used: the tokens of each answer, and a line of JSON for each request.

Servers say how many tokens an answer took, each API in its own way. The front reads that from JSON and from streams,
and never anything else of a body. A stream of chat or text completions says it only if the request asks for it, so that
is added to a request that streams and says nothing about it.
"""

from __future__ import annotations

from typing import Any

from function.manifests.envoy.callers import METADATA
from function.manifests.envoy.language import typed
from function.manifests.envoy.scripts import lua

INPUT, OUTPUT = "input", "output"
"""The tokens of a request and of its answer, in the metadata."""
STREAM = "x-mp-stream"
"""Header that says whether a request's body asks for a stream."""
UNREADABLE = ("accept-encoding",)
"""Headers that endpoints must not see: what is compressed cannot be counted."""
MOST_ANSWER = 64 * 1024 * 1024
"""Bytes of a JSON answer, which is held until it is complete. A larger one is refused, as 500."""
_MOST_EVENT = 1024 * 1024
_COUNTED = (
    ("prompt_tokens", INPUT),
    ("completion_tokens", OUTPUT),
    ("input_tokens", INPUT),
    ("output_tokens", OUTPUT),
)
"""Fields of `usage`: the first two of chat, completions and embeddings, the others of Responses and of Anthropic."""
_STREAMED = (
    (("response", "usage", "input_tokens"), INPUT),
    (("response", "usage", "output_tokens"), OUTPUT),
    (("message", "usage", "input_tokens"), INPUT),
)
"""What only streams have: the last event of Responses, and the first of Anthropic, whose last has the output."""


def filters() -> list[dict[str, Any]]:
    """Return the filters that count tokens, to stand behind the one that reads the model."""
    return [lua("modelplane.usage", _ASK), _json(), _stream()]


def _json() -> dict[str, Any]:
    return typed(
        "envoy.filters.http.json_to_metadata",
        "extensions.filters.http.json_to_metadata.v3.JsonToMetadata",
        response_rules={
            "rules": _rules(),
            "allow_content_types_regex": {"regex": r"(?i)application/json\s*(;.*)?"},
        },
    )


def _stream() -> dict[str, Any]:
    rules = [*_rules(), *(_rule(path, key) for path, key in _STREAMED)]
    parser = typed(
        "envoy.content_parsers.json",
        "extensions.content_parsers.json.v3.JsonContentParser",
        rules=[{"rule": rule} for rule in rules],
    )
    return typed(
        "envoy.filters.http.sse_to_metadata",
        "extensions.filters.http.sse_to_metadata.v3.SseToMetadata",
        response_rules={"max_event_size": _MOST_EVENT, "content_parser": parser},
    )


def _rules() -> list[dict[str, Any]]:
    return [_rule(("usage", name), key) for name, key in _COUNTED]


def _rule(path: tuple[str, ...], key: str) -> dict[str, Any]:
    return {
        "selectors": [{"key": part} for part in path],
        "on_present": {"metadata_namespace": METADATA, "key": key, "type": "NUMBER"},
    }


_ASK = f"""
local paths = {{["/v1/chat/completions"] = true, ["/v1/completions"] = true}}

function envoy_on_request(handle)
  local headers = handle:headers()
  if headers:get("{STREAM}") ~= "true" or not paths[headers:get(":path"):match("^[^?]*")] then return end
  local body = handle:body()
  local text = body and body:getBytes(0, body:length()) or ""
  if text:find('"stream_options"', 1, true) then return end
  local rest = text:match("^%s*{{()")
  if not rest then return end
  local length = body:setBytes('{{"stream_options":{{"include_usage":true}},' .. text:sub(rest))
  if headers:get("content-length") then headers:replace("content-length", tostring(length)) end
end
"""
"""Ask for the usage of a stream. All else of the body stays as it is, byte for byte: a JSON parser would change large
numbers. A body that has the field already, anywhere, is not touched."""


# Lines


def log(service: str, model: str) -> dict[str, Any]:
    """Return the access log of a service, given as namespace/name. `model` is the header with the request's model."""
    fields = {
        "time": "%START_TIME%",
        "service": service,
        "caller": f"%DYNAMIC_METADATA({METADATA}:caller)%",
        "model": f"%REQ({model})%",
        "endpoint": f"%UPSTREAM_METADATA({METADATA}:endpoint)%",
        "method": "%REQ(:METHOD)%",
        "path": "%PATH(NQ)%",
        "status": "%RESPONSE_CODE%",
        "attempts": "%UPSTREAM_REQUEST_ATTEMPT_COUNT%",
        "input_tokens": f"%DYNAMIC_METADATA({METADATA}:{INPUT})%",
        "output_tokens": f"%DYNAMIC_METADATA({METADATA}:{OUTPUT})%",
        "milliseconds": "%DURATION%",
        "first_byte_milliseconds": "%RESPONSE_DURATION%",
        "flags": "%RESPONSE_FLAGS%",
    }
    return typed(
        "envoy.access_loggers.stdout",
        "extensions.access_loggers.stream.v3.StdoutAccessLog",
        log_format={"json_format": fields},
    )
