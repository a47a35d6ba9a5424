"""What the models of all kinds share: parsing a spec, and the structural schema that an XRD needs."""

from __future__ import annotations

import reprlib
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.config import JsonDict

from function.core import InvalidSpec, Manifest, Reason, plain


class Api(BaseModel):
    """A piece of an API. Lenient: a field of a later version passes."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


Spec = TypeVar("Spec", bound=Api)


def parse(model: type[Spec], xr: Manifest, invalid: Reason) -> Spec:
    """An XR's spec. Raises InvalidSpec, for the given reason, where it does not fit the model."""
    try:
        return model.model_validate(plain(xr.get("spec") or {}))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        got = "" if first["type"] == "missing" else f", not {reprlib.repr(first['input'])}"
        field = ".".join(str(part) for part in ("spec", *first["loc"]))
        raise InvalidSpec(invalid(field=field, problem=first["msg"] + got)) from error


def rules(*pairs: tuple[str, str]) -> JsonDict:
    """A model's CEL rules, each with the message for who breaks it."""
    return {"x-kubernetes-validations": [{"rule": rule, "message": message} for rule, message in pairs]}


def structural(model: type[Api]) -> dict[str, Any]:
    """A model's schema as Kubernetes wants it: references in place, no titles, no nulls."""
    raise NotImplementedError
