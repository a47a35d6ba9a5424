"""Objects that the API accepts, and objects that it refuses, with the field and the words that their user reads.

`template_cases` holds bare pod templates. Here each stands in a ModelDeployment.
"""

from __future__ import annotations

from tests.support import cache_cases, caller_cases, deployment_cases, platform_cases, template_cases
from tests.support.deployment_cases import AT_TEMPLATE, TEMPLATE
from tests.support.samples import DEPLOYMENT, Object, edited


def deployed(template: object) -> Object:
    """A deployment whose first member has a pod template."""
    return edited(DEPLOYMENT, TEMPLATE, template)


GOOD = {**deployment_cases.GOOD, **platform_cases.GOOD, **cache_cases.GOOD, **caller_cases.GOOD}
BAD = {**deployment_cases.BAD, **platform_cases.BAD, **cache_cases.BAD, **caller_cases.BAD}
GOOD_TEMPLATES = {name: deployed(template) for name, template in template_cases.GOOD.items()}
BAD_TEMPLATES = {
    name: (deployed(template), f"{AT_TEMPLATE}{'.' if want[0] != ':' else ''}{want}")
    for name, (template, want) in template_cases.BAD.items()
}
