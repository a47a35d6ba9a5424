"""The function table: one CEL library is one module, and one line here.

A library's module declares its types (`OpaqueType`), and each of its overloads with signature, implementation and price
(`function`, `method`, `Cost`). The contract is `function.cel.language.declarations`.
"""

from __future__ import annotations

from function.cel.language import operators
from function.cel.language.declarations.library import Library
from function.cel.libraries import (
    authorization,
    conversions,
    format,  # noqa: A004  (the name of the library)
    ip,
    lists,
    optionals,
    quantity,
    regex,
    semver,
    size,
    string_format,
    strings,
    times,
    url,
)

LIBRARIES: tuple[Library, ...] = (
    operators.LIBRARY,
    size.LIBRARY,
    conversions.LIBRARY,
    times.LIBRARY,
    optionals.LIBRARY,
    lists.LIBRARY,
    strings.LIBRARY,
    string_format.LIBRARY,
    regex.LIBRARY,
    quantity.LIBRARY,
    semver.LIBRARY,
    url.LIBRARY,
    ip.LIBRARY,
    format.LIBRARY,
    authorization.LIBRARY,
)
"""In the order in which the overloads of a function that several libraries have are tried."""
