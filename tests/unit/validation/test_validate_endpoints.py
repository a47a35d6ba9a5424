"""What is said of a ModelEndpoint: base URLs as providers give them, keys, and paths that no server has."""

from __future__ import annotations

from typing import Any

import pytest

from function.validation import validate
from tests.support.samples import Object, of

AZURE = "https://example.openai.azure.com/openai/deployments/chat"
QUERY = {"api-version": "2024-10-21"}


def endpoint(url: str, **spec: Any) -> Object:
    return of("ModelEndpoint", {"url": url, **spec}, "outside")


def key(name: str = "provider", **more: Any) -> Object:
    return {"secretRef": {"name": name, **more}}


def said(*objects: Object) -> list[tuple[str, str, str]]:
    return [(f.field, f.code, f.message) for f in validate(objects)]


def codes(*objects: Object) -> list[tuple[str, str]]:
    return [found[:2] for found in said(*objects)]


@pytest.mark.parametrize(
    "url",
    [
        "https://generativelanguage.googleapis.com/v1beta/openai/",
        "https://api.openai.com/v1",
        "https://api.example.com",
        "https://api.example.com/inference/openai",
    ],
)
def test_a_base_url_as_a_provider_gives_it_is_accepted(url: str) -> None:
    assert said(endpoint(url, auth=key())) == []


# Azure OpenAI


def test_a_query_in_the_url_is_refused_with_the_field_that_takes_it() -> None:
    (got,) = said(endpoint(f"{AZURE}?api-version=2024-10-21", auth={**key(), "header": "api-key"}))

    assert got[:2] == ("spec.url", "value")
    assert "query (see spec.query)" in got[2]
    assert "2024-10-21" not in got[2]


def test_what_azure_asks_for_can_be_said() -> None:
    assert said(endpoint(AZURE, query=QUERY, auth={**key(), "header": "api-key"})) == []
    assert said(endpoint(AZURE.replace("deployments/chat", "v1"), auth=key())) == []


def test_what_azure_would_refuse_is_told() -> None:
    got = said(endpoint(AZURE, auth=key()))

    version = "is a deployment of Azure OpenAI, which answers 404 without spec.query api-version, such as {api-version:"
    header = "sends the key in the header Authorization, in which Azure OpenAI takes tokens only, and answers 401; set"
    assert got == [
        ("spec.auth", "provider", f"{header} header: api-key"),
        ("spec.url", "provider", f"{version} 2024-10-21}}"),
    ]


# Paths


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ({"url": "https://api.example.com/v1/chat/completions"}, [("spec.url", "base-path")]),
        ({"url": "https://api.example.com/api/responses/"}, [("spec.url", "base-path")]),
        ({"url": "https://api.example.com", "basePath": "/openai/embeddings"}, [("spec.basePath", "base-path")]),
        ({"url": "https://api.example.com/v1/completions", "basePath": "/openai"}, []),
        ({"url": "https://api.example.com", "rewritePath": "/model/v1/"}, [("spec.rewritePath", "base-path")]),
        ({"url": "https://api.example.com", "rewritePath": "/model/v1beta/"}, []),
        ({"url": "https://api.example.com/v1/completions", "rewritePath": "/model/"}, []),
    ],
)
def test_a_path_that_has_what_is_appended_is_told(spec: Object, want: list[tuple[str, str]]) -> None:
    assert codes(of("ModelEndpoint", spec, "outside")) == want


# Secrets


def secret(name: str = "provider", namespace: str | None = "ml-team", **content: Any) -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, **content}


@pytest.mark.parametrize(
    ("reference", "given", "want"),
    [
        ({}, [secret(data={"api-key": "c2VjcmV0"})], []),
        ({}, [secret(stringData={"api-key": "s3cret"})], []),
        ({}, [], []),
        (
            {},
            [secret("other", data={"token": "c2VjcmV0"})],
            [("spec.auth.secretRef.name", "not-found", "names Secret provider, which is not given; there is other")],
        ),
        (
            {},
            [secret(data={"token": "c2VjcmV0"})],
            [("spec.auth.secretRef", "missing-key", "names key api-key, which Secret provider lacks; it has token")],
        ),
        (
            {"key": "apikey"},
            [secret(data={"api-key": "c2VjcmV0"})],
            [
                (
                    "spec.auth.secretRef.key",
                    "missing-key",
                    "names key apikey, which Secret provider lacks; did you mean api-key?",
                )
            ],
        ),
        (
            {},
            [secret(namespace="other-team", data={"api-key": "c2VjcmV0"})],
            [
                (
                    "spec.auth.secretRef.name",
                    "tenancy",
                    "names a Secret of its own namespace, but provider is only in other-team",
                )
            ],
        ),
    ],
    ids=["there", "there as text", "not given", "another", "another key", "a typo", "another tenant's"],
)
def test_a_secret_that_lacks_its_key_is_told(reference: Object, given: list[Object], want: list[Any]) -> None:
    assert said(endpoint("https://api.example.com/v1", auth=key(**reference)), *given) == want


def test_so_is_one_for_certificates() -> None:
    tls = {"caSecretRef": {"name": "ca"}}
    got = said(endpoint("https://api.example.com/v1", tls=tls), secret("ca", data={"tls.crt": "c2VjcmV0"}))

    want = "names key ca.crt, which Secret ca lacks; did you mean tls.crt?"
    assert got == [("spec.tls.caSecretRef", "missing-key", want)]


def test_a_secret_without_a_namespace_is_where_the_endpoint_is() -> None:
    bare = endpoint("https://api.example.com/v1", auth=key())
    del bare["metadata"]["namespace"]
    assert codes(bare, secret(namespace=None, data={"x": "c2VjcmV0"})) == [("spec.auth.secretRef", "missing-key")]
