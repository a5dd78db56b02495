# SPDX-License-Identifier: MIT
"""A diagnosis as JSON; the schema is the dataclasses of finding.py (docs/doctor.schema.json).

python -m lapwing.doctor.document > docs/doctor.schema.json
"""

from lapwing.doctor.finding import Diagnosis
from lapwing.model.document import Format
from lapwing.model.schema import format_schema, make_schema

SCHEMA = "lapwing-doctor"
VERSION = 1
TITLE = "What `lapwing doctor` found, version 1"
DESCRIPTION = "python/lapwing/doctor/finding.py says what each field means."
FORMAT = Format(SCHEMA, VERSION, "diagnosis", "give what `lapwing doctor --json` wrote", "run `lapwing doctor` again")


def encode_diagnosis(diagnosis: Diagnosis) -> str:
    """Write a diagnosis as JSON."""
    return FORMAT.encode(diagnosis)


def decode_diagnosis(text: str, source: str) -> Diagnosis:
    """Read a diagnosis, or say what is wrong with it."""
    diagnosis: Diagnosis = FORMAT.decode(Diagnosis, text, source)
    return diagnosis


def format_doctor_schema() -> str:
    """Return the text of docs/doctor.schema.json."""
    return format_schema(make_schema(TITLE, DESCRIPTION, SCHEMA, VERSION, "diagnosis", Diagnosis))


if __name__ == "__main__":
    print(format_doctor_schema(), end="")
