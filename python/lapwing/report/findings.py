# SPDX-License-Identifier: MIT
"""What a profile says about its program, in words: the paper's Section VI-B, and where slack is left."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lapwing.model.classes import CallClass, is_collective
from lapwing.model.distribution import Part, calculate_mean
from lapwing.model.outcomes import SiteOutcome
from lapwing.model.profile import Way
from lapwing.model.refined import Prediction
from lapwing.model.study import Lowered, Study
from lapwing.model.waits import WaitCauses, Waits, is_even, sum_site_causes
from lapwing.report.held import describe_waiting, is_waiting
from lapwing.report.summary import format_bytes, format_time
from lapwing.report.waits import EVENNESS_UNKNOWN

# A site that takes less of the job than this is not worth a sentence.
SHARE_MIN = 0.01
SITE_COUNT_MAX = 5
BELOW_THRESHOLD = "below the progress threshold"


@dataclass(frozen=True)
class SiteSum:
    """One call site over all ranks; times are per rank, in ns.

    absorbs: what is left of the slack hides waiting for late peers, which no meeting brings back.
    """

    function: str
    place: str
    count: float
    data_ns: float
    idle_ns: float
    hidden_ns: float
    gain_ns: float
    turn_ns: float
    slack_mean_ns: float | None
    touched_at: str
    # the same site in another run: (function, file, line) or (function, module, offset)
    key: tuple[str, str, int]
    held_count: int = 0
    unheld: Mapping[str, int] = field(default_factory=dict)
    absorbs: bool = False

    @property
    def where(self) -> str:
        """Return the place without folders."""
        return shorten_path(self.place)

    @property
    def data_mean_ns(self) -> float:
        """Return the time for data of one call."""
        return self.data_ns / self.count if self.count else 0.0


@dataclass(frozen=True)
class Finding:
    """One sentence, and what it is about."""

    kind: str
    text: str
    weight_ns: float


def shorten_path(place: str) -> str:
    """Take the folders away; without debug information a place may be a sentence."""
    return place if " " in place else place.rsplit("/", 1)[-1]


def find_mean_slack(outcomes: Iterable[SiteOutcome]) -> float | None:
    """Return the mean slack over ranks; None when none was measured."""
    slacks = [o.times.site.slack for o in outcomes if o.times.site.slack is not None]
    parts = [Part(b.computation_total_ns / b.count, b.count) for s in slacks for b in s.buckets if b.count]
    return calculate_mean(parts) if parts else None


def find_touch(outcomes: Iterable[SiteOutcome]) -> str:
    """Return where the site's buffers are touched first most often."""
    touches = [touch for o in outcomes for touch in o.times.site.touches if touch.file]
    best = max(touches, key=lambda touch: touch.count, default=None)
    return f"{best.file}:{best.line}" if best else ""


def sum_site(outcomes: Sequence[SiteOutcome], rank_count: int) -> SiteSum:
    """Sum one site up."""
    first = outcomes[0].times.site
    return SiteSum(
        function=first.function,
        place=first.place,
        count=sum(o.times.site.time.count for o in outcomes) / rank_count,
        data_ns=sum(o.times.data_ns for o in outcomes) / rank_count,
        idle_ns=sum(o.times.idle_ns for o in outcomes) / rank_count,
        hidden_ns=sum(o.hidden_ns for o in outcomes) / rank_count,
        gain_ns=sum(o.gain_ns for o in outcomes) / rank_count,
        turn_ns=sum(o.times.turn_ns for o in outcomes) / rank_count,
        slack_mean_ns=find_mean_slack(outcomes),
        touched_at=find_touch(outcomes),
        key=first.key,
        held_count=sum(o.times.site.held_count or 0 for o in outcomes),
        unheld=sum((Counter(o.times.site.unheld) for o in outcomes), Counter()),
        absorbs=any(o.hidden_with_idle_ns > o.hidden_ns for o in outcomes),
    )


def sum_sites(prediction: Prediction) -> list[SiteSum]:
    """Sum all sites over the ranks, the longest first."""
    groups: dict[tuple[str, str, int], list[SiteOutcome]] = defaultdict(list)
    for rank in prediction.ranks:
        for site in rank.sites:
            groups[site.times.site.key].append(site)
    sums = [sum_site(outcomes, len(prediction.ranks)) for outcomes in groups.values()]
    return sorted(sums, key=lambda entry: -(entry.data_ns + entry.idle_ns))


