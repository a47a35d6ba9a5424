"""Everything that can be said against manifests before anybody applies them."""

from function.validation.finding import Finding
from function.validation.validate import validate

__all__ = ["Finding", "validate"]
