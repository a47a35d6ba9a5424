"""Facts that several packages share, each defined once: labels, names, API versions, charts, conditions and reasons."""
