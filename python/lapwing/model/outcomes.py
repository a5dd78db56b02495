# SPDX-License-Identifier: MIT
"""What a way to run does to call sites, and what they can only have together.

The same computation is not used twice. Calls that stand one after the other have the same computation behind them
(windows.py); but those that send and those that receive also go on beside each other, as links carry both ways.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lapwing.model.classes import comes_in, goes_out
from lapwing.model.setup import Setup
from lapwing.model.sites import SiteTimes, measure_room_ns
from lapwing.model.windows import find_depth, group_sites


@dataclass(frozen=True)
class SiteOutcome:
    """What a way does to one call site on one rank.

    free_ns: what could hide at most: its transfers less the processor time that they take from the computation.
    beside_ns: what of hidden_ns goes on beside transfers of the other direction, and needs no computation.
    stolen_ns: by how much its hidden transfers stretch the computation; hidden_ns is less by that already.
    contended_ns: what polling by two threads adds to its waits.
    """

    times: SiteTimes
    hidden_ns: float = 0.0
    hidden_with_idle_ns: float = 0.0
    cost_ns: float = 0.0
    changed_count: int = 0
    stolen_ns: float = 0.0
    contended_ns: float = 0.0
    free_ns: float = 0.0
    beside_ns: float = 0.0

    @property
    def left_ns(self) -> float:
        """Return the time that is left in the calls, without waiting for late peers."""
        return self.times.own_ns + self.times.data_ns - self.hidden_ns + self.contended_ns

    @property
    def gain_ns(self) -> float:
        """Return what the rank is spared."""
        return self.hidden_ns - self.cost_ns


def limit_hidden(outcomes: Sequence[SiteOutcome], limit_ns: float) -> list[SiteOutcome]:
    """Scale down what hides behind more computation than there is: the same microsecond cannot be used twice."""
    total = sum(outcome.hidden_ns for outcome in outcomes)
    if total <= limit_ns:
        return list(outcomes)
    factor = limit_ns / total
    return [scale_outcome(outcome, factor) for outcome in outcomes]


def scale_outcome(outcome: SiteOutcome, factor: float) -> SiteOutcome:
    """Let a part of a site's calls keep their overlap."""
    return replace(
        outcome,
        hidden_ns=outcome.hidden_ns * factor,
        hidden_with_idle_ns=outcome.hidden_with_idle_ns * factor,
        stolen_ns=outcome.stolen_ns * factor,
        beside_ns=outcome.beside_ns * factor,
    )


def measure_window_ns(group: Sequence[SiteOutcome], setup: Setup) -> float:
    """Return the computation behind sites that share it: that of the longest windows."""
    rooms_ns = [o.times.site.time.count * measure_room_ns(o.times.site.slack, setup) for o in group]
    return max(rooms_ns) / find_depth([o.times for o in group])


def set_hidden(outcome: SiteOutcome, hidden_ns: float, beside_ns: float) -> SiteOutcome:
    """Give a site its part of what a group hides; slack that is left over then absorbs no more than before."""
    factor = hidden_ns / outcome.hidden_ns
    return replace(
        outcome,
        hidden_ns=hidden_ns,
        hidden_with_idle_ns=hidden_ns + (outcome.hidden_with_idle_ns - outcome.hidden_ns) * min(1.0, factor),
        stolen_ns=outcome.stolen_ns * factor,
        beside_ns=beside_ns,
    )


def measure_longest_ns(group: Sequence[SiteOutcome]) -> float:
    """Return how long the transfers of a group take; where rows are not recorded, all of one direction cross others."""
    if any(o.times.site.row for o in group):
        return max(0.0, sum(o.free_ns - o.beside_ns for o in group))
    out_ns = sum(o.free_ns for o in group if goes_out(o.times.site.function))
    in_ns = sum(o.free_ns for o in group if comes_in(o.times.site.function))
    return max(out_ns, in_ns)


def limit_group(group: Sequence[SiteOutcome], setup: Setup, ratio: float) -> list[SiteOutcome]:
    """Let sites that share their windows transfer at the same time, each direction for itself."""
    free_ns = sum(o.free_ns for o in group)
    longest_ns = measure_longest_ns(group)
    if free_ns <= 0:
        return list(group)
    left_ns = max(0.0, longest_ns - measure_window_ns(group, setup) * ratio)
    hidden, beside = (free_ns - left_ns) / free_ns, (free_ns - longest_ns) / free_ns
    return [set_hidden(o, hidden * o.free_ns, beside * o.free_ns) for o in group]


def limit_shared(outcomes: Sequence[SiteOutcome], setup: Setup, ratio: float) -> list[SiteOutcome]:
    """Hold blocking calls that follow each other against the computation that comes after them."""
    if not setup.shares_windows:
        return list(outcomes)
    helped = [o for o in outcomes if o.hidden_ns > 0 and o.times.site.slack is not None]
    limited = [o for o in outcomes if o.hidden_ns <= 0 or o.times.site.slack is None]
    for positions in group_sites([outcome.times for outcome in helped]):
        group = [helped[position] for position in positions]
        is_alone = len(group) == 1 and find_depth([group[0].times]) == 1.0
        limited += group if is_alone else limit_group(group, setup, ratio)
    return limited
