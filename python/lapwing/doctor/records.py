# SPDX-License-Identifier: MIT
"""Whether jobs on this host can keep their records in the folder that [reports] names."""

import os
from collections.abc import Sequence
from pathlib import Path

from lapwing.configuration.document import Document, Reports
from lapwing.configuration.settings import choose_reports, find_owner, name_report_folder
from lapwing.doctor.finding import Finding, Level
from lapwing.files import is_folder
from lapwing.outfiles import describe_foreign

TOPIC = "records"


def find_nearest(folder: Path) -> Path:
    """Return the folder, or as much of its path as is there."""
    return next((path for path in (folder, *folder.parents) if os.path.lexists(path)), Path("/"))


def describe_obstacle(folder: Path) -> str:
    """Say why this process's user cannot keep records there; empty where nothing speaks against it."""
    nearest = find_nearest(folder)
    if not is_folder(nearest):
        return f"{nearest} is no folder"
    if not os.access(nearest, os.W_OK | os.X_OK):
        return f"{find_owner()} may not write in {nearest}"
    return describe_foreign(folder) if nearest == folder else ""


def judge_reports(reports: Reports) -> Finding:
    """Say where records of today are kept, or why none are. The job is not slowed: it is missing in the site's list."""
    folder, share = name_report_folder(reports, find_owner()), f"{100 * reports.sampling:.3g} %"
    obstacle = describe_obstacle(folder)
    if not obstacle:
        return Finding(TOPIC, Level.WELL, f"records of {share} of the jobs are kept in {folder}")
    remedy = "make it for the user, or let [reports] folder name a place that all hosts see and users may write in"
    return Finding(TOPIC, Level.NOTE, f"no records are kept in {folder}: {obstacle}", remedy)


def judge_records(documents: Sequence[Document]) -> list[Finding]:
    """Judge the folder of [reports]; nothing where the site keeps none."""
    reports = choose_reports(documents)
    return [judge_reports(reports)] if reports and reports.folder else []
