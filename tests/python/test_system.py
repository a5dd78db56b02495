# SPDX-License-Identifier: MIT
"""Parameters of a system: fits on times of known parameters, the file, the exports, the paper's equations."""

import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from needs import needs_mpi
from rich.console import Console

from lapwing.bench.sendtime import calculate_equations
from lapwing.errors import RecordError
from lapwing.model.system import (
    EAGER,
    FORMAT,
    RENDEZVOUS,
    Check,
    Estimate,
    Exchange,
    Interval,
    Route,
    SizeParameters,
    System,
    calculate_single_send_us,
    format_system_schema,
    interpolate,
    read_system,
)
from lapwing.probe.exports import calculate_overhead_us, describe_unit, fit_network, make_loggopsim, make_simgrid
from lapwing.probe.fit import (
    CALLS,
    RECEIVED,
    cut_into_lines,
    estimate_latency,
    estimate_median,
    find_intervals,
    fit_line,
    list_remarks,
    make_size,
    read_rows,
)
from lapwing.probe.parameters import (
    CALLS_MAX_BYTES,
    Ground,
    choose_check_sizes,
    choose_exchange_sizes,
    choose_fit_sizes,
    estimate_mean,
    make_route,
)
from lapwing.report.system import print_equations, print_system

PYTHON = Path(__file__).parents[2] / "python"
EAGER_BYTES = 65536
O_S, O_R, LATENCY, COPY_NS, WIRE_NS, HANDSHAKE = 2.0, 3.0, 20.0, 1.0, 8.4, 60.0
HEAD = {"library": "MPI 9", "hosts": ["alpha", "beta"]}
GROUND = Ground("between", "TCP", "1gbit", with_names=False)


def take_us(size: int) -> float:
    """Return half a round trip of the network that is simulated here."""
    if size <= EAGER_BYTES:
        return O_S + LATENCY + O_R + size * COPY_NS * 1e-3
    return O_S + LATENCY + O_R + HANDSHAKE + size * WIRE_NS * 1e-3


def scatter(time_us: float, chance: random.Random, count: int = 30) -> list[float]:
    """Return times that scatter, mostly upwards, as those of programs do."""
    return [time_us * (1 + abs(chance.gauss(0, 0.01))) for _ in range(count)]


def make_rows() -> list[dict[str, object]]:
    """Make what the program prints."""
    chance, rows = random.Random(7), [{"clock_us": 0.0}]
    times = {"isend_us": O_S, "isend_wait_us": 0.1, "irecv_us": 1.0, "irecv_wait_us": O_R - 1.0}
    times |= {"send_us": O_S, "recv_us": O_R, "gap_send_us": 4.0, "gap_receive_us": 5.0}
    for size in choose_fit_sizes(EAGER_BYTES, 16 << 20):
        rows.append({"size_bytes": size, "round_trip_us": scatter(2 * take_us(size), chance)})
        if size <= CALLS_MAX_BYTES:
            rows.append({"size_bytes": size, **{kind: scatter(times[kind], chance) for kind in CALLS}})
    return rows


@pytest.fixture(scope="module")
def route() -> Route:
    return make_route(GROUND, HEAD, EAGER_BYTES, make_rows())


def make_system(route: Route) -> System:
    return System("openmpi", "MPI 9", "0", "6", "a processor", "2026-01-01T00:00:00+00:00", (route,))


def test_parameters_of_a_known_network_are_found(route: Route) -> None:
    assert route.byte_ns.value == pytest.approx(WIRE_NS, rel=0.01)
    assert route.byte_ns.low <= route.byte_ns.value <= route.byte_ns.high
    assert route.latency_us.value == pytest.approx(LATENCY, rel=0.05)
    assert route.estimate_us("o_s", 8) == pytest.approx(O_S, rel=0.05)
    assert route.estimate_us("o_r", 8) == pytest.approx(O_R, rel=0.05)
    assert route.estimate_us("o_r", 1 << 20) == pytest.approx(1.0, rel=0.05)  # MPI_Irecv alone


def test_intervals_end_where_the_protocol_does(route: Route) -> None:
    assert [interval.protocol for interval in route.intervals] == [EAGER, RENDEZVOUS]
    assert route.intervals[0].last_bytes == EAGER_BYTES
    assert route.intervals[1].first_bytes > EAGER_BYTES


def test_round_trips_of_other_sizes_are_predicted(route: Route) -> None:
    for size in choose_check_sizes(16 << 20):
        assert route.predict_half_trip_us(size) == pytest.approx(take_us(size), rel=0.03)


