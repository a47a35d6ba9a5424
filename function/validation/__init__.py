"""Everything that can be said against manifests before anybody applies them."""

from function.validation.flaw import Flaw
from function.validation.validate import validate

__all__ = ["Flaw", "validate"]
