"""How a Job reaches the internet from a closed network."""

from __future__ import annotations

from typing import Annotated

from function import schema
from function.schema import Rule

_NAME = r"\.?[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?"

ProxyUrl = Annotated[
    str,
    schema.Text(
        512,
        rf"^https?://{schema.HOST}(:{schema.PORT})?/?$",
        "an http or https URL of a proxy's host and port, without user and password; put a URL with them into a Secret,"
        " and name it in secretRef",
        secret=True,
    ),
]
NoProxy = Annotated[
    str,
    schema.Text(
        2048,
        rf"^{_NAME}(:{schema.PORT})?(, ?{_NAME}(:{schema.PORT})?)*$",
        "host names, domains such as .example.org, and IPv4 addresses, with commas between them; clients of the hub"
        " and of S3 understand no address ranges and no wildcards",
    ),
]


class ProxySecret(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in the same namespace, with the URLs in its keys HTTPS_PROXY and HTTP_PROXY, or in one."""


class ConfigMapRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a ConfigMap in the same namespace."""
    key: schema.SecretKey = "ca.crt"
    """Key of the ConfigMap that holds the certificates."""


class CABundle(schema.Api):
    configMapRef: ConfigMapRef
    """The ConfigMap with the certificates, in PEM."""


class Proxy(schema.Api):
    RULES = (
        Rule(
            "has(self.httpsProxy) || has(self.httpProxy) || has(self.secretRef) || has(self.caBundle)",
            "proxy needs httpsProxy, httpProxy, secretRef or caBundle",
            lambda proxy: bool(proxy.httpsProxy or proxy.httpProxy or proxy.secretRef or proxy.caBundle),
        ),
        Rule(
            "!has(self.secretRef) || !has(self.httpsProxy) && !has(self.httpProxy)",
            "secretRef holds the URLs of the proxies; httpsProxy and httpProxy cannot be set beside it",
            lambda proxy: not proxy.secretRef or not (proxy.httpsProxy or proxy.httpProxy),
            at="secretRef",
        ),
    )

    httpsProxy: ProxyUrl | None = None
    """Proxy for https URLs, without user and password."""
    httpProxy: ProxyUrl | None = None
    """Proxy for http URLs, without user and password."""
    secretRef: ProxySecret | None = None
    """The URLs of proxies that need a user and a password."""
    noProxy: NoProxy | None = None
    """Hosts that are reached without a proxy, such as .example.org,10.0.0.5."""
    caBundle: CABundle | None = None
    """Certificates of authorities to trust in addition to public ones."""
