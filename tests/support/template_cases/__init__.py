"""Pod templates that are accepted, and templates that are refused, with the field and the words that users read.

One module for each part of a template. All start from the template of `tests.support.samples`.
"""

from __future__ import annotations

from tests.support.template_cases import containers, pods, probes, resources, values, volumes

_PARTS = (containers, pods, probes, resources, values, volumes)
GOOD = {name: template for part in _PARTS for name, template in part.GOOD.items()}
BAD = {name: case for part in _PARTS for name, case in part.BAD.items()}
assert len(BAD) == sum(len(part.BAD) for part in _PARTS), "two cases of one name"
