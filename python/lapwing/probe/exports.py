# SPDX-License-Identifier: MIT
"""A system's parameters as simulators take them: options of LogGOPSim, a configuration of SimGrid's SMPI."""

from collections.abc import Sequence
from itertools import pairwise
from xml.sax.saxutils import quoteattr

from lapwing.errors import LapwingError
from lapwing.model.system import EAGER, RENDEZVOUS, Route, System
from lapwing.probe.fit import Line, fit_line

TIME_MIN_US = 0.01  # less is no time that a clock tells
BYTE_MIN_US = 1e-6  # SimGrid's bandwidths are finite, and its factors not 0
INT_MAX = (1 << 31) - 1  # LogGOPSim reads every option as an int
PS_PER_US = 1_000_000
ENVELOPE_BYTES = 16  # SMPI sends them with every message; they count for the network, not for the protocol
# SMPI's sections: the overhead of a message is that of the last section that begins below its size.
OVERHEADS = {"smpi/os": "o_sb", "smpi/ois": "o_s", "smpi/or": "o_rb"}


def collect_points(route: Route, name: str, protocol: str) -> list[tuple[int, float]]:
    """Return one parameter over the sizes of a protocol."""
    rows = [row for row in route.sizes if route.choose_protocol(row.size_bytes) == protocol]
    found = [(row.size_bytes, getattr(row, name)) for row in rows]
    return [(size, max(estimate.value, TIME_MIN_US)) for size, estimate in found if estimate is not None]


def fit_overhead(route: Route, name: str, protocol: str = EAGER) -> Line | None:
    """Return an overhead as a line over the sizes of a protocol; None where it was not measured."""
    points = collect_points(route, name, protocol)
    return fit_line(points) if points else None


def choose_route(system: System) -> Route:
    """Return the route that a simulator's network is made of: between hosts, where that was measured."""
    route = system.find_route(is_within=False)
    if route is None:
        raise LapwingError("there is no route to export", "measure one first")
    return route


def limit_overheads(route: Route) -> float:
    """Return what part of the overheads simulators get: they add both ends up, which may be more than the whole way."""
    first = route.sizes[0]
    if first.o_sb is None or first.o_rb is None:
        return 1.0
    return min(1.0, first.half_trip_us.value / max(first.o_sb.value + first.o_rb.value, TIME_MIN_US))


def estimate_loggops_us(route: Route) -> dict[str, float]:
    """Return LogGOPSim's times, G and O per byte.

    o is the mean of both ends' overheads, O what each byte of an eager message adds to it, g never less than o.
    """
    fitted = [fit_overhead(route, name) or fit_overhead(route, name, RENDEZVOUS) for name in ("o_sb", "o_rb")]
    lines, share = [line for line in fitted if line is not None], limit_overheads(route)
    overhead_us = share * sum(line.base_us for line in lines) / max(1, len(lines))
    byte_us = share * sum(line.byte_us for line in lines) / max(1, len(lines))
    gaps_us = [found.value for name in ("g_s", "g_r") if (found := getattr(route.sizes[0], name)) is not None]
    gap_us = max([overhead_us, *gaps_us])
    last_us = route.byte_ns.value * 1e-3
    return {"L": route.latency_us.value, "o": overhead_us, "g": gap_us, "G": last_us, "O": byte_us}


def choose_unit_ps(system: System) -> int:
    """Return the unit of LogGOPSim's options: a picosecond, or the power of ten in which the longest time is an int.

    LogGOPSim takes integers and knows no unit. In nanoseconds, G and O would be one digit or none.
    """
    longest_us, unit_ps = max(estimate_loggops_us(choose_route(system)).values()), 1
    while longest_us * PS_PER_US / unit_ps > INT_MAX:
        unit_ps *= 10
    return unit_ps


def describe_unit(system: System) -> str:
    """Say what a time of LogGOPSim then means, and what makes GOAL files of traces agree."""
    unit_ps = choose_unit_ps(system)
    unit = "picoseconds" if unit_ps == 1 else f"units of {unit_ps} picoseconds"
    multiple = PS_PER_US // unit_ps
    return f"LogGOPSim's options are in {unit}, and so must be calc in its GOAL files: schedgen --timemult {multiple}"


def make_loggopsim(system: System) -> str:
    """Return the options of LogGOPSim, as integers: more than S bytes travel by rendezvous."""
    route, unit_ps = choose_route(system), choose_unit_ps(system)
    words = {name: round(time_us * PS_PER_US / unit_ps) for name, time_us in estimate_loggops_us(route).items()}
    words["S"] = route.eager_bytes
    return " ".join(f"-{name} {value}" for name, value in words.items()) + "\n"


def list_sections(route: Route, name: str) -> list[tuple[int, Line | None]]:
    """Return an overhead of eager messages, and that of larger ones; None: it was not told apart."""
    sections: list[tuple[int, Line | None]] = [(0, fit_overhead(route, name))]
    if route.eager_bytes > 0:
        sections.append((route.eager_bytes, fit_overhead(route, name, RENDEZVOUS)))
    return sections


