"""Weights: paths out of the volume, another's volume, and words that a shell or a URL would read differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.core import Manifest
from tests.tenancy.attack import HARMLESS, attacks
from tests.tenancy.fleet import VICTIM, cache, deployment, of, template

_HUB: dict[str, tuple[dict[str, Any], str]] = {
    **{
        f"repo {repo!r}": ({"repo": repo}, "huggingFace.repo")
        for repo in ("../x", "a/..", "a/b/c", "/etc", "a/b\x00", "a/b?x=1", "a/b#x", "a/$(HF_TOKEN)", "a/b;id",
                     "a/`id`", "a/b\r\nX: y", "a/b%2e%2e", "a/" + "b" * 97)
    },
    **{
        f"revision {revision!r}": ({"revision": revision}, "huggingFace.revision")
        for revision in ("../main", "a/../b", "/etc", "refs/../../x", "a..b", "-main", "$(HF_TOKEN)", "main;id", "a b",
                         "a\x00", "main?x", "main#x", "%2e%2e", "x" * 251)
    },
    **{
        f"files {pattern!r}": ({"include": [pattern]}, "huggingFace.include")
        for pattern in ("/etc/passwd", "a\\b", "$(HF_TOKEN)", "a\x00", "a\nb", "a//b", "x" * 257)
    },
    "files above": ({"include": ["../*"]}, HARMLESS),  # patterns choose among the hub's own list of files
    **{
        f"hub {url!r}": ({"endpoint": url}, "huggingFace.endpoint")
        for url in ("file:///etc/passwd", "https://u:p@hub.example.org", "https://hub/../x", "https://hub?x=1", "hub",
                    "https://hub/\r\nX: y", "https://$(HF_TOKEN)/")
    },
    "a Secret elsewhere": ({"authSecret": {"name": f"{VICTIM}/key"}}, "huggingFace.authSecret.name"),
    "a key elsewhere": ({"authSecret": {"name": "key", "key": "../key"}}, "huggingFace.authSecret.key"),
    "a volume without end": ({"sizeGiB": 10**9}, "huggingFace.sizeGiB"),
    "no volume": ({"sizeGiB": -1}, "huggingFace.sizeGiB"),
}  # fmt: skip
_S3: dict[str, tuple[dict[str, Any], str]] = {
    **{
        f"bucket {bucket!r}": ({"bucket": bucket}, "s3.bucket")
        for bucket in ("..", "../x", "a/b/c", "-aa", "a b c", "abc?x", "$(AWS_SECRET_ACCESS_KEY)")
    },
    **{
        f"prefix {prefix!r}": ({"prefix": prefix}, "s3.prefix")
        for prefix in ("../x", "/x", "a/../b", "a/./b", "..", "a//b", "$(AWS_SECRET_ACCESS_KEY)", "a\x00", "a\\b")
    },
    "a store at a file": ({"endpoint": "file:///x"}, "s3.endpoint"),
}
_CLAIMS: dict[str, tuple[dict[str, Any], str]] = {
    "a claim elsewhere": ({"claimName": f"{VICTIM}/weights"}, "claims[0].claimName"),
    "a claim above": ({"claimName": "../weights"}, "claims[0].claimName"),
    "a directory above": ({"claimName": "c", "subPath": "../x"}, "claims[0].subPath"),
    "a directory of the node": ({"claimName": "c", "subPath": "/etc"}, "claims[0].subPath"),
    "a directory above it": ({"claimName": "c", "subPath": "a/../../x"}, "claims[0].subPath"),
    "another's claim by its name": ({"claimName": "weights-1234abcd"}, HARMLESS),
}


def _made() -> Iterator[tuple[str, tuple[Manifest | list[Manifest], str]]]:
    for number, (what, (hub, refused)) in enumerate(_HUB.items()):
        yield what, (cache(f"hub-{number}", **hub), refused)
    for number, (what, (s3, refused)) in enumerate(_S3.items()):
        spec = {"source": "S3", "s3": {"bucket": "abc", "sizeGiB": 1, **s3}}
        yield what, (of("ModelCache", f"s3-{number}", **spec), refused)
    for number, (what, (claim, refused)) in enumerate(_CLAIMS.items()):
        spec = {"source": "PersistentVolumeClaim", "persistentVolumeClaim": {"claims": [claim]}}
        yield what, (of("ModelCache", f"claim-{number}", **spec), refused)
    yield "another's cache by its name", (deployment("borrows", modelCacheRef={"name": "weights-of-victim"}), HARMLESS)
    for number, name in enumerate((f"../{VICTIM}/weights", f"{VICTIM}/weights", f"{VICTIM}%2Fweights")):
        yield (
            f"another's cache: {name}",
            (
                deployment(f"cache-{number}", modelCacheRef={"name": name}),
                "spec.modelCacheRef.name",
            ),
        )
    over = template({"volumeMounts": [{"name": "mine", "mountPath": "/mnt/models"}]}, volumes=[{"name": "mine"}])
    over["spec"]["volumes"][0]["emptyDir"] = {}
    made = [deployment("over", pods=over, modelCacheRef={"name": "mine"}), cache("mine")]
    yield "a mount over our own, in its own pods", (made, HARMLESS)


ATTACKS = attacks("caches", dict(_made()))
