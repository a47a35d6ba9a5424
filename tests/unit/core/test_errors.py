"""The drawing of the exception tree shows the exceptions that exist, each below its base."""

from __future__ import annotations

import builtins
import importlib
import inspect
import pkgutil
import re

import click

import function
from function.core import errors

_LINE = re.compile(r"^ {4}((?:│  |   )*)[├└]─ (\w+)", re.MULTILINE)


def _drawn() -> dict[str, str]:
    """The base of every exception, as drawn."""
    path, bases = ["BaseException"], {}
    for indent, name in _LINE.findall(errors.__doc__ or ""):
        depth = len(indent) // 3 + 1
        path[depth:] = [name]
        bases[name] = path[depth - 1]
    others = {*dir(builtins), click.ClickException.__name__}
    return {name: base for name, base in bases.items() if name not in others}


def _defined() -> dict[str, str]:
    """The base of every public exception that a module of the function defines."""
    names = [m.name for m in pkgutil.walk_packages(function.__path__, "function.") if not m.name.endswith("__main__")]
    modules = [importlib.import_module(name) for name in names]
    return {
        cls.__name__: cls.__mro__[1].__name__
        for module in modules
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, BaseException) and cls.__module__ == module.__name__ and not cls.__name__.startswith("_")
    }


def test_every_exception_is_drawn_below_its_base():
    assert _drawn() == _defined()


def test_only_a_deadline_passes_handlers_of_exceptions():
    assert not issubclass(errors.DeadlineExceeded, Exception)
    assert issubclass(errors.Undecided, Exception)
