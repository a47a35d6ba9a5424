"""An option whose value is an address to listen on: a host, a port, or both."""

from __future__ import annotations

import ipaddress
import re
from typing import NoReturn

import click
from click.core import ParameterSource

from function.probes import ALL, ListenAddress

_LARGEST_PORT = 65_535
_LABEL = r"[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*")
_NUMBERS = re.compile(r"[0-9.]+")
_SHAPE = re.compile(r"(?:\[(?P<v6>[^\[\]]+)\]|(?P<name>[^:\[\]]*))(?::(?P<port>-?[0-9]+))?", re.ASCII)


class Address(click.ParamType[ListenAddress]):
    """A host and a port, a host with the option's usual port, or a port of all addresses.

    The host is a name or an IP address. An IPv6 address needs brackets only where its last group could be a port.
    """

    name = "host:port"

    def __init__(self, port: int) -> None:
        self._port = port

    def convert(
        self, value: str | ListenAddress, param: click.Parameter | None, ctx: click.Context | None
    ) -> ListenAddress:
        if isinstance(value, ListenAddress):
            return value
        try:
            return self._parsed(value)
        except ValueError as problem:
            _refuse(f"{value!r}: {problem}", param, ctx)

    def _parsed(self, text: str) -> ListenAddress:
        """Raises ValueError, which says what is accepted."""
        host, _, port = text.rpartition(":")
        if _is_v6(text):
            if _is_v6(host) and port.isdigit():
                raise ValueError(f"it may end in a port or not; write [{host}]:{port} or [{text}]:{self._port}")
            return ListenAddress(text, self._port)
        if _is_v6(host) and port.isdigit():
            return ListenAddress(host, _port(port))
        if text.isdigit():
            return ListenAddress(ALL, _port(text))
        return self._shaped(text)

    def _shaped(self, text: str) -> ListenAddress:
        found = _SHAPE.fullmatch(text.replace("*", "", 1) if text.startswith("*:") else text)
        if found is None or not text:
            example = f"127.0.0.1:{self._port}, :{self._port}, localhost or [::1]:{self._port}"
            raise ValueError(f"it is not host:port, a host or a port, as in {example}")
        port = self._port if found["port"] is None else _port(found["port"])
        return ListenAddress(_host(found["v6"], found["name"]), port)


def _host(v6: str | None, name: str | None) -> str:
    if v6 is not None:
        if not _is_v6(v6):
            raise ValueError(f"{v6!r} is not an IPv6 address")
        return v6
    if not name:
        return ALL
    if _NUMBERS.fullmatch(name) and not _is_v4(name):
        raise ValueError(f"{name!r} is not an IPv4 address")
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is neither a host name nor an IPv4 address")
    return name


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > _LARGEST_PORT:
        raise ValueError(f"the port must be 0 to {_LARGEST_PORT:,}")
    return int(text)


def _is_v4(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def _is_v6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _refuse(problem: str, param: click.Parameter | None, ctx: click.Context | None) -> NoReturn:
    """Raise an error that names the option, or the environment variable that the value is from."""
    hint = None
    if (
        param is not None
        and ctx is not None
        and ctx.get_parameter_source(param.name or "") is ParameterSource.ENVIRONMENT
    ):
        hint = f"environment variable {param.envvar}"
    raise click.BadParameter(problem, ctx=ctx, param=param, param_hint=hint)
