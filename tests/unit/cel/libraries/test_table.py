"""Every overload in the table has all that a phase of the engine asks for, and the table is as it was agreed."""

from __future__ import annotations

import ast
from inspect import signature
from pathlib import Path

from function.cel import environments, libraries
from function.cel.language.declarations.cost import Argument
from function.cel.language.declarations.overload import Overload, special_form
from function.cel.language.declarations.types import Type
from function.cel.language.values.opaque import NoValue
from function.cel.libraries import LIBRARIES

OVERLOADS = [overload for library in LIBRARIES for overload in library.overloads]
TYPES = [type_ for library in LIBRARIES for type_ in library.types]
MODULES = {path.stem for path in Path(libraries.__file__).parent.glob("*.py")} - {"__init__"}


def test_each_module_is_in_the_table_once():
    assert len(LIBRARIES) == len({library.name for library in LIBRARIES}) == len(MODULES) + 1  # and the operators
    assert all(getattr(libraries, module).LIBRARY in LIBRARIES for module in MODULES)


def test_each_overload_has_an_implementation_that_takes_its_arguments():
    assert [overload.id for overload in OVERLOADS if not _is_callable(overload)] == []


def _is_callable(overload: Overload) -> bool:
    if overload.run is special_form or overload.run in (float, str):  # which have no signature
        return True
    try:
        signature(overload.run).bind(*overload.params)
    except TypeError:
        return False
    return True


def test_each_overload_has_an_estimate_and_a_charge():
    for overload in OVERLOADS:
        params = overload.params if overload.is_method else (None, *overload.params)
        target, *args = [_argument(type_) for type_ in params]
        estimate = overload.cost.estimate(target, args)
        assert estimate is None or estimate.cost.least <= estimate.cost.most, overload.id
        values = [_VALUES.get(type_.kind, "text") for type_ in overload.params]
        assert overload.cost.actual(values, "result") >= 0, overload.id
        assert overload.cost.unresolved(values, "result") >= 0, overload.id


_VALUES = {"int": 1, "list": [1], "bytes": b"text"}


def _argument(type_: Type | None) -> Argument | None:
    return None if type_ is None else Argument(type_, None, None, (), {})


def test_beside_the_operators_two_methods_of_optionals_are_special_forms():
    special = {overload.function for overload in OVERLOADS if overload.run is special_form}
    language = {"_&&_", "_||_", "_?_:_", "_[_]", "_[?_]", "_?._", "@not_strictly_false"}
    assert special - language == {"or", "orValue"}


def test_a_function_is_universal_or_not_with_all_its_overloads():
    """The compiler asks the first that fits."""
    for overloads in environments.SELECTOR.functions.values():
        assert len({(o.is_universal, o.is_guarded, o.prepare, o.is_growing) for o in overloads}) == 1, overloads[0].id


def test_each_type_with_values_has_a_name():
    assert [type_.name for type_ in TYPES if type_.values is not NoValue and "." not in type_.type_name] == []


def test_cel_imports_nothing_else_of_ours():
    root = Path(environments.__file__).parent
    found = {name for path in root.rglob("*.py") for name in _imports(path) if name.split(".")[0] == "function"}
    assert {name for name in found if not name.startswith("function.cel")} == set()


def _imports(path: Path) -> list[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return modules + [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
