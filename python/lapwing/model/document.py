# SPDX-License-Identifier: MIT
"""Profiles as JSON, checked field by field: the schema is the dataclasses of profile.py.

Fields that have their default are left out. A field that this version does not know is an error: it
would be wrong to ignore what a newer writer found important.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from lapwing.errors import RecordError
from lapwing.model.profile import JobProfile

SCHEMA = "lapwing-profile"
VERSION = 1
REMEDY = "give a record of `lapwing profile`, a profile in JSON (docs/profile.schema.json), or a report of mpiP"


def encode_value(value: Any) -> Any:
    """Turn a value of the profile into what JSON knows."""
    if is_dataclass(value):
        pairs = ((f, getattr(value, f.name)) for f in fields(value))
        return {f.name: encode_value(entry) for f, entry in pairs if not has_default(f, entry)}
    if isinstance(value, tuple):
        return [encode_value(entry) for entry in value]
    if isinstance(value, Mapping):
        return dict(value)
    return value.value if isinstance(value, Enum) else value


def has_default(field: Any, value: Any) -> bool:
    """Say whether a field may be left out."""
    if field.default_factory is not MISSING:
        return bool(value == field.default_factory())
    return field.default is not MISSING and bool(value == field.default)


class DocumentError(ValueError):
    """A value that does not fit; the message begins with its place."""


@cache
def load_hints(kind: type) -> Mapping[str, Any]:
    """Return the types of a dataclass's fields."""
    return get_type_hints(kind)


def decode_number(kind: type, value: Any, place: str) -> Any:
    """Read a number: counts, times and sizes are never negative."""
    if isinstance(value, bool) or not isinstance(value, int if kind is int else (int, float)):
        raise DocumentError(f"{place} is no {'whole number' if kind is int else 'number'}")
    if isinstance(value, int) and abs(value) >= 1 << 63:
        raise DocumentError(f"{place} is too large")
    if not isfinite(value) or value < 0:
        raise DocumentError(f"{place} is negative or not finite")
    return kind(value)


def decode_object(kind: Any, value: Any, place: str) -> Any:
    """Read a dataclass."""
    if not isinstance(value, dict):
        raise DocumentError(f"{place} is no object")
    hints = load_hints(kind)
    unknown = sorted(set(value) - set(hints))
    if unknown:
        raise DocumentError(f"{place} has the unknown field {unknown[0]!r}")
    required = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    for name in required:
        if name not in value:
            raise DocumentError(f"{place} lacks {name}")
    return kind(**{name: decode_value(hints[name], entry, f"{place}.{name}") for name, entry in value.items()})


def decode_mapping(value: Any, place: str) -> dict[str, int]:
    """Read an object of counts."""
    if not isinstance(value, dict):
        raise DocumentError(f"{place} is no object")
    return {name: decode_number(int, entry, f"{place}.{name}") for name, entry in value.items()}


def decode_enum(kind: type[Enum], value: Any, place: str) -> Enum:
    """Read one of several words."""
    for member in kind:
        if member.value == value:
            return member
    raise DocumentError(f"{place} is none of {', '.join(str(member.value) for member in kind)}")


def decode_tuple(hint: Any, value: Any, place: str) -> tuple[Any, ...]:
    """Read a list."""
    if not isinstance(value, list):
        raise DocumentError(f"{place} is no list")
    kind = get_args(hint)[0]
    return tuple(decode_value(kind, entry, f"{place}[{number}]") for number, entry in enumerate(value))


def decode_value(hint: Any, value: Any, place: str) -> Any:
    """Read a value of the given type."""
    if get_origin(hint) is UnionType:
        return (
            None if value is None else decode_value(next(a for a in get_args(hint) if a is not NoneType), value, place)
        )
    if get_origin(hint) is tuple:
        return decode_tuple(hint, value, place)
    if get_origin(hint) is Mapping:
        return decode_mapping(value, place)
    if is_dataclass(hint):
        return decode_object(hint, value, place)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return decode_enum(hint, value, place)
    if hint in (int, float):
        return decode_number(hint, value, place)
    if not isinstance(value, hint):
        raise DocumentError(f"{place} is no {hint.__name__}")
    return value


@dataclass(frozen=True)
class Format:
    """A kind of document. name: what it is called, and the field that holds it.

    remedy: where a file is something else; again: where one is damaged.
    """

    schema: str
    version: int
    name: str
    remedy: str
    again: str

    def encode(self, value: Any) -> str:
        """Write a document as JSON."""
        document = {"schema": self.schema, "version": self.version, self.name: encode_value(value)}
        return json.dumps(document, indent=1) + "\n"

    def decode(self, hint: Any, text: str, source: str) -> Any:
        """Read a document, or say what is wrong with it."""
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RecordError(f"{source} is damaged or cut short (no valid JSON)", self.remedy) from error
        if not isinstance(document, dict) or document.get("schema") != self.schema:
            raise RecordError(f"{source} is no {self.name}", self.remedy)
        version = document.get("version")
        if isinstance(version, int) and version > self.version:
            cause = f"{source} was written by a newer Lapwing ({self.name} version {version})"
            raise RecordError(cause, "update Lapwing")
        try:
            if version != self.version or isinstance(version, bool):
                raise DocumentError("version is unknown")
            return decode_value(hint, document.get(self.name), self.name)
        except DocumentError as error:
            raise RecordError(f"{source} is damaged: {error}", self.again) from error


FORMAT = Format(SCHEMA, VERSION, "profile", REMEDY, "profile again")


def decode_profile(text: str, source: str) -> JobProfile:
    """Read a profile, or say what is wrong with it."""
    profile: JobProfile = FORMAT.decode(JobProfile, text, source)
    return profile
