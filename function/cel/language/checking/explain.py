"""The sentences of compile errors: what is wrong, and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from function.cel.language.declarations.environment import Environment
from function.cel.language.declarations.overload import Overload
from function.cel.language.declarations.types import Type
from function.cel.language.errors import Fault
from function.cel.language.syntax.macros import MACROS
from function.cel.language.syntax.tree import Call, Ident, Literal, Node, Select

_ORDERS = ("_<_", "_<=_", "_>_", "_>=_")
_ARITHMETIC = {"_+_": "add", "_-_": "sub"}
_WORDS = {"!_": "!", "-_": "-", "@in": "in", "_[_]": "[ ]", "_[?_]": "[? ]", "_?_:_": "? :"}


def a(type_: Type) -> str:
    """A type as the middle of a sentence names it."""
    if type_.kind == "any":
        return "an attribute value"
    article = "an" if str(type_)[0] in "aeiou" and not str(type_).startswith("u") else "a"
    return "null" if type_.kind == "null" else f"{article} {type_}"


def near(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar, ignoring case; None where none is."""
    names = list(dict.fromkeys(known))
    lower = {n.lower(): n for n in names}
    if name.lower() in lower:
        return lower[name.lower()]
    return next(iter(get_close_matches(name, names, 1)), None)


def undeclared(name: str, at: int, known: Iterable[str], whole: str = "") -> Fault:
    """The name is not declared.

    Arguments: whole: the path that begins with the name. With several dots it is a domain whose quotes were forgotten.
    """
    meant = near(name, known) or (whole if whole.count(".") > 1 else None)
    return Fault(f'undeclared reference "{name}"', at, f'"{meant}"' if meant else None)


def no_field(field: str, at: int, fields: Mapping[str, Type]) -> Fault:
    meant = near(field, fields)
    hint = "" if meant else f"; it has {', '.join(fields)}"
    return Fault(f'a device has no field "{field}"{hint}', at, f'"{meant}"' if meant else None)


def no_fields(type_: Type, field: str, at: int, environment: Environment) -> Fault:
    if _is_ordered(type_.name, environment):
        return Fault(f'{a(type_)} has no field "{field}", only methods', at, _method_like(field, type_, environment))
    if type_.kind == "list":
        return Fault(f'a list has no field "{field}"; an element is read as [0]', at)
    return Fault(f'{a(type_)} has no field "{field}"', at)


def _is_ordered(name: str, environment: Environment) -> bool:
    """Whether it is the name of a type whose values compare by a method."""
    return name in environment.types and environment.types[name].is_ordered


def _method_like(field: str, type_: Type, environment: Environment) -> str | None:
    meant = near(field, _methods(type_, environment))
    return f"{meant}()" if meant else None


def _methods(type_: Type, environment: Environment) -> list[str]:
    return [
        name
        for name, overloads in environment.functions.items()
        if any(o.is_method and (o.params[0].kind, o.params[0].name) == (type_.kind, type_.name) for o in overloads)
    ]


def not_supported(node: Call, environment: str) -> Fault:
    return Fault(f"{node.function}() is a function of Kubernetes that a {environment} does not have", node.at)


def wrong_count(node: Call) -> Fault | None:
    """A macro with a number of arguments that it does not have; None where the name is no macro's."""
    counts = sorted(
        {count for macro, count in MACROS if macro == node.function} | ({1} if node.function == "has" else set())
    )
    if not counts:
        return None
    wanted = " or ".join(map(str, counts)) + (" argument" if counts == [1] else " arguments")
    return Fault(f"{node.function}() takes {wanted}, and this has {len(node.args)}", node.at)


def misnamed(prefix: str, node: Call, environment: Environment) -> Fault | None:
    """A function that its namespace does not have, such as format.name(); None where there is no such namespace."""
    group = [name for name in environment.functions if name.startswith(f"{prefix}.") and "@" not in name]
    if not group:
        return None
    meant = near(f"{prefix}.{node.function}", group)
    return Fault(f'there is no function "{prefix}.{node.function}"', node.at, f"{meant}()" if meant else None)


def unknown_function(node: Call, arguments: Sequence[Type], environment: Environment) -> Fault:
    names = [
        n for n in environment.functions if n[0] not in "_!-@" and "@" not in n and n not in environment.unsuggested
    ]
    known = [*names, *(macro for macro, _ in MACROS), "has"]
    if node.target is not None and arguments and arguments[0].kind not in ("dyn", "any"):
        known = [*_methods(arguments[0], environment), *(macro for macro, _ in MACROS)]
    meant = near(node.function, known) or near(node.function, names)
    return Fault(f'there is no function "{node.function}"', node.at, f"{meant}()" if meant else None)


def no_overload(node: Call, types: Sequence[Type], overloads: Sequence[Overload], environment: Environment) -> Fault:
    special = _of_domain(node, types) or _of_opaque(node, types, environment) or _of_index(node, types)
    if special is not None:
        return special
    if node.function[0] in "_!-@" and "sortBy" not in node.function:
        operator = _WORDS.get(node.function, node.function.strip("_"))
        return Fault(f"{operator} does not take {' and '.join(map(a, types))}", node.at)
    return _of_function(node, types, overloads, environment)


