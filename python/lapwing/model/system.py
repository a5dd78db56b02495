# SPDX-License-Identifier: MIT
"""What was measured of a system: the parameters of LogGP, with the overheads of "Overlapping Communication and
Computation in MPI by Multithreading" (Mao and others, 2006, section 4).

Times are in microseconds, times per byte in nanoseconds, sizes in bytes. No number is negative. What cannot be told
apart is None, and a remark says why. L and the time per byte are those of half a round trip.

python -m lapwing.model.system > docs/system.schema.json
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lapwing.errors import RecordError
from lapwing.model.document import Format
from lapwing.model.schema import format_schema, make_schema

WITHIN, BETWEEN = "within", "between"
EAGER, RENDEZVOUS = "eager", "rendezvous"
REMEDY = "give a file that `lapwing probe --system FILE` has written"


@dataclass(frozen=True)
class Estimate:
    """A number with its bounds, each of which holds with 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SizeParameters:
    """What was measured with messages of one size.

    half_trip_us: half a round trip of blocking messages. o_s: MPI_Isend. o_r: MPI_Irecv, and for an eager message that
    has arrived MPI_Wait, too. o_sb, o_rb: MPI_Send and MPI_Recv of an eager message that has arrived. g_s, g_r: the
    mean distance of messages in a row, at the sender and at the receiver.
    """

    size_bytes: int
    half_trip_us: Estimate
    o_s: Estimate | None = None
    o_r: Estimate | None = None
    o_sb: Estimate | None = None
    o_rb: Estimate | None = None
    g_s: Estimate | None = None
    g_r: Estimate | None = None


@dataclass(frozen=True)
class Interval:
    """Sizes for which half a round trip is a straight line. base_us: at first_bytes; byte_ns: G from there on."""

    protocol: str
    first_bytes: int
    last_bytes: int
    base_us: Estimate
    byte_ns: Estimate

    def calculate_us(self, size_bytes: float) -> float:
        """Return half a round trip."""
        return self.base_us.value + (size_bytes - self.first_bytes) * self.byte_ns.value * 1e-3


@dataclass(frozen=True)
class Check:
    """A round trip that no parameter was made of, beside what the parameters say."""

    size_bytes: int
    measured_us: Estimate
    predicted_us: float

    @property
    def error(self) -> float:
        """Return the error as a part of the measured time."""
        return self.predicted_us / self.measured_us.value - 1


@dataclass(frozen=True)
class Exchange:
    """Two ranks that send each other messages of one size at once: as the MPI does it, and under Lapwing.

    Some MPI libraries let messages that cross take turns, and Lapwing can make them travel at once.
    """

    size_bytes: int
    stock_us: Estimate
    lapwing_us: Estimate

    def choose_us(self, with_lapwing: bool) -> float:
        """Return the time in one of both ways; where they do not differ for certain, it is stock's."""
        is_quicker = self.lapwing_us.high < self.stock_us.low
        return (self.lapwing_us if with_lapwing and is_quicker else self.stock_us).value


@dataclass(frozen=True)
class Route:
    """Two ranks on one host, or on two. eager_bytes: the longest message whose send needs nobody.

    hosts: their names, where they were asked for. fingerprint: the same for the same hosts, and tells no names.
    exchanges: by size, of messages beyond the eager limit.
    """

    where: str
    transport: str
    rate: str
    eager_bytes: int
    latency_us: Estimate
    sizes: tuple[SizeParameters, ...]
    intervals: tuple[Interval, ...]
    fingerprint: str = ""
    hosts: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    remarks: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()

    @property
    def byte_ns(self) -> Estimate:
        """Return G: that of the largest messages."""
        return self.intervals[-1].byte_ns

    def predict_half_trip_us(self, size_bytes: float) -> float:
        """Return how long a message takes when both ends are ready."""
        below = [interval for interval in self.intervals if interval.first_bytes <= size_bytes]
        last = below[-1] if below else self.intervals[0]
        if not below:
            return last.base_us.value
        if size_bytes <= last.last_bytes or last is self.intervals[-1]:
            return last.calculate_us(size_bytes)
        after = self.intervals[len(below)]
        share = (size_bytes - last.last_bytes) / (after.first_bytes - last.last_bytes)
        end_us = last.calculate_us(last.last_bytes)
        return end_us + share * (after.base_us.value - end_us)

    def predict_exchange_us(self, size_bytes: float, with_lapwing: bool) -> float | None:
        """Return how long both ranks take that send each other so much at once; None where it was not measured."""
        if not self.exchanges or size_bytes <= self.eager_bytes:
            return None
        points = [(row.size_bytes, row.choose_us(with_lapwing)) for row in self.exchanges]
        measured_bytes = min(max(size_bytes, points[0][0]), points[-1][0])
        return interpolate(points, measured_bytes) * size_bytes / measured_bytes

    def choose_protocol(self, size_bytes: float) -> str:
        """Return how a message of this size travels."""
        return EAGER if size_bytes <= self.eager_bytes else RENDEZVOUS

    def estimate_us(self, name: str, size_bytes: float) -> float | None:
        """Return one of the overheads or gaps of a size, from the sizes beside it that travel in the same way."""
        protocol = self.choose_protocol(size_bytes)
        rows = [row for row in self.sizes if self.choose_protocol(row.size_bytes) == protocol]
        points = [(row.size_bytes, found.value) for row in rows if (found := getattr(row, name)) is not None]
        return interpolate(points, size_bytes) if points else None


