"""Access that an API server denied, read from a provider's message: a missing right and what grants it, or credentials
that cannot be used.

Formats of Kubernetes 1.36: a request without a right (apiserver, pkg/endpoints/handlers/responsewriters/errors.go), and
a role with more rights than its writer (kubernetes, pkg/registry/rbac/validation/rule.go). Credentials are what
provider-kubernetes 1.2 and provider-helm 1.2 build a client from (pkg/kube/client of the former serves both).
"""

from __future__ import annotations

import re

from function.core.manifest import NamespacedName
from function.core.wording import visible

_LONGEST = 253
"""Characters of a name that is repeated."""
_OBJECT = r'(?P<kind>[a-z0-9.\-]+)(?: "(?P<name>[^"]*)")? is forbidden: '
_USER = r'User "(?P<user>[^"]*)" cannot '
_ACCOUNT = re.compile(r"system:serviceaccount:(?P<namespace>[^:]+):(?P<name>[^:]+)")
_DENIED = re.compile(
    _OBJECT + _USER + r'(?P<verb>[a-z]+) resource "(?P<resource>[^"]*)"'
    r' in API group "(?P<group>[^"]*)"(?: in the namespace "(?P<namespace>[^"]*)")?'
)
_ESCALATES = re.compile(
    _OBJECT + r'user "(?P<user>[^"]*)" \(groups=.*?\) is attempting to grant RBAC permissions not currently held'
)
_NO_CLIENT = "cannot build kube client for provider config"
_CREDENTIALS = {
    "cannot get credentials": "the Secret of its kubeconfig, or the key in it, does not exist",
    "currentContext not set in kubeconfig": "the kubeconfig names no current context",
    "context was not found": "the current context of the kubeconfig does not exist",
    "failed to load kubeconfig": "the Secret holds no kubeconfig",
    "Unauthorized": "the API server does not accept the credentials of the kubeconfig",
    "the server has asked for the client to provide credentials": (
        "the API server does not accept the credentials of the kubeconfig"
    ),
    "certificate signed by unknown authority": "the kubeconfig does not trust the API server's certificate",
    "certificate is valid for": "the API server's certificate is for another name than the kubeconfig's",
    "certificate has expired or is not yet valid": "a certificate has expired, or is not valid yet",
}
"""Parts of errors about credentials, and what is said instead (client-go v0.36, crypto/x509 of go 1.26). The errors
themselves are not repeated: those of a parser quote what they could not read, which may be a secret."""
_BINDINGS = ("clusterrolebindings", "rolebindings")
_RBAC = "rbac.authorization.k8s.io"


def explain(message: str) -> str | None:
    """Return what a message of any provider says of denied access; None for any other message, such as of a quota."""
    return credentials(message) if _NO_CLIENT in message else right(message)


def credentials(message: str) -> str | None:
    """Return why a provider cannot log in to a cluster; None if the message is not about its credentials.

    The message is that of an Object. A registry or a cloud also answers Unauthorized, without a cluster's credentials.
    """
    known = next((said for part, said in _CREDENTIALS.items() if part in message), None)
    if known or _NO_CLIENT not in message:
        return known
    return "the provider cannot make a client from the kubeconfig"


def right(message: str) -> str | None:
    """Return which right an API server misses, on which object, and the rule that grants it; None for another message.

    A quota and Pod Security forbid as well, but no right is missing then.
    """
    denied = _DENIED.search(message)
    if denied:
        resource, group, namespace = denied["resource"], denied["group"], denied["namespace"]
        may_not = f"{denied['verb']} {_qualified(resource, group)}{_named(denied['name'])}"
        where = f'in namespace "{_short(namespace)}"' if namespace else "at the cluster scope"
        return _sentence(denied["user"], f"{may_not} {where}", _rule(group, resource, denied["verb"]))
    escalates = _ESCALATES.search(message)
    if escalates:
        plural = escalates["kind"].partition(".")[0]
        roles, verb = ("clusterroles", "bind") if plural in _BINDINGS else (plural, "escalate")
        may_not = f"write {escalates['kind']}{_named(escalates['name'])} with rights that it does not have itself"
        return _sentence(escalates["user"], may_not, _rule(_RBAC, roles, verb))
    return None


def denied_user(message: str) -> str:
    """Return the user that an API server says has no right, as it names the user. Empty for another answer."""
    found = re.search(_USER, message)
    return found["user"] if found else ""


def service_account(user: str) -> NamespacedName | None:
    """Return the ServiceAccount that a user is; None for any other user."""
    account = _ACCOUNT.fullmatch(user)
    return NamespacedName(account["namespace"], account["name"]) if account else None


def _sentence(user: str, may_not: str, rule: str) -> str:
    return visible(f"{_subject(user)} may not {may_not}; a ClusterRole bound to it grants this by {rule}")


def _subject(user: str) -> str:
    """A ServiceAccount as a binding names it; any other user by its name."""
    account = service_account(user)
    if account is None:
        return f"User {_short(user)}"
    return f"ServiceAccount {_short(account.namespace)}/{_short(account.name)}"


def _qualified(resource: str, group: str) -> str:
    return f"{resource}.{group}" if group else resource


def _named(name: str | None) -> str:
    return f' "{_short(name)}"' if name else ""


def _rule(group: str, resource: str, verb: str) -> str:
    return f'apiGroups: ["{_short(group)}"], resources: ["{_short(resource)}"], verbs: [{verb}]'


def _short(text: str) -> str:
    return text[:_LONGEST]
