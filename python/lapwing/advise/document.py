# SPDX-License-Identifier: MIT
"""An advice as JSON, written and read; the schema is the dataclasses of advice.py (docs/advice.schema.json).

python -m lapwing.advise.document > docs/advice.schema.json
"""

from pathlib import Path

from lapwing.advise.advice import Advice
from lapwing.errors import RecordError
from lapwing.model.document import Format
from lapwing.model.schema import format_schema, make_schema

SCHEMA = "lapwing-advice"
VERSION = 3
TITLE = "What `lapwing advise` found, version 3"
DESCRIPTION = "Times in seconds. python/lapwing/advise/advice.py says what each field means."
LENGTH_MAX_BYTES = 1 << 26
REMEDY = "give a file that `lapwing advise --json FILE` wrote"
FORMAT = Format(SCHEMA, VERSION, "advice", REMEDY, "run `lapwing advise` again")


def encode_advice(advice: Advice) -> str:
    """Write an advice as JSON."""
    return FORMAT.encode(advice)


def decode_advice(text: str, source: str) -> Advice:
    """Read an advice, or say what is wrong with it."""
    advice: Advice = FORMAT.decode(Advice, text, source)
    return advice


def is_advice(path: Path) -> bool:
    """Say whether a file looks like an advice; what is wrong with it, decode_advice() says."""
    try:
        with path.open("rb") as stream:
            return f'"schema": "{SCHEMA}"'.encode() in stream.read(64)
    except OSError as error:
        raise RecordError(f"{path} cannot be read ({error.strerror})", "correct the path") from error


def read_advice(path: Path) -> Advice:
    """Read a file; every flaw ends in one RecordError."""
    try:
        if path.stat().st_size > LENGTH_MAX_BYTES:
            raise RecordError(f"{path} is too large for an advice", REMEDY)
        return decode_advice(path.read_text("utf-8"), str(path))
    except OSError as error:
        raise RecordError(f"{path} cannot be read ({error.strerror})", "correct the path") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path} is damaged", REMEDY) from error


def format_advice_schema() -> str:
    """Return the text of docs/advice.schema.json."""
    return format_schema(make_schema(TITLE, DESCRIPTION, SCHEMA, VERSION, "advice", Advice))


if __name__ == "__main__":
    print(format_advice_schema(), end="")