def _of_opaque(node: Call, types: Sequence[Type], environment: Environment) -> Fault | None:
    """An operator that a library's type does not have, or a comparison of its value with a text."""
    written = {name for name, type_ in environment.types.items() if type_.is_written}
    names = [t.name if t.name in written else "" for t in types]
    if not any(names) or node.function[0] not in "_-":
        return None
    kind = next(filter(None, names))
    other = types[1 - names.index(kind)] if len(types) == 2 else None  # noqa: PLR2004  (two operands)
    operator = _WORDS.get(node.function, node.function.strip("_"))
    if other is not None and other.kind in ("string", "int") and node.function in ("_==_", "_!=_", *_ORDERS):
        problem = f"{a(types[names.index(kind)])} cannot be compared with {a(other)}"
        text = _text(node.args[1 - names.index(kind)])
        return Fault(problem, node.at, f'{kind}("{text}")' if text else f"{kind}(...)")
    if not _is_ordered(kind, environment):
        return None
    if node.function in _ORDERS:
        return Fault(f"a {kind} has no {operator}; compare as in x.compareTo(y) {operator} 0", node.at)
    method = _ARITHMETIC.get(node.function)
    has_method = method in _methods(types[names.index(kind)], environment)
    hint = f"; there is x.{method}(y)" if has_method else ""
    return Fault(f"a {kind} has no {operator}{hint}", node.at)


def _of_domain(node: Call, types: Sequence[Type]) -> Fault | None:
    """An operand or a target that names a domain without an id."""
    if node.function in ("_[_]", "_[?_]", "@in"):
        return None
    nodes = node.args if node.target is None else [node.target, *node.args]
    found = (_without_id(part, type_) for part, type_ in zip(nodes, types, strict=True))
    return next((fault for fault in found if fault is not None), None)


def _without_id(node: Node, type_: Type) -> Fault | None:
    """A path that ends at a domain."""
    if type_.kind != "map":
        return None
    match node:
        case Call(function="_[_]", args=[Select(operand=Ident(name="device"), field=field), Literal(value=domain)]):
            return Fault(f"this is all that {domain!r} names", node.at, f'device.{field}["{domain}"].name')
        case Select(operand=Select(operand=Ident(name="device"), field=field), field=name):
            return Fault(f"{name} stands for a domain here", node.at, f'device.{field}["domain"].{name}')
    return None


def _text(node: object) -> str | None:
    return str(node.value) if isinstance(node, Literal) else None


def _of_index(node: Call, types: Sequence[Type]) -> Fault | None:
    if node.function not in ("_[_]", "_[?_]"):
        return None
    target, index = types
    if target.kind == "map":
        return Fault(f"this map is read by {a(target.params[0])}, not by {a(index)}", node.at)
    if target.kind == "list":
        return Fault(f"a list is read by an int, not by {a(index)}", node.at)
    return Fault(f"{a(target)} cannot be read by [ ]", node.at)


def _of_function(node: Call, types: Sequence[Type], overloads: Sequence[Overload], environment: Environment) -> Fault:
    name, is_method = node.function, node.target is not None
    styled = [o for o in overloads if o.is_method == is_method]
    if not styled:
        how = f"a function: {name}(x)" if is_method else f"a method: x.{name}(...)"
        return Fault(f"{name} is {how}", node.at)
    if is_method:
        target, own = types[0], _methods(types[0], environment)
        if name not in own and target.kind not in ("dyn", "any", "error"):
            meant = near(name, own)
            who = " or ".join(dict.fromkeys(a(o.params[0]) for o in styled))
            return Fault(f"{name}() is a method of {who}, not of {a(target)}", node.at, f"{meant}()" if meant else None)
    fitting = [
        o for o in styled if not is_method or (o.params[0].kind == types[0].kind and o.params[0].name == types[0].name)
    ]
    wanted = dict.fromkeys(f"({', '.join(str(p) for p in o.params[is_method:])})" for o in fitting or styled)
    actual = f"({', '.join(map(str, types[is_method:]))})"
    problem = f"{name} takes {' or '.join(wanted)}, and here it has {actual}"
    return Fault(problem, node.at, _converted(node, types, fitting, environment))


def _converted(node: Call, types: Sequence[Type], fitting: Sequence[Overload], environment: Environment) -> str | None:
    """The call with its argument converted, where that is a text instead of an amount or version."""
    kinds = [o.params[-1].name for o in fitting if o.params]
    if not kinds or not _is_ordered(kinds[0], environment) or not node.args or types[-1].kind != "string":
        return None
    text = _text(node.args[-1])
    return f'{node.function}({kinds[0]}("{text}"))' if text else None


def mixed(one: Type, other: Type, at: int) -> Fault:
    return Fault(f"the entries of a literal are of one type: here {a(one)} and {a(other)}", at)


def wrong_result(type_: Type, expected: str, at: int) -> Fault:
    return Fault(f"a {expected} is true or false, and this is {a(type_)}", at)
