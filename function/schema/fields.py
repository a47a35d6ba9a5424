"""Field types: each is a Python check, a check for the API server, and a description of what is accepted."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Len, MaxLen
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, Strict
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from function.vocabulary import labels, patterns
from function.vocabulary.patterns import LABEL, SUBDOMAIN

NOT_ACCEPTED = "not_accepted"
"""Type of a validation error whose context describes what is accepted."""
MISPLACED = "misplaced"
"""Type of a validation error about one key of a map, or one item of a list."""
WORDS = "x-words"
"""Schema key for the meaning of a pattern. It becomes part of the description."""
JSON = 2**53 - 1
"""The largest integer that JSON numbers represent exactly: protobuf's Struct holds them as doubles."""


def _refusal(accepted: str) -> PydanticCustomError:
    return PydanticCustomError(NOT_ACCEPTED, "must be {accepted}", {"accepted": accepted})


def _misplaced(key: str | int, message: str) -> PydanticCustomError:
    return PydanticCustomError(MISPLACED, "{message}", {"key": key, "message": message})


@dataclass(frozen=True, slots=True)
class Text:
    """A string of bounded length, optionally with a pattern."""

    longest: int
    pattern: str = ""
    """In the common syntax of Go and Python, anchored at both ends."""
    words: str = ""
    """What the pattern means, in words."""
    shortest: int = 1
    secret: bool = False
    """Whether a value may be secret, so that no message repeats it."""
    cel: str = ""
    """An additional check for the API server: a CEL expression over `self`."""
    holds: Callable[[str], bool] | None = None
    """The same check in Python. It must decide exactly as `cel` does."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, core_schema.str_schema(strict=True))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        bounds: JsonSchemaValue = {"type": "string", "maxLength": self.longest}
        if self.shortest:
            bounds["minLength"] = self.shortest
        rule = self._rule()
        return {**bounds, "x-kubernetes-validations": [rule], WORDS: self.words} if rule["rule"] else bounds

    def _rule(self) -> dict[str, str]:
        """Return a rule, not the schema's `pattern`, which the API server would repeat in its error message."""
        matches = f"self.matches({quoted(self.pattern)})" if self.pattern else ""
        return {"rule": " && ".join(filter(None, (matches, self.cel))), "message": f"must be {self.accepted}"}

    @property
    def accepted(self) -> str:
        bounds = (
            f"{self.shortest} to {self.longest} characters" if self.shortest else f"up to {self.longest} characters"
        )
        return f"{self.words} ({bounds})" if self.words else bounds

    def _check(self, value: str) -> str:
        if not self.shortest <= len(value) <= self.longest or not self._has_form(value):
            raise _refusal(self.accepted)
        return value

    def _has_form(self, value: str) -> bool:
        matches = not self.pattern or re.fullmatch(self.pattern, value) is not None
        return matches and (self.holds is None or self.holds(value))


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several strings that a table elsewhere lists. Where the list is written in the model, use `Literal`."""

    options: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(list(self.options))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "enum": list(self.options)}


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer within bounds. A double without a fraction counts: JSON and protobuf do not distinguish them."""

    least: int
    most: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._check, core_schema.int_schema())

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "integer", "format": "int64", "minimum": self.least, "maximum": self.most}

    @property
    def accepted(self) -> str:
        return f"a whole number from {self.least} to {self.most}"

    def _check(self, value: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not self.least <= value <= self.most:
            raise _refusal(self.accepted)
        return value


@dataclass(frozen=True, slots=True)
class Amount:
    """A Kubernetes quantity. It may be written as a string or a whole number, and is kept as a string."""

    pattern: str = r"^([0-9]+\.?[0-9]*|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?$"
    """apimachinery's grammar without a sign (k8s.io/apimachinery v0.36, pkg/api/resource, ParseQuantity)."""
    longest: int = 64
    accepted: str = "a Kubernetes quantity such as 500m, 8, 40Gi or 1.5e3; a fraction is written in quotes"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._check, core_schema.str_schema())

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        either: JsonSchemaValue = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
        form: JsonSchemaValue = {"minimum": 0, "maxLength": self.longest, "pattern": self.pattern, WORDS: self.accepted}
        return {**either, **form, "x-kubernetes-int-or-string": True}

    def _check(self, value: Any) -> str:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or len(value) > self.longest or not re.fullmatch(self.pattern, value):
            raise _refusal(self.accepted)
        return value


@dataclass(frozen=True, slots=True)
class ListMap:
    """A list whose items are identified by one of their fields."""

    key: str = "name"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [self.key]}

    def _check(self, items: Sequence[Any]) -> Sequence[Any]:
        seen = set()
        for index, item in enumerate(items):
            key = getattr(item, self.key)
            if key in seen:
                raise _misplaced(index, f"has the {self.key} of an item above it, {key}; each needs its own")
            seen.add(key)
        return items


