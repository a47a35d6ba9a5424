"""The composers of all kinds."""

from __future__ import annotations

from collections.abc import Mapping

from function import clouds
from function.core import Composer, Request, Result
from function.kinds.inferenceclass.composer import COMPOSER as INFERENCE_CLASS
from function.kinds.inferencecluster.composer import COMPOSER as INFERENCE_CLUSTER
from function.kinds.inferencegateway.composer import COMPOSER as INFERENCE_GATEWAY
from function.kinds.modelcache.composer import COMPOSER as MODEL_CACHE
from function.kinds.modelcaller.composer import COMPOSER as MODEL_CALLER
from function.kinds.modeldeployment.composer import COMPOSER as MODEL_DEPLOYMENT
from function.kinds.modelendpoint.composer import COMPOSER as MODEL_ENDPOINT
from function.kinds.modelreplica.composer import COMPOSER as MODEL_REPLICA
from function.kinds.modelservice.composer import COMPOSER as MODEL_SERVICE
from function.kinds.servingstack.composer import COMPOSER as SERVING_STACK

_ALL: tuple[Composer, ...] = (
    MODEL_DEPLOYMENT,
    INFERENCE_CLASS,
    INFERENCE_CLUSTER,
    SERVING_STACK,
    MODEL_CACHE,
    MODEL_REPLICA,
    MODEL_ENDPOINT,
    MODEL_SERVICE,
    MODEL_CALLER,
    INFERENCE_GATEWAY,
    *clouds.composers(),
)

COMPOSERS: Mapping[tuple[str, str], Composer] = {(composer.api_version, composer.kind): composer for composer in _ALL}


class UnknownKind(LookupError):
    """The XR is of a kind that the function does not compose. The message lists the kinds that it does."""


def composer(api_version: str, kind: str) -> Composer:
    """Return the composer of a kind. Raises UnknownKind."""
    found = COMPOSERS.get((api_version, kind))
    if found is None:
        known = ", ".join(f"{k} ({v})" for v, k in sorted(COMPOSERS, key=lambda pair: pair[::-1]))
        raise UnknownKind(f"no composer for kind {kind or '(none)'} of {api_version or '(none)'}; known kinds: {known}")
    return found


def of(request: Request) -> Composer:
    """Return the composer of a request's XR. Raises UnknownKind."""
    return composer(request.xr.get("apiVersion") or "", request.xr.get("kind") or "")


def compose(request: Request) -> Result:
    """Answer a request with the composer of its XR. Raises UnknownKind."""
    return of(request)(request)
