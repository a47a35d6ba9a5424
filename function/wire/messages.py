"""Message classes for the request in which every Value of a Struct is declared as bytes.

The encoding is the same, but parsing only copies slices, and what is never read is never decoded. A request over 1,000
clusters and 10,000 replicas is 70 MB, of which a decision reads a few fields of each object.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_PACKAGE = "modelplane.wire"
_SCALARS = {
    "bytes": _Field.TYPE_BYTES,
    "string": _Field.TYPE_STRING,
    "double": _Field.TYPE_DOUBLE,
    "bool": _Field.TYPE_BOOL,
}

# Field numbers: crossplane v2.3, proto/fn/v1/run_function.proto; protobuf, google/protobuf/struct.proto.
# "[x]" repeats x, "{x}" maps strings to x. Undeclared fields are skipped.
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "Meta": {"tag": (1, "string")},
    "Struct": {"fields": (1, "{bytes}")},
    "Resource": {"resource": (1, "Struct")},
    "Resources": {"items": (1, "[Resource]")},
    "State": {"composite": (1, "Resource"), "resources": (2, "{Resource}")},
    "Request": {
        "meta": (1, "Meta"),
        "observed": (2, "State"),
        "desired": (3, "bytes"),
        "context": (5, "bytes"),
        "required_resources": (8, "{Resources}"),
    },
    "Values": {"values": (1, "[bytes]")},
    "Value": {
        "number_value": (2, "double"),
        "string_value": (3, "string"),
        "bool_value": (4, "bool"),
        "struct_value": (5, "Struct"),
        "list_value": (6, "Values"),
    },
}


def _build() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="modelplane/wire.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, type_) in fields.items():
            _declare(message, field, number, type_)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {n: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{n}")) for n in _MESSAGES}


def _declare(message: descriptor_pb2.DescriptorProto, name: str, number: int, type_: str) -> None:
    inner = type_.strip("[]{}")
    label = _Field.LABEL_OPTIONAL if type_ == inner else _Field.LABEL_REPEATED
    field = message.field.add(name=name, number=number, label=label)
    if type_.startswith("{"):
        entry = message.nested_type.add(name=f"{''.join(part.capitalize() for part in name.split('_'))}Entry")
        entry.options.map_entry = True
        _declare(entry, "key", 1, "string")
        _declare(entry, "value", 2, inner)
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{message.name}.{entry.name}"
    elif inner in _SCALARS:
        field.type = _SCALARS[inner]
    else:
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{inner}"


_CLASSES = _build()
Request, Resource, Value = _CLASSES["Request"], _CLASSES["Resource"], _CLASSES["Value"]