@dataclass(frozen=True, slots=True)
class Keys:
    """A constraint on the keys of a map. Structural schemas have none, so it becomes a CEL rule."""

    longest: int
    pattern: str
    words: str
    reserved: str = ""
    """A prefix that users may not set."""
    longest_domain: int = 0
    """Longest domain before a slash, in characters; 0 if keys have no domain."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "x-kubernetes-validations": list(self._rules())}

    def _rules(self) -> Any:
        domain = f" && key.split('/')[0].size() <= {self.longest_domain}" if self.longest_domain else ""
        yield {
            "rule": f"self.all(key, size(key) <= {self.longest}{domain} && key.matches({quoted(self.pattern)}))",
            "message": f"every key must be {self.words}",
        }
        if self.reserved:
            rule = f"self.all(key, !key.startsWith({quoted(self.reserved)}))"
            yield {"rule": rule, "message": f"keys under {self.reserved} are set by Modelplane"}

    def _check(self, items: dict[str, Any]) -> dict[str, Any]:
        for key in items:
            if not self._has_form(key):
                raise _misplaced(key[: self.longest], f"must have a key that is {self.words}")
            if self.reserved and key.startswith(self.reserved):
                raise _misplaced(key, f"is under {self.reserved}, which Modelplane sets itself")
        return items

    def _has_form(self, key: str) -> bool:
        if len(key) > self.longest or re.fullmatch(self.pattern, key) is None:
            return False
        return not self.longest_domain or len(key.partition("/")[0]) <= self.longest_domain


def quoted(text: str) -> str:
    """Return a text as a CEL string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_LABEL_63 = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"

Flag = Annotated[bool, Strict()]
Int64 = Annotated[int, Whole(-JSON, JSON)]
Quantity = Annotated[str, Amount()]
CelText = Annotated[str, Text(10240)]
DnsLabel = Annotated[str, Text(63, LABEL, patterns.LABEL_WORDS)]
DnsSubdomain = Annotated[str, Text(253, SUBDOMAIN, patterns.SUBDOMAIN_WORDS)]
XrName = Annotated[str, Text(63, SUBDOMAIN, patterns.SUBDOMAIN_WORDS)]
"""Name of one of our own kinds. Crossplane writes it into a label, hence 63 characters."""
HostName = Annotated[
    str,
    Text(
        253,
        rf"^({_LABEL_63}\.)*[a-z]([-a-z0-9]{{0,61}}[a-z0-9])?$",
        "a host name: DNS labels of up to 63 lower-case letters, digits and dashes with dots between them, the last of"
        " which starts with a letter; no address and no wildcard",
    ),
]
SecretKey = Annotated[
    str,
    Text(253, patterns.FILE_KEY, patterns.FILE_KEY_WORDS),
]
"""A key of a Secret or ConfigMap."""
CloudName = Annotated[
    str,
    Text(
        63,
        r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$",
        "a name as the cloud gives it: letters, digits, dashes, dots and underscores",
    ),
]
"""A region, machine type or the like, of which only the cloud knows the valid ones."""
_NUMBER = "(0|[1-9][0-9]*)"
_IDENTIFIER = r"(0|[1-9][0-9]*|[0-9]*[-A-Za-z][-0-9A-Za-z]*)"
_SUFFIX = rf"(-{_IDENTIFIER}(\.{_IDENTIFIER})*)?(\+[-0-9A-Za-z]+(\.[-0-9A-Za-z]+)*)?"
"""Pre-release and build of a semantic version (semver.org, 2.0.0)."""
KubernetesVersion = Annotated[
    str,
    Text(32, rf"^v?{_NUMBER}\.{_NUMBER}(\.{_NUMBER})?{_SUFFIX}$", "a Kubernetes version, such as 1.36"),
]
ChartVersion = Annotated[
    str, Text(64, rf"^v?{_NUMBER}(\.{_NUMBER}){{2}}{_SUFFIX}$", "a chart's version, such as 1.2.3")
]
Version = Annotated[
    str,
    Text(64, rf"^{_NUMBER}(\.{_NUMBER}){{2}}{_SUFFIX}$", "a semantic version with three numbers, such as 9.0.0"),
]
LabelKey = Annotated[
    str,
    Text(
        317,
        patterns.KEY,
        patterns.KEY_WORDS,
        cel=f"self.split('/')[0].size() <= {patterns.LONGEST_DOMAIN}",
        holds=lambda key: len(key.partition("/")[0]) <= patterns.LONGEST_DOMAIN,
    ),
]
LabelValue = Annotated[
    str,
    Text(63, patterns.LABEL_VALUE, patterns.LABEL_VALUE_WORDS, shortest=0),
]
LABEL_KEYS = Keys(317, patterns.KEY, patterns.KEY_WORDS, longest_domain=patterns.LONGEST_DOMAIN)
QUALIFIED_KEYS = Keys(
    96,
    f"^({patterns.DOMAIN}/)?[A-Za-z_][A-Za-z0-9_]{{0,31}}$",
    "a name of up to 32 letters, digits and underscores, alone or after a domain of up to 63 characters and a slash",
    longest_domain=63,
)
"""Names of device attributes and capacities in ResourceSlices (k8s.io/api v0.36, resource/v1, QualifiedName)."""
RESOURCE_KEYS = Keys(17, "^(cpu|memory|ephemeral-storage)$", "cpu, memory or ephemeral-storage")
"""Resources that nodes have and containers request (k8s.io/api v0.36, core/v1, ResourceName)."""
_USERS_KEYS = dataclasses.replace(LABEL_KEYS, reserved=labels.PREFIX)
Labels = Annotated[dict[str, LabelValue], MaxLen(32), _USERS_KEYS]
"""Labels that users set on composed objects."""
Annotations = Annotated[dict[str, Annotated[str, Text(32768, shortest=0)]], MaxLen(32), _USERS_KEYS]
Selector = Annotated[dict[str, LabelValue], MaxLen(32), LABEL_KEYS]
"""Labels that an object must have."""
SomeLabels = Annotated[dict[str, LabelValue], Len(1, 32), LABEL_KEYS]
"""Labels that an object must have, at least one."""