def test_between_two_lines_nothing_jumps() -> None:
    exact = Estimate(1, 1, 1)
    lines = [
        Interval(EAGER, 8, 10, Estimate(2, 2, 2), Estimate(0, 0, 0)),
        Interval(EAGER, 20, 30, Estimate(4, 4, 4), exact),
    ]
    route = Route("within", "", "", 100, exact, (), tuple(lines))
    assert [route.predict_half_trip_us(size) for size in (1, 10, 15, 20)] == [2, 2, 3, 4]


def test_a_bend_is_found_without_a_change_of_protocol() -> None:
    sizes = [1 << bits for bits in range(3, 17)]
    points = [(size, 10 + 0.001 * size if size <= 1024 else 11.024 + 0.01 * (size - 1024)) for size in sizes]
    assert len(cut_into_lines(points)) == 2
    assert len(cut_into_lines([(size, 10 + 0.001 * size) for size in sizes])) == 1


def test_nothing_is_negative() -> None:
    falling = fit_line([(8, 5.0), (16, 4.0), (32, 3.0)])
    assert falling.byte_us == 0
    assert fit_line([(100, 1.0), (200, 30.0), (300, 90.0)]).base_us >= 0
    assert fit_line([(8, 5.0)]).calculate_us(9) == 5


def test_latency_that_the_overheads_hide_is_no_negative_number() -> None:
    calls = {kind: [3.0] * 9 for kind in (*CALLS, RECEIVED)}
    size = make_size(8, [5.0] * 9, calls, is_eager=True)
    assert estimate_latency(size) == Estimate(0, 0, 2)  # both ends may work at once
    assert "half a round trip" in list_remarks([size], estimate_latency(size), 100)[0]
    waiting = make_size(8, [5.0] * 9, calls, is_eager=False)
    assert estimate_latency(waiting).value == 5
    assert any("even the smallest" in text for text in list_remarks([waiting], estimate_latency(waiting), 0))


def test_the_clocks_own_time_is_taken_away() -> None:
    halves, _ = read_rows([{"clock_us": 1.0}, {"size_bytes": 8, "round_trip_us": [11.0, 0.5]}])
    assert halves == {8: [5.0, 0.0]}


def test_of_many_jobs_the_quietest_two_count() -> None:
    jobs = [[9.0, 9.0, 1.0], [3.0, 3.0, 90.0], [2.0, 4.0, 90.0], [12.0, 12.0, 12.0]]
    rows = [row for times in jobs for row in ({"clock_us": 0.0}, {"size_bytes": 8, "round_trip_us": times})]
    halves, _ = read_rows(rows)
    assert sorted(halves[8]) == [1.0, 1.5, 1.5, 2.0, 45.0, 45.0]


def test_start_and_wait_of_one_message_are_added_before_jobs_are_chosen() -> None:
    rows = []
    for start_us, wait_us, count in ((1.0, 9.0, 3), (9.0, 2.0, 4), (5.0, 4.0, 5)):
        times = dict.fromkeys(CALLS, [1.0] * count) | {
            "irecv_us": [start_us] * count,
            "irecv_wait_us": [wait_us] * count,
        }
        rows += [{"clock_us": 0.0}, {"size_bytes": 8, **times}]
    _, calls = read_rows(rows)
    assert calls[8][RECEIVED] == [9.0] * 5 + [10.0] * 3
    assert make_size(8, [20.0] * 5, calls[8], is_eager=True).o_r == Estimate(9.0, 9.0, 10.0)


def test_bounds_of_a_median_have_it_between_them() -> None:
    assert estimate_median([1.0, 2.0, 9.0]) == Estimate(2, 1, 9)
    found = estimate_median([float(number) for number in range(100)])
    assert 35 < found.low < found.value < found.high < 65


def test_without_eager_messages_there_is_one_protocol() -> None:
    halves = {size: [10 + 0.01 * size] * 5 for size in choose_fit_sizes(0, 1 << 20)}
    assert {interval.protocol for interval in find_intervals(halves, 0)} == {RENDEZVOUS}


def test_values_between_sizes_lie_between() -> None:
    assert [interpolate([(8, 1.0), (16, 3.0)], size) for size in (1, 12, 99)] == [1, 2, 3]


