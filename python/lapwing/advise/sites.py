# SPDX-License-Identifier: MIT
"""The blocking calls where something could be overlapped: by Lapwing, and by hand where that brings more."""

from lapwing.advise.advice import SiteAdvice
from lapwing.advise.ways import GAIN_MIN
from lapwing.model.profile import Way
from lapwing.model.setup import Setup
from lapwing.model.study import Study
from lapwing.profile.record import load_reason_help
from lapwing.report.findings import sum_sites
from lapwing.report.held import describe_waiting, is_waiting
from lapwing.report.profile import describe_touch, name_message
from lapwing.report.summary import format_bytes, format_time
from lapwing.report.totals import JobTotals, SiteTotals

SITES_MAX = 4


def collect_gains(study: Study, way: Way) -> dict[tuple[str, str, int], float]:
    """Return what a way is predicted to spare a rank at each call site, in ns."""
    return {site.key: site.gain_ns for site in sum_sites(study.predictions[way])}


def explain_difference(site: SiteTotals, setup: Setup) -> str:
    """Say why Lapwing gains less than a rewrite would."""
    mean_bytes = site.sum.bytes / site.sum.bytes_count if site.sum.bytes_count else 0.0
    if mean_bytes < setup.threshold_bytes:
        needed = "; a rewrite needs --progress-threshold, too" if mean_bytes < setup.progress_threshold_bytes else ""
        return f"its messages are below the threshold of {format_bytes(setup.threshold_bytes)}{needed}"
    if is_waiting(site.held_count, site.unheld):
        return describe_waiting(site.held_count, site.unheld)
    reasons = {name: count for name, count in site.passes.items() if name != "too_many_ops"}
    if reasons:
        name = max(reasons, key=lambda entry: reasons[entry])
        return load_reason_help().get(name, name)
    return "a hold costs more than a start and a wait"


def describe_site(site: SiteTotals) -> str:
    """Say where and when the call's buffer is touched first."""
    touch = site.first_touch
    if touch is not None:
        return describe_touch(site, touch)
    message, _ = name_message(site.function)
    return f"the buffer of the {message} at {site.place} was not touched while it was watched"


def advise_site(site: SiteTotals, lapwing_ns: float, rewrite_ns: float, study: Study) -> SiteAdvice:
    """Say what overlap brings at one call site, and how."""
    text = describe_site(site)
    whole_ns = study.predictions[Way.STOCK].expected_ns
    gains = f"Lapwing is predicted to hide {format_time(lapwing_ns)} per rank"
    if rewrite_ns - lapwing_ns >= GAIN_MIN * whole_ns:
        why = explain_difference(site, study.setup)
        gains += f", a start there and a wait before the touch would hide {format_time(rewrite_ns)} ({why})"
    else:
        gains += ", a rewrite by hand no more"
    touch = site.first_touch
    return SiteAdvice(
        function=site.function,
        place=site.place,
        text=f"{text}. {gains}.",
        lapwing_gain_s=lapwing_ns / 1e9,
        rewrite_gain_s=rewrite_ns / 1e9,
        touched_at=touch.place if touch else "",
        later_s=touch.mean_ns / 1e9 if touch else None,
    )


def advise_sites(study: Study, totals: JobTotals) -> tuple[SiteAdvice, ...]:
    """Return the call sites that matter, the one where a rewrite brings most beyond Lapwing first."""
    lapwing, rewrite = collect_gains(study, Way.DEFERRED), collect_gains(study, Way.REWRITTEN)
    whole_ns = study.predictions[Way.STOCK].expected_ns
    rows = []
    for key, site in totals.sites.items():
        gains = max(0.0, lapwing.get(key, 0.0)), max(0.0, rewrite.get(key, 0.0))
        if site.sampled_count and site.call_class.value == "blocking" and max(gains) >= GAIN_MIN * whole_ns:
            rows.append((site, *gains))
    rows.sort(key=lambda row: (row[1] - row[2], -row[1]))
    return tuple(advise_site(*row, study) for row in rows[:SITES_MAX])
