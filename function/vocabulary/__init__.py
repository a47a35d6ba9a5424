"""Words that several packages share, each defined once: labels, names, API versions, charts, conditions, reasons."""
