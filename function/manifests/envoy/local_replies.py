"""What an endpoint's listener answers when the endpoint itself did not: in JSON, and marked for the front.

The front sees every failure behind a listener as a response. By two headers, which it removes, it knows which failures
it may repeat elsewhere: UNSENT, if the endpoint never saw the request, and RESET, if it may have seen it.
"""

from __future__ import annotations

import json
from typing import Any

UNSENT = "x-mp-unsent"
RESET = "x-mp-reset"
_TOO_LARGE = 413
"""What filters answer that must read a body whole."""
_DENIED = 403
"""What the filter of upstream addresses answers."""
_NOT_ALLOWED = "address_not_allowed"


def of_endpoint(endpoint: str) -> dict[str, Any]:
    """Return the replies of an endpoint's listener. Only replies of Envoy itself pass here, none of an endpoint.

    Flags: UF, the connection failed; UH and NC, there is no host; UO, too many requests; DF, the name does not resolve.
    UC, UR and UPE: the connection ended, or the response was not HTTP.
    """
    return {
        "mappers": [
            _mapper(_status(_DENIED), UNSENT, f"the address of endpoint {endpoint} is not allowed", _NOT_ALLOWED),
            _mapper(
                _flags("UF", "UH", "NC", "UO", "DF"), UNSENT, f"endpoint {endpoint} cannot be reached", "unreachable"
            ),
            _mapper(_flags("UC", "UR", "UPE"), RESET, f"endpoint {endpoint} ended the connection", "connection_ended"),
        ]
    }


def of_egress(host: str) -> dict[str, Any]:
    """Return the replies of an egress proxy. Its provider's own 403 does not pass here."""
    message = f"an address of {host} is not allowed"
    return {"mappers": [{"filter": _status(_DENIED), "status_code": 503, **body(error(message, _NOT_ALLOWED))}]}


def of_front(service: str, most_body: int) -> list[dict[str, Any]]:
    """Return the replies of a service's front where no endpoint answered. `most_body` is the limit of bodies in bytes.

    Flags: UH, there is no endpoint; UT, none answered in time; NC, a configuration is half replaced.
    """
    nobody = error(f"no endpoint of service {service} is available", "unavailable")
    late = error(f"no endpoint of service {service} answered in time", "timeout")
    large = error(f"a request may have {most_body} bytes", "request_too_large", "invalid_request_error")
    return [
        {"filter": _status(_TOO_LARGE), **body(large)},
        {"filter": _flags("UH", "NC"), "status_code": 503, **body(nobody)},
        {"filter": _flags("UT"), "status_code": 504, **body(late)},
    ]


def error(message: str, code: str, type_: str = "server_error") -> str:
    """Return an error in the form of OpenAI's API, as JSON."""
    return json.dumps({"error": {"message": message, "type": type_, "code": code}}, ensure_ascii=False)


def _mapper(filter_: dict[str, Any], header: str, message: str, code: str) -> dict[str, Any]:
    return {
        "filter": filter_,
        "status_code": 503,
        "headers_to_add": [{"header": {"key": header, "value": "true"}}],
        **body(error(message, code)),
    }


def body(text: str) -> dict[str, Any]:
    """Return the fields of a mapper that answers with a JSON text."""
    return {
        "body": {"inline_string": text},
        "body_format_override": {
            "text_format_source": {"inline_string": "%LOCAL_REPLY_BODY%"},
            "content_type": "application/json",
        },
    }


def _status(code: int) -> dict[str, Any]:
    value = {"default_value": code, "runtime_key": "modelplane.none"}
    return {"status_code_filter": {"comparison": {"op": "EQ", "value": value}}}


def _flags(*flags: str) -> dict[str, Any]:
    return {"response_flag_filter": {"flags": [*flags]}}
