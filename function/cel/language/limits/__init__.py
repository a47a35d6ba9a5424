"""Every bound on an expression: how long, how deep, how costly, and how much of it is remembered.

Terms:

- *cost* is what Kubernetes counts: one unit for most steps, a tenth of a unit for a character that is read.
- A *step* is what we count beside it, because Kubernetes' prices do not bound the work: it prices a comparison of
  lists by their length, whatever the elements are, and a text by what it is made from, however long the result is.

A bound comes either from Kubernetes, and then names its source, or is ours, and then says which attack it stops. The
modules of this package enforce the bounds that need a mechanism: `step_budget`, `recursion_limit`, `bounded_cache`. All
others are compared where the value is at hand. How many steps an operation takes is written beside the operation: that
is its price, not a bound.
"""

from __future__ import annotations

# Text and tree

TEXT_BYTES = 10_240
"""Bytes of an expression. Source: k8s.io/api v0.36, resource/v1 (CELSelectorExpressionMaxLength)."""
NESTING = 250
"""Active rules of one kind in the parser, and nested levels of the tree.

Source: github.com/google/cel-go v0.26, parser/options.go (maxRecursionDepth).
"""
COPIED_NODES = 5_000
"""Nodes that macros may write a second time. Ours: each optMap doubles its target, so a short text becomes a tree
of any size. Kubernetes has no such limit."""
LITERAL_DIGITS = 400
"""Digits of an integer literal that are converted before it is compared with 64 bits. Ours: conversion is quadratic,
and more than 20 digits never fit."""
CONVERTED_DIGITS = 4_000
"""Digits that int() and uint() convert. Ours: below the interpreter's own limit on conversions (4,300)."""

# Cost, in the units of Kubernetes

COST = 1_000_000
"""Of an evaluation. Source: k8s.io/api v0.36, resource/v1 (CELSelectorExpressionMaxCost)."""
SERVER_COST = 20_000
"""Of an evaluation on the server. Ours: some milliseconds, since all deployments wait for it. Ordinary selectors cost
less than 100 units."""

# Steps, beside the cost

STEPS = 250_000
"""Of an evaluation. Ours: it stops comparisons of nested lists, say, which Kubernetes prices by their outer lengths."""
SERVER_STEPS = 25_000
"""Of an evaluation on the server, of a selector as costly as the server allows. Ours: as for SERVER_COST."""

# The interpreter's stack

RECURSION_LIMIT = 30_000
"""Frames while an expression is compiled or a deep one evaluated. Ours: about a hundred for each of NESTING levels."""
SHALLOW_LEVELS = 40
"""Levels that an evaluation has frames for without a raised recursion limit. Ours: raising takes a lock."""

# What is remembered

COMPILED_CHARACTERS = 2**19
"""Characters of the selectors that are kept compiled. Ours: one of them becomes up to 200 bytes of program."""
ADMITTED_CHARACTERS = 2**22
"""Characters of the selectors whose verdict and cost are kept. Ours: as for COMPILED_CHARACTERS; a verdict is small."""
ENTRY_CHARACTERS = 128
"""Characters that an entry counts beside its text. Ours: so that many short texts are bounded as well."""
COMPILED_RULES = 1024
"""Rules, and as many queries, that are kept compiled. Ours: it bounds the memory."""
REFERENCED_TEXTS = 1024
"""Selectors whose references are kept. Ours: it bounds the memory."""
COMPILED_PATTERNS = 512
"""Regular expressions that are kept compiled. Ours: it bounds the memory."""

# Values of the libraries

QUANTITY_DIGITS = 100_000
"""Digits that an amount is computed with. Ours: nothing is measured in more, and 1e999999 is nine characters."""
MADE_ELEMENTS = 1_000_000
"""Elements of a list that is made from a number. Each costs one unit of COST, so Kubernetes ends it as well."""
URL_PARAMETERS = 10_000
"""Parameters of a URL's query; one with more has none. Source: net/url of Go 1.26."""
FORMAT_PRECISION = 10_000_009
"""Largest precision of a formatting clause that is read as one. Source: golang.org/x/text v0.33, message."""
DOUBLE_DECIMALS = 1074
"""Decimals of a double that are written; all others are zeros. Source: IEEE 754, the smallest subnormal."""
