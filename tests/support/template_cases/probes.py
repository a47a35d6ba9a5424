"""Probes and lifecycle hooks."""

from __future__ import annotations

from tests.support.samples import TEMPLATE, edited

IN = "spec.containers.0"
AT = "spec.containers[0]"
_HANDLERS = "must have exactly one of exec, grpc, httpGet, tcpSocket, and has"
_PORTS = [{"name": "http", "containerPort": 8000}, {"name": "metrics", "containerPort": 9000}]
_NAMED = edited(TEMPLATE, f"{IN}.ports", _PORTS)

GOOD = {
    "a probe on a port by its name": edited(_NAMED, f"{IN}.startupProbe.httpGet.port", "http"),
    "zeros in a probe, which stand for defaults": edited(
        TEMPLATE,
        f"{IN}.livenessProbe",
        {"exec": {"command": ["true"]}, "periodSeconds": 0, "successThreshold": 0, "timeoutSeconds": 0},
    ),
    "a readiness probe that succeeds twice": edited(TEMPLATE, f"{IN}.readinessProbe.successThreshold", 2),
    "a probe by gRPC": edited(TEMPLATE, f"{IN}.readinessProbe", {"grpc": {"port": 8001, "service": "health"}}),
    "a signal": edited(edited(TEMPLATE, "spec.os", {"name": "linux"}), f"{IN}.lifecycle.stopSignal", "SIGINT"),
    "hooks": edited(
        edited(TEMPLATE, "spec.terminationGracePeriodSeconds", 30),
        f"{IN}.lifecycle",
        {"postStart": {"exec": {"command": ["true"]}}, "preStop": {"sleep": {"seconds": 30}}},
    ),
}

BAD = {
    "a signal for an unknown system": (
        edited(TEMPLATE, f"{IN}.lifecycle.stopSignal", "SIGINT"),
        f"{AT}.lifecycle.stopSignal: needs os.name in the pod's spec, linux",
    ),
    "a probe of two kinds": (
        edited(TEMPLATE, f"{IN}.startupProbe.tcpSocket", {"port": 1}),
        f"{AT}.startupProbe: {_HANDLERS} httpGet and tcpSocket",
    ),
    "a probe of no kind": (edited(TEMPLATE, f"{IN}.startupProbe", {}), f"{AT}.startupProbe: {_HANDLERS} none"),
    "a probe on a name where no port has one": (
        edited(TEMPLATE, f"{IN}.startupProbe.httpGet.port", "http"),
        (
            f"{AT}.startupProbe.httpGet.port: must be a number, or the name of a port of the container, which names"
            ' none, not "http"'
        ),
    ),
    "a probe on a mistyped name": (
        edited(_NAMED, f"{IN}.startupProbe.httpGet.port", "htttp"),
        (
            f"{AT}.startupProbe.httpGet.port: must be a number, or the name of a port of the container: http, metrics,"
            ' not "htttp"; did you mean http?'
        ),
    ),
    "a probe on a number as text": (
        edited(_NAMED, f"{IN}.readinessProbe.tcpSocket.port", "8000"),
        (
            f"{AT}.readinessProbe.tcpSocket.port: must be a number, or the name of a port of the container: http,"
            ' metrics, not "8000"'
        ),
    ),
    "a probe on no port": (
        edited(TEMPLATE, f"{IN}.startupProbe.httpGet.port", 65536),
        f"{AT}.startupProbe.httpGet.port: must be a whole number from 1 to 65535, not 65536",
    ),
    "a scheme of one's own": (
        edited(TEMPLATE, f"{IN}.startupProbe.httpGet.scheme", "https"),
        f'{AT}.startupProbe.httpGet.scheme: must be one of HTTP, HTTPS, not "https"',
    ),
    "a header's name with a space": (
        edited(TEMPLATE, f"{IN}.startupProbe.httpGet.httpHeaders", [{"name": "a b", "value": "x"}]),
        (
            f"{AT}.startupProbe.httpGet.httpHeaders[0].name: must be a header's name: letters, digits and dashes (1 to"
            ' 4096 characters), not "a b"'
        ),
    ),
    "a liveness probe that succeeds twice": (
        edited(TEMPLATE, f"{IN}.livenessProbe.successThreshold", 2),
        f"{AT}.livenessProbe.successThreshold: must be 1 for a livenessProbe, not 2",
    ),
    "a startup probe that succeeds twice": (
        edited(TEMPLATE, f"{IN}.startupProbe.successThreshold", 2),
        f"{AT}.startupProbe.successThreshold: must be 1 for a startupProbe, not 2",
    ),
    "a readiness probe with a grace period": (
        edited(TEMPLATE, f"{IN}.readinessProbe.terminationGracePeriodSeconds", 5),
        f"{AT}.readinessProbe.terminationGracePeriodSeconds: is not for a readinessProbe, which ends no container",
    ),
    "a probe that runs nothing": (
        edited(TEMPLATE, f"{IN}.livenessProbe.exec.command", []),
        f"{AT}.livenessProbe.exec.command: must have at least 1 item, not 0",
    ),
    "a threshold below zero": (
        edited(TEMPLATE, f"{IN}.startupProbe.failureThreshold", -1),
        f"{AT}.startupProbe.failureThreshold: must be a whole number from 0 to 2147483647, not -1",
    ),
    "a hook that does nothing": (
        edited(TEMPLATE, f"{IN}.lifecycle.preStop", {}),
        f"{AT}.lifecycle.preStop: must have exactly one of exec, httpGet, sleep, tcpSocket, and has none",
    ),
    "a hook that sleeps longer than the pod may end": (
        edited(TEMPLATE, f"{IN}.lifecycle.preStop", {"sleep": {"seconds": 5}}),
        (
            f"{AT}.lifecycle.preStop.sleep.seconds: cannot be more than the pod's terminationGracePeriodSeconds, 0, and"
            " is 5"
        ),
    ),
}