@dataclass(frozen=True)
class System:
    """One MPI on some hosts. date: of the measurement, as in ISO 8601."""

    mpi: str
    library: str
    lapwing: str
    kernel: str
    processor: str
    date: str
    routes: tuple[Route, ...]

    def find_route(self, is_within: bool) -> Route | None:
        """Return the route between ranks of one host, or of two; the other one where only that was measured."""
        wanted = WITHIN if is_within else BETWEEN
        return next((route for route in self.routes if route.where == wanted), next(iter(self.routes), None))


FORMAT = Format("lapwing-system", 1, "system", REMEDY, "measure again")


def interpolate(points: Sequence[tuple[float, float]], size_bytes: float) -> float:
    """Return the value at a size: on the line between its neighbours; beyond them the last value."""
    before = [point for point in points if point[0] <= size_bytes]
    after = [point for point in points if point[0] > size_bytes]
    if not before or not after:
        return before[-1][1] if before else after[0][1]
    (low, low_value), (high, high_value) = before[-1], after[0]
    return low_value + (high_value - low_value) * (size_bytes - low) / (high - low)


def add_up(*parts: float | None) -> float | None:
    """Return the sum, where all parts are known."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def calculate_single_send_us(route: Route, size_bytes: int) -> float | None:
    """Equations 1 and 2: MPI_Send without a thread. The text prints o_s at both ends; the second end receives."""
    bytes_us = 0.0
    if route.choose_protocol(size_bytes) == RENDEZVOUS:
        bytes_us = (size_bytes - 1) * route.byte_ns.value * 1e-3
    o_s, o_r = route.estimate_us("o_s", size_bytes), route.estimate_us("o_r", size_bytes)
    return add_up(o_s, bytes_us, route.latency_us.value, o_r)


def calculate_buffered_us(name: str) -> Callable[[Route, int], float | None]:
    """Equations 3 and 5: a copy to or from a buffer of the library.

    Only eager messages are copied so. A byte of a larger one is taken to cost what it costs in the largest eager one.
    """

    def calculate(route: Route, size_bytes: int) -> float | None:
        found = route.estimate_us(name, min(size_bytes, route.eager_bytes))
        return None if found is None else found * max(1.0, size_bytes / max(1, route.eager_bytes))

    return calculate


def calculate_isend_us(route: Route, size_bytes: int) -> float | None:
    """Equation 4: MPI_Isend."""
    return route.estimate_us("o_s", size_bytes)


# By number, where the measured time stands in the table of `lapwing bench sendtime`, and whether it is Lapwing's: it is
# Lapwing that has the thread. Equation 6 is 1 or 2 here: both ranks come at once, and t_wait is nothing.
EQUATIONS: tuple[tuple[str, str, bool, Callable[[Route, int], float | None]], ...] = (
    ("1, 2", "send_us", False, calculate_single_send_us),
    ("3", "send_us", True, calculate_buffered_us("o_sb")),
    ("4", "isend_us", False, calculate_isend_us),
    ("5", "recv_arrived_us", True, calculate_buffered_us("o_rb")),
    ("6", "recv_us", False, calculate_single_send_us),
)


def read_system(path: Path) -> System:
    """Read a system, or say what is wrong with the file."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"{path} cannot be read", REMEDY) from error
    system: System = FORMAT.decode(System, text, str(path))
    if not system.routes or any(not route.intervals or not route.sizes for route in system.routes):
        raise RecordError(f"{path} is damaged: it has no route, or one without parameters", "measure again")
    return system


def format_system_schema() -> str:
    """Return the text of docs/system.schema.json."""
    title, about = "Parameters of a system, version 1", "python/lapwing/model/system.py says what each field means."
    return format_schema(make_schema(title, about, FORMAT.schema, FORMAT.version, FORMAT.name, System))


if __name__ == "__main__":
    print(format_system_schema(), end="")