def of_class(sums: Iterable[SiteSum], prediction: Prediction, call_class: CallClass) -> list[SiteSum]:
    """Return the sites of a class that are worth a sentence."""
    classes = {o.times.site.key: o.times.site.call_class for rank in prediction.ranks for o in rank.sites}
    least_ns = SHARE_MIN * prediction.expected_ns
    return [s for s in sums if classes[s.key] is call_class and s.data_ns + s.idle_ns >= least_ns][:SITE_COUNT_MAX]


def find_waits_without_work(events: Prediction) -> list[Finding]:
    """Name nonblocking calls that overlap each other, not computation (NAS BT-MZ)."""
    findings = []
    for site in of_class(sum_sites(events), events, CallClass.WAIT):
        slack_ns = site.slack_mean_ns
        if slack_ns is None or site.data_mean_ns <= 0 or slack_ns > 0.1 * site.data_mean_ns:
            continue
        text = (
            f"{site.function} at {site.where} has nothing to overlap with: {format_time(slack_ns)} of computation lie "
            f"between start and wait, the data takes {format_time(site.data_mean_ns)}. Its nonblocking calls overlap "
            "each other only; progress in the background brings nothing until computation is moved in between, which "
            f"could hide {format_time(site.data_ns)} per rank"
        )
        findings.append(Finding("nothing to overlap", text, site.data_ns))
    return findings


def find_hidden_waits(events: Prediction) -> list[Finding]:
    """Name waits that background progress would shorten."""
    findings = []
    for site in of_class(sum_sites(events), events, CallClass.WAIT):
        if site.hidden_ns < SHARE_MIN * events.expected_ns or site.slack_mean_ns is None:
            continue
        text = (
            f"{site.function} at {site.where} waits {format_time(site.data_ns)} per rank for data "
            f"({format_time(site.data_mean_ns)} per call) that could move during the computation before it "
            f"({format_time(site.slack_mean_ns)} per call), but nobody made progress: progress in the background would "
            f"hide {format_time(site.hidden_ns)} per rank"
        )
        findings.append(Finding("overlap without progress", text, site.hidden_ns))
    return findings


def find_needless_tests(stock: Prediction) -> list[Finding]:
    """Name tests that only drive progress (Kripke)."""
    tests_ns = stock.terms.tests
    if tests_ns < SHARE_MIN * stock.expected_ns:
        return []
    count = sum(
        o.times.site.time.count for rank in stock.ranks for o in rank.sites if o.times.site.call_class is CallClass.TEST
    ) / len(stock.ranks)
    text = (
        f"tests take {format_time(tests_ns)} of the busiest rank ({count:,.0f} per rank). With progress in the "
        "background they move nothing any more: those that are there for progress could go"
    )
    return [Finding("tests could go", text, tests_ns)]


def name_late(function: str, causes: WaitCauses) -> str:
    """Say who was late."""
    if is_collective(function):
        return "the last rank"
    return "a receiver that is late" if causes.receiver_ns > causes.sender_ns else "a peer that has not called yet"


def describe_evenness(causes: WaitCauses, has_even_work: bool) -> str:
    """Say how far uneven work explains waiting, where it is not most of it; a verb follows."""
    if causes.is_partly_uneven:
        return f"uneven work explains {100 * causes.uneven_share:.0f} % of that, and otherwise ranks are"
    if not has_even_work:
        return "uneven work explains little of that, and ranks are"
    return "all ranks have about as much to do, and are"


def find_imbalance(study: Study) -> list[Finding]:
    """Name waiting for others, and whether a rank that has more to do explains it, where all ranks are known."""
    findings, stock, has_even_work = [], study.predictions[Way.STOCK], is_even(study.profile)
    absorbing = {site.key for site in sum_sites(study.predictions[Way.DEFERRED]) if site.absorbs}
    for site in sum_sites(stock)[:SITE_COUNT_MAX]:
        causes = sum_site_causes(study.waits, site.key)
        late_ns = causes.late_ns / len(stock.ranks)
        if late_ns < 0.05 * stock.expected_ns or late_ns < site.data_ns:
            continue
        text = (
            f"{site.function} at {site.where} waits {format_time(late_ns)} per rank for "
            f"{name_late(site.function, causes)} and {format_time(site.data_ns)} for data: "
        )
        if has_even_work is None:
            findings.append(Finding("late", text + EVENNESS_UNKNOWN, late_ns))
            continue
        if causes.is_uneven:
            findings.append(Finding("imbalance", text + "the work is uneven, and overlap does not mend that", late_ns))
            continue
        text += f"{describe_evenness(causes, has_even_work)} late in turn"
        if site.key in absorbing and not is_waiting(site.held_count, site.unheld):
            text += "; calls that return early absorb some of that"
        findings.append(Finding("late in turn", text, late_ns))
    return findings