def test_file_keeps_everything_and_refuses_damage(route: Route, tmp_path: Path) -> None:
    path, system = tmp_path / "system.json", make_system(route)
    path.write_text(FORMAT.encode(system))
    assert read_system(path) == system
    assert "alpha" not in path.read_text()
    document = json.loads(path.read_text())
    document["system"]["routes"][0]["latency_us"]["value"] = -1
    path.write_text(json.dumps(document))
    with pytest.raises(RecordError, match=r"latency_us.value is negative"):
        read_system(path)
    path.write_text(FORMAT.encode(replace(system, routes=())))
    with pytest.raises(RecordError, match="no route"):
        read_system(path)
    with pytest.raises(RecordError, match="cannot be read"):
        read_system(tmp_path / "none")


def test_published_schema_is_current() -> None:
    published = Path(__file__).parents[2] / "docs/system.schema.json"
    remedy = "python -m lapwing.model.system > docs/system.schema.json"
    assert published.read_text("utf-8") == format_system_schema(), remedy


def test_host_names_are_kept_only_if_asked_for(route: Route) -> None:
    named = make_route(replace(GROUND, with_names=True), HEAD, EAGER_BYTES, make_rows())
    assert (route.hosts, named.hosts) == ((), ("alpha", "beta"))
    assert route.fingerprint == named.fingerprint


def read_loggopsim(route: Route) -> dict[str, int]:
    """Read the options as LogGOPSim does: each is an int of 32 bits."""
    words = make_loggopsim(make_system(route)).split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


def test_loggopsim_gets_integers_in_picoseconds(route: Route) -> None:
    options = read_loggopsim(route)
    assert list(options) == ["-L", "-o", "-g", "-G", "-O", "-S"]
    assert options["-G"] == pytest.approx(WIRE_NS * 1e3, rel=0.01)
    assert options["-L"] == pytest.approx(LATENCY * 1e6, rel=0.05)
    assert options["-g"] >= options["-o"]
    assert options["-S"] == EAGER_BYTES
    assert "in picoseconds" in describe_unit(make_system(route))
    assert describe_unit(make_system(route)).endswith(" --timemult 1000000")


def test_loggopsim_gets_a_coarser_unit_for_times_that_are_no_int_in_picoseconds(route: Route) -> None:
    far = replace(route, latency_us=Estimate(30000, 30000, 30000))
    options = read_loggopsim(far)
    assert options["-L"] == 300_000_000
    assert options["-G"] == pytest.approx(WIRE_NS * 1e1, rel=0.02)
    assert "units of 100 picoseconds" in describe_unit(make_system(far))
    assert describe_unit(make_system(far)).endswith(" --timemult 10000")


def test_exchanges_are_of_messages_beyond_the_eager_limit() -> None:
    assert choose_exchange_sizes(EAGER_BYTES, 16 << 20) == [1 << bits for bits in range(17, 23)]
    assert choose_exchange_sizes(100, 1 << 20)[0] == 64 << 10
    assert choose_exchange_sizes(8 << 20, 16 << 20) == []


def test_messages_that_take_turns_by_chance_count_by_their_mean() -> None:
    jobs = [{"exchange_us": [1.0, 1.0, 4.0]}, {"exchange_us": [1.0, 4.0, 4.0]}, {"exchange_us": [1.0, 1.0, 1.0]}]
    assert estimate_mean(jobs) == Estimate(2.0, 1.0, 3.0)


def test_exchange_between_measured_sizes_lies_between_and_beyond_grows_with_the_size(route: Route) -> None:
    sure = Estimate(1, 1, 1)
    exchanges = (Exchange(1 << 20, Estimate(30, 30, 30), sure), Exchange(1 << 21, Estimate(60, 60, 60), sure))
    crossing = replace(route, exchanges=exchanges)
    assert crossing.predict_exchange_us(3 << 19, with_lapwing=False) == pytest.approx(45)
    assert crossing.predict_exchange_us(1 << 23, with_lapwing=False) == pytest.approx(240)
    assert crossing.predict_exchange_us(EAGER_BYTES, with_lapwing=False) is None
    assert route.predict_exchange_us(1 << 20, with_lapwing=False) is None


def test_simulators_get_no_more_overhead_than_half_a_round_trip(route: Route) -> None:
    """As in the lab, where the sender still works when the message is there."""
    first = replace(route.sizes[0], o_sb=Estimate(30, 30, 30), o_rb=Estimate(20, 20, 20))
    crowded = replace(route, sizes=(first, *route.sizes[1:]))
    both_us = sum(calculate_overhead_us(crowded, name, 8) for name in ("o_sb", "o_rb"))
    assert 0 < both_us < O_S + O_R


