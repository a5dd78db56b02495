# SPDX-License-Identifier: MIT
"""Reads a profile from whatever file it stands in: a record of Lapwing, JSON, or a report of mpiP."""

from dataclasses import replace
from pathlib import Path

from lapwing.errors import RecordError
from lapwing.model.check import check_profile
from lapwing.model.document import REMEDY, decode_profile
from lapwing.model.mpip import is_mpip, parse_report
from lapwing.model.profile import JobProfile
from lapwing.model.recorded import read_recorded
from lapwing.profile.job_file import is_profile
from lapwing.profile.record import JOB_LINE, MAGIC, JobRecord, read_job

LENGTH_MAX_BYTES = 1 << 30


def convert_job(job: JobRecord, source: str) -> JobProfile:
    """Return the profile that a record carries. Records of `lapwing run` carry counters only."""
    raise RecordError(f"{source} holds no profile, only the counters of a run", "record with `lapwing profile`")


def read_bytes(path: Path) -> bytes:
    """Read a file that may be anything."""
    try:
        if path.stat().st_size > LENGTH_MAX_BYTES:
            raise RecordError(f"{path} is too large for a profile", REMEDY)
        return path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path} cannot be read ({error.strerror})", "correct the path") from error


def read_text(path: Path, data: bytes) -> JobProfile:
    """Read a profile that is text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError(f"{path} is no profile", REMEDY) from error
    if is_mpip(text):
        return parse_report(text, str(path))
    if not text.lstrip().startswith("{"):
        raise RecordError(f"{path} is no profile", REMEDY)
    return decode_profile(text, str(path))


def read_profile(path: Path) -> JobProfile:
    """Read a profile; every flaw of the file ends in one RecordError."""
    if is_profile(path):
        return check_profile(read_recorded(path), str(path))
    data = read_bytes(path)
    is_record = data.startswith((JOB_LINE, MAGIC))
    profile = convert_job(read_job(path), str(path)) if is_record else read_text(path, data)
    return replace(check_profile(profile, str(path)), name=profile.name or path.name)
