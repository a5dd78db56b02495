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

TITLE = "Profile of an MPI job, version 1"
DESCRIPTION = "Times in ns, sizes in bytes. python/lapwing/model/profile.py says what each field means."
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


def make_schema(title: str, description: str, schema: str, version: int, name: str, kind: Any) -> dict[str, Any]:
    """Return the schema of a document that holds one dataclass under a name."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": description,
        "type": "object",
        "properties": {"schema": {"const": schema}, "version": {"const": version}, name: describe_type(kind)},
        "required": ["schema", "version", name],
        "$defs": {entry.__name__: describe_class(entry) for entry in list_classes(kind)},
    }


def format_schema(schema: dict[str, Any]) -> str:
    """Return a schema's text."""
    return json.dumps(schema, indent=1) + "\n"


def make_profile_schema() -> dict[str, Any]:
    """Return the schema of profiles."""
    return make_schema(TITLE, DESCRIPTION, SCHEMA, VERSION, "profile", JobProfile)


def format_profile_schema() -> str:
    """Return the text of docs/profile.schema.json."""
    return format_schema(make_profile_schema())


if __name__ == "__main__":
    print(format_profile_schema(), end="")