def read_simgrid(route: Route) -> dict[str, str]:
    """Read the properties."""
    properties = ElementTree.fromstring(make_simgrid(make_system(route)))
    return {prop.attrib["id"]: prop.attrib["value"] for prop in properties}


def find_section(text: str, size: float) -> list[float]:
    """Return a section's numbers as SimGrid does: of the last one that begins below the size."""
    sections = [[float(word) for word in section.split(":")] for section in text.split(";")]
    assert sections == sorted(sections)
    return [section for section in sections if section[0] < size][-1][1:]


def add_up_simgrid_us(route: Route, size: int) -> float:
    """Return half a round trip: latency x factor + bytes / (bandwidth x factor), with SMPI's envelope."""
    properties, sent = read_simgrid(route), size + 16
    (slower,), (later,) = (find_section(properties[f"smpi/{name}-factor"], sent) for name in ("bw", "lat"))
    overheads_us = calculate_overhead_us(route, "o_sb", size) + calculate_overhead_us(route, "o_rb", size)
    latency_us, byte_us = max(route.latency_us.value, 0.01), max(route.byte_ns.value * 1e-3, 1e-6)
    return latency_us * later + sent * byte_us / slower + overheads_us


def test_simgrid_gets_sections_that_add_up(route: Route) -> None:
    properties = read_simgrid(route)
    assert find_section(properties["smpi/os"], EAGER_BYTES)[0] == pytest.approx(O_S * 1e-6, rel=0.05)
    assert find_section(properties["smpi/os"], EAGER_BYTES + 1) == [0, 0]
    for size in (8, EAGER_BYTES, EAGER_BYTES + 1, 1 << 20):
        assert add_up_simgrid_us(route, size) == pytest.approx(take_us(size), rel=0.03)


def test_simgrid_joins_the_lines_as_predictions_do() -> None:
    sure = Estimate(0.1, 0.1, 0.1)
    lines = (
        Interval(RENDEZVOUS, 8, 1000, Estimate(10, 10, 10), sure),
        Interval(RENDEZVOUS, 2000, 9000, Estimate(18, 18, 18), sure),
        Interval(RENDEZVOUS, 18000, 1 << 20, Estimate(16, 16, 16), sure),  # SimGrid's lines cannot fall
    )
    bent = Route("within", "", "", 0, sure, (SizeParameters(8, Estimate(10, 10, 10)),), lines)
    for size in (8, 1000, 1001, 1250, 1750, 2000, 9000, 18000, 1 << 20):
        assert add_up_simgrid_us(bent, size) == pytest.approx(bent.predict_half_trip_us(size), rel=0.01), size
    assert add_up_simgrid_us(bent, 17999) == pytest.approx(bent.predict_half_trip_us(9000), rel=0.01)


def test_envelope_counts_where_a_byte_takes_long() -> None:
    """Each byte takes 1 us here, as it may where a buffer is used up."""
    sure = Estimate(1, 1, 1)
    lines = (Interval(EAGER, 8, 64, Estimate(48, 48, 48), Estimate(1000, 1000, 1000)),)
    slow = Route("within", "", "", 64, sure, (SizeParameters(8, Estimate(48, 48, 48)),), lines)
    assert fit_network(slow, 8, 64) == (24, 1)


def test_simgrid_sends_messages_up_to_the_eager_limit_at_once(route: Route) -> None:
    """A message is eager there if it is shorter than the threshold."""
    names = ("smpi/async-small-thresh", "smpi/send-is-detached-thresh")
    assert {read_simgrid(route)[name] for name in names} == {str(EAGER_BYTES + 1)}
    assert {read_simgrid(replace(route, eager_bytes=0))[name] for name in names} == {"0"}


def test_simgrid_adds_nothing_to_what_was_measured(route: Route) -> None:
    properties = read_simgrid(route)
    assert (properties["network/crosstraffic"], properties["network/TCP-gamma"]) == ("0", "0")
    assert not {"network/bandwidth-factor", "network/latency-factor"} & properties.keys()  # lists end SimGrid 3.32


def test_simgrid_gets_no_bandwidth_of_nothing() -> None:
    """SimGrid refuses a factor of 0, which G is where the largest messages all took as long."""
    none = Estimate(0, 0, 0)
    lines = (Interval(EAGER, 8, 64, Estimate(5, 5, 5), none),)
    level = Route("within", "", "", 64, none, (SizeParameters(8, Estimate(5, 5, 5)),), lines)
    assert read_simgrid(level)["smpi/bw-factor"] == "0:1"
    assert add_up_simgrid_us(level, 64) == pytest.approx(5, rel=0.01)


