"""Strict checks of manifests, before anyone applies them."""

from function.validation.finding import Finding
from function.validation.validate import report, validate

__all__ = ["Finding", "report", "validate"]
