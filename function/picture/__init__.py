"""The fleet as a picture: one HTML file, made of the data of a plan, a what-if or an explanation."""

from function.picture.explanations import of_explanation
from function.picture.page import render
from function.picture.plans import of_losses, of_plan, of_what_if

__all__ = ["of_explanation", "of_losses", "of_plan", "of_what_if", "render"]