def write_platform(route: Route, path: Path) -> None:
    """Write a platform of two hosts that the link joins of which the configuration speaks."""
    config = make_simgrid(make_system(route))
    found = re.search(r'<link id="\.\.\." (.*?)/>', config)
    assert found is not None
    hosts = '<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>'
    link = f'<link id="l" {found.group(1)}/><route src="a" dst="b"><link_ctn id="l"/></route>'
    head = '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
    path.write_text(f'{head}{config}<zone id="z" routing="Full">{hosts}{link}</zone></platform>')


def simulate(route: Route, folder: Path, sizes: Sequence[int]) -> dict[int, float]:
    """Return half a round trip of each size, as SimGrid simulates it."""
    write_platform(route, folder / "platform.xml")
    (folder / "hosts").write_text("a\nb\n")
    source = Path(__file__).parent / "simulated_trips.c"
    options = "-platform platform.xml -hostfile hosts --cfg=smpi/host-speed:1Gf --cfg=smpi/simulate-computation:no"
    words = ["smpirun", "-np", "2", *options.split(), "./trips", *map(str, sizes)]
    for command in (["smpicc", "-o", "trips", str(source)], words):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder, check=False)
        assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line[:1].isdigit()]
    return {int(size): float(time_us) for size, time_us in rows}


@pytest.mark.skipif(None in (shutil.which("smpirun"), shutil.which("smpicc")), reason="no SimGrid (libsimgrid-dev)")
def test_simgrid_takes_as_long_as_is_predicted(route: Route, tmp_path: Path) -> None:
    sizes = (8, 1024, EAGER_BYTES, EAGER_BYTES + 1, 512 << 10, 4 << 20)
    times_us = simulate(route, tmp_path, sizes)
    assert list(times_us) == list(sizes)
    for size, time_us in times_us.items():
        near = size if size != EAGER_BYTES + 1 else route.intervals[1].first_bytes  # a prediction jumps a bit later
        assert time_us == pytest.approx(route.predict_half_trip_us(near), rel=0.02), size


def test_equations_stand_beside_measured_times(route: Route) -> None:
    eager_us = calculate_single_send_us(route, 1024)
    assert eager_us == pytest.approx(O_S + LATENCY + O_R, rel=0.05)
    large_us = calculate_single_send_us(route, 1 << 20)
    assert large_us == pytest.approx(O_S + LATENCY + 1.0 + (1 << 20) * WIRE_NS * 1e-3, rel=0.02)
    median = {key: {"median": 7.0} for key in ("send_us", "isend_us", "recv_us", "recv_arrived_us")}
    results = [{"size_bytes": 1024, "contenders": {"stock": median, "early auto (events)": median}}]
    rows = calculate_equations(route, results)
    assert {row["equation"] for row in rows} == {"1, 2", "3", "4", "5", "6"}
    assert {row["contender"] for row in rows if row["equation"] in ("3", "5")} == {"early auto (events)"}
    console = Console(width=100, record=True, file=io.StringIO())
    print_equations(console, rows)
    assert "7 / 25" in console.export_text()


def test_what_is_printed_says_what_cannot_be_told(route: Route) -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    checked = replace(route, checks=(Check(8, Estimate(50, 49, 51), 55.0),))
    print_system(console, make_system(checked), {"within": "one host"})
    text = console.export_text()
    assert "Worst: +10.0 % at 8 B" in text
    assert "Cannot be told apart: o_sb and o_rb above 65536 bytes" in text.replace("\n", " ")
    assert "within: not measured, one host" in text
    assert "…" not in text


def test_a_size_without_calls_has_no_overheads() -> None:
    assert make_size(8 << 20, [5.0] * 5, None, is_eager=False) == SizeParameters(8 << 20, Estimate(5, 5, 5))


@needs_mpi
def test_short_run(tmp_path: Path, stand_in_preload: Path) -> None:
    line = "probe --shared-memory --largest 1MiB --jobs 1 --system system.json --loggopsim options --simgrid smpi.xml"
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(stand_in_preload)}
    command = [sys.executable, "-m", "lapwing", *line.split()]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = read_system(tmp_path / "system.json").routes
    assert [entry.where for entry in found] == ["within"]
    assert found[0].byte_ns.value > 0 and found[0].checks
    assert (tmp_path / "options").read_text().startswith("-L ")
    assert "LogGOPSim's options are in picoseconds" in done.stdout
    assert ElementTree.parse(tmp_path / "smpi.xml").getroot().tag == "config"
