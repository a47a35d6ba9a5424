"""Where a program listens, and why nothing outside of its pod may reach it there.

A program is reached on a port of the pod, over plain HTTP. Three things stop that: it listens on loopback, by a flag or
by default; it listens on a Unix socket, or not at all; it serves TLS. The flag that does it is named in messages. Its
value is not repeated, except for an address that is known to be loopback.
"""

from __future__ import annotations

import re
from ipaddress import ip_address

from function.engines import options, shell
from function.engines.programs import Program
from function.engines.server import ANYWHERE, Server

LAST_PORT = 65535


def port_number(text: str) -> int | None:
    """Return the port of a text, or None if it is no port number."""
    number = int(text) if re.fullmatch("[1-9][0-9]{0,4}", text, re.ASCII) else 0
    return number if 0 < number <= LAST_PORT else None


def told_port(server: Server | None, program: Program) -> tuple[str, int] | None:
    """Return the flag or variable by which a program is told its port, and the port; None if it is not.

    A value that is no port number counts as none. A program of no known server may have `--port`.
    """
    flags = server.port_flags if server else ("--port",)
    text = options.value(program.arguments, flags)
    if text is not None:
        number = port_number(text)
        return None if number is None else (options.given(program.arguments, flags), number)
    for variable in server.port_variables if server else ():
        number = port_number(_port_in(variable, server, program))
        if number is not None:
            return variable, number
    return None


def has_port(server: Server, program: Program) -> bool:
    return not _hidden_by(server, program)


def is_reachable(server: Server, program: Program) -> bool:
    """Return whether something outside of the pod may reach a program, by TLS or not."""
    return has_port(server, program) and not is_loopback(_address(server, program)[1])


def tls(server: Server | None, program: Program) -> str:
    """Return the flag or variable that makes a program serve TLS; "" if it serves plain HTTP."""
    if server is None:
        return ""
    flag = options.given(program.arguments, server.tls_flags)
    off = ("", "disabled", "false", "0")
    return flag or next((v for v in server.tls_variables if program.variables.get(v, "").lower() not in off), "")


def unheard(server: Server | None, program: Program, port: int) -> str:
    """Return why a program does not answer on a port of its pod, or "" if nothing indicates that.

    `port` is where the probes ask.
    """
    if server is None:
        return ""
    if hidden := _hidden_by(server, program):
        return f"{server.name} listens on no port with {hidden}"
    if wrong := _wrong_port(server, program):
        return f"{wrong} is no port number from 1 to {LAST_PORT}"
    source, address = _address(server, program)
    hints = _hints(server, port, host=is_loopback(address), elsewhere=is_elsewhere(server, program, port))
    if not hints:
        return ""
    if source and is_loopback(address):
        return f"{source} {address} is loopback, where no other pod reaches {server.name}; use {' '.join(hints)}"
    where = f"port {server.port}" if source else f"{address}:{server.port}"
    return f"{server.name} listens on {where} unless told {' '.join(hints)}"


def is_elsewhere(server: Server, program: Program, port: int) -> bool:
    """Return whether a program listens on its default port, and that is another one."""
    is_told = options.given(program.arguments, server.port_flags) or any(
        _port_in(variable, server, program) for variable in server.port_variables
    )
    return server.port != port and not is_told


def is_loopback(address: str) -> bool:
    if address.lower() == "localhost":
        return True
    try:
        return ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def _hidden_by(server: Server, program: Program) -> str:
    """Return the flag with which a program listens on no port; "" if it listens on one."""
    return options.given(program.arguments, (*server.silent_flags, *server.unix_flags))


def _address(server: Server, program: Program) -> tuple[str, str]:
    """Return the flag or variable of the address ("" for the default), and the address."""
    text = options.value(program.arguments, server.host_flags)
    if text is not None:
        return options.given(program.arguments, server.host_flags), text
    for variable in server.host_variables:
        if host := _host_of(program.variables.get(variable, "")):
            return variable, host
    return "", server.host


def _wrong_port(server: Server, program: Program) -> str:
    """Return the flag or variable whose value should be a port and is none; "" if there is none."""
    flag = options.given(program.arguments, server.port_flags)
    told = {flag: options.value(program.arguments, server.port_flags)} if flag else {}
    if not flag:
        own = (variable for variable in server.port_variables if variable not in server.host_variables)
        told = {variable: program.variables.get(variable) for variable in own}
    texts = {name: text for name, text in told.items() if text is not None and not shell.is_unresolved(text)}
    return next((name for name, text in texts.items() if port_number(text) is None), "")


def _hints(server: Server, port: int, *, host: bool, elsewhere: bool) -> list[str]:
    """Return what to tell a server, so that it listens on a port of the pod."""
    both = [variable for variable in server.host_variables if variable in server.port_variables]
    if both and not server.host_flags and not server.port_flags:
        return [f"{both[0]}={ANYWHERE}:{port}"] if host or elsewhere else []
    return [
        *([_hint(server.host_flags, server.host_variables, ANYWHERE)] if host else []),
        *([_hint(server.port_flags, server.port_variables, str(port))] if elsewhere else []),
    ]


def _hint(flags: tuple[str, ...], variables: tuple[str, ...], value: str) -> str:
    return f"{flags[0]} {value}" if flags else f"{variables[0]}={value}" if variables else f"to use {value}"


def _host_of(text: str) -> str:
    """Return the address of `address`, `address:port` or a URL of them. Ollama takes all three."""
    text = text.partition("://")[2] or text
    found = re.fullmatch(r"(\[[^\]]*\]|[^:/]*)(:\d*)?/*", text)
    return found[1] if found else text


def _port_in(variable: str, server: Server | None, program: Program) -> str:
    """Return the port in a variable; "" if there is none. In a variable of the address it follows a colon."""
    text = program.variables.get(variable, "")
    return "" if server and variable in server.host_variables and ":" not in text else _port_of(text)


def _port_of(text: str) -> str:
    """Return the port of `port`, `address:port` or a URL of them; "" if there is none."""
    found = re.search(r"(?:^|:)(\d+)/*$", text, re.ASCII)
    return "" if shell.is_unresolved(text) or not found else found[1]
