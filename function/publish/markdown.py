"""Text for tables in Markdown."""

from __future__ import annotations

import re

from function.core import Reason


def template(reason: Reason) -> str:
    """Return a message template for readers, without its optional remark."""
    return cell(re.sub(r"\{(\w+)\}", r"<\1>", reason.template.replace("{remark}", "")))


def cell(text: str) -> str:
    """Escape a table cell.

    In code, only a bar ends the cell; elsewhere, anything that looks like a tag would be one.
    """
    escaped = text.replace("\\|", "|").replace("|", "\\|")
    parts = escaped.split("`")
    return "`".join(part if i % 2 else part.replace("<", "&lt;").replace(">", "&gt;") for i, part in enumerate(parts))