def find_missed_progress(stock: Prediction, waits: Waits) -> list[Finding]:
    """Name waiting for another rank that had started its operation, and computed while nobody carried it on."""
    findings = []
    for site in sum_sites(stock)[:SITE_COUNT_MAX]:
        away_ns = sum_site_causes(waits, site.key).away_ns / len(stock.ranks)
        if away_ns < SHARE_MIN * stock.expected_ns:
            continue
        text = (
            f"{site.function} at {site.where} waits {format_time(away_ns)} per rank for a peer that has started its "
            "operation and computes, and nobody makes progress there: in the background the data could move meanwhile"
        )
        findings.append(Finding("progress at the peer", text, away_ns))
    return findings


def find_turns(stock: Prediction) -> list[Finding]:
    """Name calls whose messages cross, and take turns."""
    findings = []
    for site in sum_sites(stock)[:SITE_COUNT_MAX]:
        if site.turn_ns < SHARE_MIN * stock.expected_ns:
            continue
        text = (
            f"the messages of {site.function} at {site.where} cross, and take turns in this MPI: of "
            f"{format_time(site.data_ns)} per rank {format_time(site.turn_ns)} would go if they travelled at once, as "
            "they do under Lapwing"
        )
        findings.append(Finding("messages take turns", text, site.turn_ns))
    return findings


def find_rewrites(rewritten: Prediction) -> list[Finding]:
    """Name blocking calls with slack: what a start here and a wait before the first touch would bring."""
    findings = []
    sites = sorted(sum_sites(rewritten), key=lambda entry: -entry.gain_ns)
    for site in of_class(sites, rewritten, CallClass.BLOCKING):
        if site.gain_ns < SHARE_MIN * rewritten.expected_ns or site.slack_mean_ns is None:
            continue
        where = f", at {shorten_path(site.touched_at)}," if site.touched_at else ""
        text = (
            f"the data of {site.function} at {site.where} is first touched{where} after "
            f"{format_time(site.slack_mean_ns)} of computation: a start there and a wait before the touch would hide "
            f"{format_time(site.gain_ns)} per rank"
        )
        if is_waiting(site.held_count, site.unheld):
            text += f"; {describe_waiting(site.held_count, site.unheld)}"
        findings.append(Finding("blocking call with slack", text, site.gain_ns))
    return findings


def describe_lowered(study: Study, lowered: Lowered, factor: float) -> str:
    """Say what a lower progress threshold is predicted to bring: a run that is so many times as fast as stock."""
    present = study.setup.progress_threshold_bytes
    option = f"--progress-threshold {lowered.threshold_bytes >> 10}KiB"
    return (
        f"the program's nonblocking messages are below the progress threshold of {format_bytes(present)}, and move as "
        f"MPI itself moves them: with {option} they would go on in the background, and {lowered.prediction.way.value} "
        f"is predicted to be {factor:.2f} times as fast as stock"
    )


def find_small_messages(study: Study) -> list[Finding]:
    """Name the progress threshold where it prevents a gain."""
    if study.lowered is None:
        return []
    stock_ns, lowered_ns = study.predictions[Way.STOCK].expected_ns, study.lowered.prediction.expected_ns
    text = describe_lowered(study, study.lowered, stock_ns / lowered_ns)
    return [Finding(BELOW_THRESHOLD, text, stock_ns - lowered_ns)]


def find_in_profile(study: Study) -> list[Finding]:
    """Return everything that one profile shows, the weightiest first."""
    predictions = study.predictions
    findings = [
        *find_waits_without_work(predictions[Way.EVENTS]),
        *find_hidden_waits(predictions[Way.EVENTS]),
        *find_small_messages(study),
        *find_needless_tests(predictions[Way.STOCK]),
        *find_imbalance(study),
        *find_missed_progress(predictions[Way.STOCK], study.waits),
        *find_turns(predictions[Way.STOCK]),
        *find_rewrites(predictions[Way.REWRITTEN]),
    ]
    return sorted(findings, key=lambda finding: -finding.weight_ns)
