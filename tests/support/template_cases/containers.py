"""Containers: their names, images, variables, ports, restarts and security contexts."""

from __future__ import annotations

from tests.support.samples import CONTAINER, TEMPLATE, edited

IN = "spec.containers.0"
AT = "spec.containers[0]"
INIT = "spec.initContainers"
_FIRST = {"name": "warm", "image": "busybox:1.37"}
_SIDECAR = {**_FIRST, "restartPolicy": "Always"}
_ENDS = "is not for an init container without restartPolicy: Always, which ends before the others start"
_ONE_SOURCE = "must have exactly one of configMapKeyRef, fieldRef, fileKeyRef, resourceFieldRef, secretKeyRef, and has"
_FIELDS = (
    "metadata.labels['<key>'], metadata.annotations['<key>'], metadata.name, metadata.namespace, metadata.uid,"
    " spec.nodeName, spec.serviceAccountName, status.hostIP, status.hostIPs, status.podIP or status.podIPs"
)
_FIELD_REF = f"{IN}.env.3.valueFrom.fieldRef.fieldPath"
_AT_FIELD_REF = f"{AT}.env[3].valueFrom.fieldRef.fieldPath"
_RESTART = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
_HTTP = {"name": "http", "containerPort": 8000}

GOOD = {
    "a container of any name, where it is the only one": edited(TEMPLATE, f"{IN}.name", "main"),
    "an engine beside another container": edited(
        TEMPLATE, "spec.containers", [{"name": "metrics", "image": "a"}, CONTAINER]
    ),
    "an init container and a sidecar with a probe": edited(
        TEMPLATE, INIT, [_FIRST, {**_SIDECAR, "name": "log", "readinessProbe": {"exec": {"command": ["true"]}}}]
    ),
    "a variable without a value": edited(TEMPLATE, f"{IN}.env.0", {"name": "EMPTY"}),
    "an empty value beside a valueFrom": edited(TEMPLATE, f"{IN}.env.1.value", ""),
    "a variable from a resource": edited(
        TEMPLATE, f"{IN}.env.0", {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory"}}}
    ),
    "variables from whole objects": edited(
        TEMPLATE, f"{IN}.envFrom", [{"secretRef": {"name": "a"}}, {"configMapRef": {"name": "a"}, "prefix": "A_"}]
    ),
    "two names for one port": edited(TEMPLATE, f"{IN}.ports", [_HTTP, {**_HTTP, "name": "metrics"}]),
    "an empty policy": edited(TEMPLATE, f"{IN}.imagePullPolicy", ""),
    "a security context": edited(
        TEMPLATE,
        f"{IN}.securityContext",
        {"allowPrivilegeEscalation": False, "capabilities": {"add": ["IPC_LOCK"]}, "runAsUser": 0},
    ),
    "a container that restarts by its own rules": edited(
        edited(TEMPLATE, f"{IN}.restartPolicy", "Never"), f"{IN}.restartPolicyRules", [_RESTART]
    ),
    "a profile of the node": edited(
        TEMPLATE, f"{IN}.securityContext.seccompProfile", {"type": "Localhost", "localhostProfile": "a/b.json"}
    ),
}

BAD = {
    "no containers": (edited(TEMPLATE, "spec.containers", []), "spec.containers: must have at least 1 item, not 0"),
    "no list of containers": (edited(TEMPLATE, "spec.containers"), "spec.containers: is required"),
    "two containers, neither the engine": (
        edited(TEMPLATE, "spec.containers", [{"name": n, "image": "a"} for n in ("vllm", "metrics")]),
        (
            "spec.containers: must have one container named engine, or one that runs a known engine: "
            "which of vllm, metrics is it?"
        ),
    ),
    "two containers of one name": (
        edited(TEMPLATE, "spec.containers", [CONTAINER, CONTAINER]),
        "spec.containers[1]: has the name of an item above it, engine; each needs its own",
    ),
    "an init container of the engine's name": (
        edited(TEMPLATE, INIT, [{**_FIRST, "name": "engine"}]),
        f"{AT}.name: is the name of an init container too, engine",
    ),
    "a container with capitals": (
        edited(TEMPLATE, f"{IN}.name", "vLLM"),
        (
            f"{AT}.name: must be a DNS label: lower-case letters, digits and dashes, a letter or digit at both ends (1"
            ' to 63 characters), not "vLLM"'
        ),
    ),
    "no image": (edited(TEMPLATE, f"{IN}.image"), f"{AT}.image: is required"),
    "an empty image": (edited(TEMPLATE, f"{IN}.image", ""), f"{AT}.image: cannot be empty"),
    "an image with capitals": (
        edited(TEMPLATE, f"{IN}.image", "Vllm"),
        (
            f"{AT}.image: must be an image reference, such as registry.example.org/team/engine:v1, with its path in"
            ' lower case (1 to 1024 characters), not "Vllm"'
        ),
    ),
    "a pull policy of one's own": (
        edited(TEMPLATE, f"{IN}.imagePullPolicy", "Sometimes"),
        f'{AT}.imagePullPolicy: must be one of Always, IfNotPresent, Never, not "Sometimes"',
    ),
    "a number among the arguments": (
        edited(TEMPLATE, f"{IN}.args", ["--port", 8000]),
        f"{AT}.args[1]: must be a string; numbers and yes, no, true and false are written in quotes, not a number",
    ),
    "arguments as one text": (
        edited(TEMPLATE, f"{IN}.args", "--port 8000"),
        f"{AT}.args: must be a list, not a string",
    ),
    "a variable's name with an equals sign": (
        edited(TEMPLATE, f"{IN}.env.0.name", "A=B"),
        (
            f"{AT}.env[0].name: must be a variable's name: ASCII characters that can be printed, except = (1 to 4096"
            ' characters), not "A=…"'
        ),
    ),
    "a variable twice": (
        edited(TEMPLATE, f"{IN}.env.1.name", "PLAIN"),
        f"{AT}.env[1]: has the name of an item above it, PLAIN; each needs its own",
    ),
    "a value and a valueFrom": (
        edited(TEMPLATE, f"{IN}.env.1.value", "x"),
        f"{AT}.env[1]: has a value and a valueFrom; a variable has one of them",
    ),
    "two sources": (
        edited(TEMPLATE, f"{IN}.env.1.valueFrom.fieldRef", {"fieldPath": "metadata.name"}),
        f"{AT}.env[1].valueFrom: {_ONE_SOURCE} secretKeyRef and fieldRef",
    ),
    "no source": (edited(TEMPLATE, f"{IN}.env.1.valueFrom", {}), f"{AT}.env[1].valueFrom: {_ONE_SOURCE} none"),
    "a Secret without a name": (
        edited(TEMPLATE, f"{IN}.env.1.valueFrom.secretKeyRef.name"),
        f"{AT}.env[1].valueFrom.secretKeyRef.name: is required",
    ),
    "variables from nothing": (
        edited(TEMPLATE, f"{IN}.envFrom", [{"prefix": "A_"}]),
        f"{AT}.envFrom[0]: must have exactly one of configMapRef, secretRef, and has none",
    ),
    "a field that pods do not have": (
        edited(TEMPLATE, _FIELD_REF, "spec.image"),
        f'{_AT_FIELD_REF}: must be {_FIELDS}, not "spec.image"',
    ),
    "a label by what is no key": (
        edited(TEMPLATE, _FIELD_REF, "metadata.labels['a b']"),
        f"{_AT_FIELD_REF}: must be {_FIELDS}, not \"metadata.labels['a b']\"",
    ),
    "a resource that containers do not have": (
        edited(TEMPLATE, f"{IN}.env.0", {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.gpu"}}}),
        (
            f"{AT}.env[0].valueFrom.resourceFieldRef.resource: must be limits. or requests. and cpu, memory,"
            ' ephemeral-storage or hugepages-SIZE, not "limits.gpu"'
        ),
    ),
    "a unit that is none": (
        edited(
            TEMPLATE,
            f"{IN}.env.0",
            {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1Ki"}}},
        ),
        f'{AT}.env[0].valueFrom.resourceFieldRef.divisor: must be one of 1m, 1, not "1Ki"',
    ),
    "a port of zero": (
        edited(TEMPLATE, f"{IN}.ports", [{"containerPort": 0}]),
        f"{AT}.ports[0].containerPort: must be a whole number from 1 to 65535, not 0",
    ),
    "a port as text": (
        edited(TEMPLATE, f"{IN}.ports", [{"containerPort": "8000"}]),
        f'{AT}.ports[0].containerPort: must be a whole number from 1 to 65535, not "8000"',
    ),
    "a port's name without a letter": (
        edited(TEMPLATE, f"{IN}.ports", [{**_HTTP, "name": "80"}]),
        (
            f"{AT}.ports[0].name: must be a port's name: lower-case letters, digits and single dashes, at least one"
            ' letter, a letter or digit at both ends (1 to 15 characters), not "80"'
        ),
    ),
    "two ports of one name": (
        edited(TEMPLATE, f"{IN}.ports", [_HTTP, {**_HTTP, "containerPort": 8001}]),
        f"{AT}.ports[1].name: is the name of a port above it, http",
    ),
    "a port of the node twice": (
        edited(TEMPLATE, f"{IN}.ports", [{"containerPort": p, "hostPort": 80} for p in (8000, 8001)]),
        f"{AT}.ports[1].hostPort: is the port of the node that a port above it takes, 80",
    ),
    "an init container with a probe": (
        edited(TEMPLATE, INIT, [{**_FIRST, "livenessProbe": {"exec": {"command": ["true"]}}}]),
        f"spec.initContainers[0].livenessProbe: {_ENDS}",
    ),
    "an init container that restarts as nobody knows": (
        edited(TEMPLATE, INIT, [{**_FIRST, "restartPolicy": "Sometimes"}]),
        'spec.initContainers[0].restartPolicy: must be one of Always, OnFailure, Never, not "Sometimes"',
    ),
    "rules of restarts without a policy": (
        edited(TEMPLATE, f"{IN}.restartPolicyRules", [_RESTART]),
        f"{AT}.restartPolicy: is required with restartPolicyRules",
    ),
    "rules of restarts for a sidecar": (
        edited(TEMPLATE, INIT, [{**_SIDECAR, "restartPolicyRules": [_RESTART]}]),
        "spec.initContainers[0].restartPolicyRules: is not for a sidecar, which restartPolicy: Always makes of it",
    ),
    "privileged without escalation": (
        edited(TEMPLATE, f"{IN}.securityContext", {"privileged": True, "allowPrivilegeEscalation": False}),
        f"{AT}.securityContext.allowPrivilegeEscalation: cannot be false for a privileged container",
    ),
    "a profile of the node without a name": (
        edited(TEMPLATE, f"{IN}.securityContext.seccompProfile", {"type": "Localhost"}),
        f"{AT}.securityContext.seccompProfile.localhostProfile: is required with type Localhost",
    ),
    "a user below zero": (
        edited(TEMPLATE, f"{IN}.securityContext.runAsUser", -1),
        f"{AT}.securityContext.runAsUser: must be a whole number from 0 to 2147483647, not -1",
    ),
    "a truth as text": (
        edited(TEMPLATE, f"{IN}.securityContext.privileged", "yes"),
        f'{AT}.securityContext.privileged: must be true or false, not "yes"',
    ),
    "a container that is a list": (
        edited(TEMPLATE, IN, [1]),
        f"{AT}: must be a map of fields, not a list of 1 item",
    ),
}
