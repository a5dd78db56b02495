# SPDX-License-Identifier: MIT
"""The JSON schema of profiles (docs/profile.schema.json), made from the dataclasses that read them.

python -m lapwing.model.schema > docs/profile.schema.json
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from lapwing.model.document import SCHEMA, VERSION, load_hints
from lapwing.model.profile import JobProfile

SIMPLE: dict[Any, dict[str, Any]] = {
    int: {"type": "integer", "minimum": 0, "exclusiveMaximum": 1 << 63},
    float: {"type": "number", "minimum": 0},
    str: {"type": "string"},
    bool: {"type": "boolean"},
}


def describe_type(hint: Any) -> dict[str, Any]:
    """Return the schema of one field's type."""
    if get_origin(hint) is UnionType:
        inner = next(entry for entry in get_args(hint) if entry is not NoneType)
        return {"anyOf": [describe_type(inner), {"type": "null"}]}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": describe_type(get_args(hint)[0])}
    if get_origin(hint) is Mapping:
        return {"type": "object", "additionalProperties": SIMPLE[int]}
    if is_dataclass(hint):
        return {"$ref": f"#/$defs/{getattr(hint, '__name__', '')}"}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    return SIMPLE[hint]


def describe_class(kind: Any) -> dict[str, Any]:
    """Return the schema of a dataclass."""
    hints = load_hints(kind)
    required = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    return {
        "description": (kind.__doc__ or "").strip().split("\n")[0],
        "type": "object",
        "properties": {f.name: describe_type(hints[f.name]) for f in fields(kind)},
        "required": required,
        "additionalProperties": False,
    }


def list_classes(kind: Any) -> list[Any]:
    """Return a dataclass and all that it is made of, each once."""
    found = [kind]
    for current in found:
        for hint in load_hints(current).values():
            parts = [hint, *get_args(hint)]
            found += [part for part in parts if is_dataclass(part) and part not in found]
    return found


def make_schema() -> dict[str, Any]:
    """Return the schema."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Profile of an MPI job, version 1",
        "description": "Times in ns, sizes in bytes. python/lapwing/model/profile.py says what each field means.",
        "type": "object",
        "properties": {
            "schema": {"const": SCHEMA},
            "version": {"const": VERSION},
            "profile": describe_type(JobProfile),
        },
        "required": ["schema", "version", "profile"],
        "$defs": {kind.__name__: describe_class(kind) for kind in list_classes(JobProfile)},
    }


def format_schema() -> str:
    """Return the schema's text."""
    return json.dumps(make_schema(), indent=1) + "\n"


if __name__ == "__main__":
    print(format_schema(), end="")
