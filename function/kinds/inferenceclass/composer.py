"""Whether an InferenceClass can be scheduled on. It composes nothing: clusters copy what it says."""

from __future__ import annotations

from collections import Counter

from function.api.inferenceclass import API_VERSION, KIND, Spec, parse
from function.core import Composer, Request, Result
from function.vocabulary import conditions as c


def _compose(request: Request) -> Result:
    devices = _summary(parse(request.xr))
    return Result(ready=True, conditions=(c.AVAILABLE(devices=devices),), status={"devices": devices})


def _summary(spec: Spec) -> str:
    """Such as `8 gpu, 8 nic`."""
    counted: Counter[str] = Counter()
    for device in spec.devices:
        counted[device.name] += device.count
    return ", ".join(f"{count} {name}" for name, count in counted.items())


COMPOSER = Composer(
    api_version=API_VERSION,
    kind=KIND,
    conditions=(c.CLASS_ACCEPTED,),
    invalid=c.INVALID_CLASS,
    requirements=lambda _: (),
    compose=_compose,
)