def calculate_overhead_us(route: Route, name: str, size_bytes: float) -> float:
    """Return what a simulator then takes for an overhead."""
    line = [line for begin, line in list_sections(route, name) if begin < size_bytes][-1]
    return max(0.0, line.calculate_us(size_bytes)) * limit_overheads(route) if line else 0.0


def write_overhead(route: Route, name: str) -> str:
    """Write an overhead in sections: begin, seconds at zero bytes, seconds per byte."""
    share, words = limit_overheads(route) * 1e-6, []
    for begin, line in list_sections(route, name):
        at_zero_us, byte_us = (max(0.0, line.calculate_us(0)), line.byte_us) if line else (0.0, 0.0)
        words.append(f"{begin}:{at_zero_us * share:.6g}:{byte_us * share:.6g}")
    return ";".join(words)


def fit_network(route: Route, first_bytes: float, last_bytes: float) -> tuple[float, float]:
    """Return what the network takes beside the overheads: at zero bytes, and per byte. Neither is negative.

    Its bytes are those of the message and of its envelope.
    """
    ends = []
    for size in (first_bytes, last_bytes):
        overheads_us = sum(calculate_overhead_us(route, OVERHEADS[name], size) for name in ("smpi/os", "smpi/or"))
        ends.append(max(0.0, route.predict_half_trip_us(size) - overheads_us))
    byte_us = max(0.0, ends[1] - ends[0]) / max(1.0, last_bytes - first_bytes)
    first_sent, last_sent = first_bytes + ENVELOPE_BYTES, last_bytes + ENVELOPE_BYTES
    at_zero_us = ends[0] - first_sent * byte_us
    if at_zero_us >= 0:
        return at_zero_us, byte_us
    # SMPI's lines begin at zero bytes: this one would begin below, and goes through the ends' middle instead.
    return 0.0, ((ends[0] / first_sent) * (ends[1] / last_sent)) ** 0.5


def list_spans(route: Route) -> list[tuple[int, int, int]]:
    """Return the lines of predictions, with those that join two intervals: the least size, and two sizes on the line.

    A new protocol begins right above the eager limit, and nothing joins it.
    """
    first = route.intervals[0]
    spans = [(0, first.first_bytes, first.last_bytes)]
    for before, interval in pairwise(route.intervals):
        is_joined = interval.protocol == before.protocol
        if is_joined:
            spans.append((before.last_bytes + 1, before.last_bytes, interval.first_bytes))
        begin = interval.first_bytes if is_joined else route.eager_bytes + 1
        spans.append((begin, interval.first_bytes, interval.last_bytes))
    return spans


def write_factors(route: Route) -> tuple[str, str]:
    """Return the bandwidth and latency factors, against a platform whose link has G's bandwidth and the latency L."""
    latency_us, byte_us = max(route.latency_us.value, TIME_MIN_US), max(route.byte_ns.value * 1e-3, BYTE_MIN_US)
    bandwidths, latencies = [], []
    for least_bytes, first_bytes, last_bytes in list_spans(route):
        at_zero_us, slope_us = fit_network(route, first_bytes, last_bytes)
        # A section begins above its number.
        begin = least_bytes + ENVELOPE_BYTES - 1 if least_bytes > 0 else 0
        bandwidths.append(f"{begin}:{byte_us / max(slope_us, BYTE_MIN_US):.6g}")
        latencies.append(f"{begin}:{at_zero_us / latency_us:.6g}")
    return ";".join(bandwidths), ";".join(latencies)


def list_properties(route: Route) -> Sequence[tuple[str, str]]:
    """Return SMPI's properties."""
    bandwidth, latency = write_factors(route)
    beyond_eager = str(route.eager_bytes + 1 if route.eager_bytes > 0 else 0)  # SMPI's eager messages are shorter
    return [
        *((name, write_overhead(route, parameter)) for name, parameter in OVERHEADS.items()),
        # SimGrid 3.32 takes lists under these names only; newer versions call them network/... and take both.
        ("smpi/bw-factor", bandwidth),
        ("smpi/lat-factor", latency),
        # What acknowledgements and TCP's window take is in the measured times.
        ("network/crosstraffic", "0"),
        ("network/TCP-gamma", "0"),
        ("smpi/async-small-thresh", beyond_eager),
        ("smpi/send-is-detached-thresh", beyond_eager),
    ]


def make_simgrid(system: System) -> str:
    """Return the configuration that stands at the head of a platform file of SimGrid."""
    route = choose_route(system)
    bytes_per_s = 1e6 / max(route.byte_ns.value * 1e-3, BYTE_MIN_US)
    head = (
        f'<link id="..." bandwidth="{bytes_per_s:.6g}Bps" latency="{max(route.latency_us.value, TIME_MIN_US):.6g}us"/>'
    )
    properties = [f"  <prop id={quoteattr(name)} value={quoteattr(value)}/>" for name, value in list_properties(route)]
    comment = f"<!-- The factors are for hosts that one link joins: {head} -->"
    return "\n".join([comment, "<config>", *properties, "</config>", ""])
