# SPDX-License-Identifier: MIT
"""Profiles of processes and jobs: read exactly, merged one at a time, and refused clearly when they are damaged."""

import os
import random
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from profile_files import (
    BLOCK_BYTES,
    HEADER_BYTES,
    HELD,
    ROW,
    SIZE,
    UNSET,
    WAY,
    FileSpec,
    SiteSpec,
    make_file,
    make_host_file,
    make_receive,
    write_host_file,
)

from lapwing.cli import main
from lapwing.errors import RecordError
from lapwing.model.profile import Moments, Peer, Row
from lapwing.model.reader import read_profile
from lapwing.model.recorded import read_recorded
from lapwing.profile.job_file import (
    CHECK,
    PICTURE,
    PROFILE_LINE,
    check_one_job,
    is_profile,
    open_profile_job,
    write_profile_job,
)
from lapwing.profile.rank_file import HEADER, decode_rank_file
from lapwing.profile.record import load_names
from lapwing.report.totals import sum_profile


def write_job(folder: Path, specs: list[FileSpec]) -> Path:
    """Write the processes' profiles, and merge them."""
    records = folder / "records"
    write_host_file(records, specs)
    write_profile_job(folder / "job", {"command": ["mpirun", "solver"]}, records)
    return folder / "job"


def test_profiles_of_a_host_are_read_from_one_file(tmp_path: Path) -> None:
    large = replace(make_receive(0, 4), modules=[(f"/bin/{number:04000}", 0, 0, 1) for number in range(40)])
    specs = [large, make_receive(1, 4), replace(large, rank=2)]
    write_host_file(tmp_path, specs)
    (tmp_path / "other.profiles").write_bytes(make_host_file([make_file(make_receive(3, 4))]))
    assert not write_profile_job(tmp_path / "job", {}, tmp_path)
    assert [rank.rank for rank in read_recorded(tmp_path / "job").ranks] == [0, 1, 2, 3]


@pytest.mark.parametrize(("offset", "message"), [(0, "damaged"), (8, "newer"), (12, "damaged")])
def test_damaged_file_of_a_host_is_named(offset: int, message: str, tmp_path: Path) -> None:
    data = bytearray(make_host_file([make_file(make_receive())]))
    data[offset] ^= 0x7F
    (tmp_path / "host.profiles").write_bytes(data)
    (tmp_path / "other.profiles").write_bytes(make_host_file([make_file(make_receive())]))
    (damaged,) = write_profile_job(tmp_path / "job", {}, tmp_path)
    assert message in damaged


def test_header_has_the_size_that_c_says() -> None:
    assert HEADER.size == HEADER_BYTES


def test_module_whose_name_is_no_text_is_still_that_file(tmp_path: Path) -> None:
    name = os.fsdecode(b"/bin/n\xe9n")
    spec = replace(make_receive(), modules=[(name, 0x1000, 0x2000, 0x9000)])
    assert read_recorded(write_job(tmp_path, [spec])).ranks[0].sites[0].module == name


def test_every_field_arrives(tmp_path: Path) -> None:
    rank = read_recorded(write_job(tmp_path, [make_receive()])).ranks[0]
    receive, reduce = rank.sites
    assert (rank.elapsed_ns, rank.covered_ns, rank.host, rank.is_complete) == (1_000_000, 77, "node7", True)
    assert receive.time == Moments(10, 100_000, 5_000, 20_000)
    assert receive.bytes == Moments(10, 81_920, 8_192, 8_192)
    assert receive.computation_before == Moments(9, 90_000, 1_000, 30_000)
    assert (receive.module, receive.offset) == ("/bin/solver", 0x2000)
    assert [(b.bits, b.count, b.bytes_total, b.time_total_ns, b.time_min_ns) for b in receive.sizes] == [
        (14, 10, 81_920, 100_000, 5_000)
    ]
    assert receive.peers == (Peer(1, 10, 81_920),)
    assert receive.passes == {"memory_stack": 1}
    assert receive.deferrable_count == 8
    assert reduce.computation_before == Moments()


def make_judged(**held: int) -> FileSpec:
    """A process with a receive of which so many sampled calls were judged, by reason."""
    spec, names = make_receive(), load_names("reasons")
    judged = [(HELD, names.index(reason), count, 0, 0, UNSET) for reason, count in held.items()]
    sites = [replace(site, cells=[*site.cells, *judged], watches=(6, 1, 10)) for site in spec.sites[:1]]
    return replace(spec, sites=sites)


def test_what_would_cross_is_read(tmp_path: Path) -> None:
    spec = make_receive()
    crossing = [(WAY, 0, 3, 300, 0, UNSET), (WAY, 1, 2, 200, 0, UNSET), (ROW, 0, 4, 400, 100, UNSET)]
    sites = [replace(site, cells=[*site.cells, *crossing]) for site in spec.sites[:1]]
    site = read_recorded(write_job(tmp_path, [replace(spec, sites=sites)])).ranks[0].sites[0]
    assert (site.sent_bytes, site.received_bytes) == (300, 200)
    assert site.row == Row(4, 400, 100)


def test_record_that_does_not_say_what_crosses_says_nothing(tmp_path: Path) -> None:
    site = read_recorded(write_job(tmp_path, [replace(make_receive(), version=2)])).ranks[0].sites[0]
    assert (site.sent_bytes, site.received_bytes, site.row) == (None, None, None)


@pytest.mark.parametrize(
    ("held", "held_count", "unheld", "deferrable"),
    [
        ({"none": 6}, 6, {}, 10),
        ({"memory_neighbours": 6}, 0, {"memory_neighbours": 6}, 0),
        ({"none": 3, "memory_stack": 2, "memory_locked": 1}, 3, {"memory_stack": 2, "memory_locked": 1}, 5),
    ],
)
def test_what_could_be_held_decides_what_is_deferred(
    held: dict[str, int], held_count: int, unheld: dict[str, int], deferrable: int, tmp_path: Path
) -> None:
    """Not what could be watched."""
    site = read_recorded(write_job(tmp_path, [make_judged(**held)])).ranks[0].sites[0]
    assert (site.held_count, site.unheld, site.deferrable_count) == (held_count, unheld, deferrable)


def test_record_of_the_first_version_tells_what_could_be_watched(tmp_path: Path) -> None:
    site = read_recorded(write_job(tmp_path, [replace(make_receive(), version=1)])).ranks[0].sites[0]
    assert (site.held_count, site.unheld, site.deferrable_count) == (None, {}, 8)


@pytest.mark.parametrize(
    ("stored", "matches_first"), [((0, 0), None), ((1, 1), False), ((1, 2), True), ((0, 2), True), ((9, 0), None)]
)
def test_matching_arrives(stored: tuple[int, int], matches_first: bool | None, tmp_path: Path) -> None:
    """Of any rank; records of older versions do not say."""
    specs = [replace(make_receive(rank, 2), matching=code) for rank, code in enumerate(stored)]
    assert read_recorded(write_job(tmp_path, specs)).matches_first is matches_first


def test_slack_and_touches_arrive(tmp_path: Path) -> None:
    receive = read_recorded(write_job(tmp_path, [make_receive()])).ranks[0].sites[0]
    slack = receive.slack
    assert slack is not None
    assert (slack.sampled_count, slack.wall_total_ns, slack.censored_count) == (4, 13_000, 0)
    assert [(b.bits, b.count, b.computation_total_ns) for b in slack.buckets] == [(12, 4, 12_000)]
    assert [(t.count, t.offset, t.wall_total_ns) for t in receive.touches] == [(3, 0x2101, 12_000), (1, 0x2201, 1_000)]


def test_functions_are_the_sums_of_their_sites(tmp_path: Path) -> None:
    spec = make_receive()
    twice = replace(spec, sites=[spec.sites[0], replace(spec.sites[0], address=0x4000)])
    function = read_recorded(write_job(tmp_path, [twice])).ranks[0].functions[0]
    assert function.time == Moments(20, 200_000, 5_000, 20_000)


def test_ranks_come_in_order_whatever_their_files_are_called(tmp_path: Path) -> None:
    job = write_job(tmp_path, [make_receive(rank, 3) for rank in (2, 0, 1)])
    assert [rank.rank for rank in read_recorded(job).ranks] == [0, 1, 2]


def test_process_that_died_is_not_complete(tmp_path: Path) -> None:
    job = write_job(tmp_path, [replace(make_receive(), state=0)])
    assert not read_recorded(job).ranks[0].is_complete


def test_single_process_file_is_a_profile_too(tmp_path: Path) -> None:
    path = tmp_path / "one.profile"
    path.write_bytes(make_file(make_receive()))
    assert read_recorded(path).ranks[0].sites[0].time.count == 10


def test_damaged_file_does_not_hide_the_others(tmp_path: Path) -> None:
    large = replace(make_receive(1), modules=[(f"/bin/{number:04000}", 0, 0, 1) for number in range(40)])
    profiles = [make_file(make_receive()), make_file(large)[:700], b"nonsense" * 100, bytes(HEADER_BYTES)]
    (tmp_path / "host.profiles").write_bytes(make_host_file(profiles))
    assert write_profile_job(tmp_path / "job", {}, tmp_path) == [
        "host.profiles, process 2 is cut short",
        "host.profiles, process 3 is no profile of Lapwing",
        "host.profiles, process 4, ended before it wrote its profile",
    ]
    assert len(read_recorded(tmp_path / "job").ranks) == 1


def test_hundreds_of_ranks_merge_without_being_in_memory(tmp_path: Path) -> None:
    cells = [(SIZE, 14, 1, 8_192, 9, 9), *make_receive().sites[0].cells[1:]]
    sites = [SiteSpec(0, 0x3000 + 16 * n, (1, 9, 9, 9), cells=cells) for n in range(50)]
    records = tmp_path / "records"
    write_host_file(records, [replace(make_receive(rank, 300), sites=sites) for rank in range(300)])
    tracemalloc.start()
    write_profile_job(tmp_path / "job", {}, records)
    totals = sum_profile(open_profile_job(tmp_path / "job"))
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(totals.ranks), len(totals.sites)) == (300, 50)
    assert totals.functions["MPI_Recv"].count == 300 * 50
    assert peak_bytes < 3e6 < (tmp_path / "job").stat().st_size


@pytest.mark.parametrize("length_bytes", [0, 5, 100, 511, 512, 700, -1])
def test_truncated_process_file_is_refused(length_bytes: int) -> None:
    with pytest.raises(RecordError):
        decode_rank_file(make_file(make_receive())[:length_bytes], "file")


def test_foreign_file_is_refused() -> None:
    with pytest.raises(RecordError, match="no profile"):
        decode_rank_file(b"\x7fELF" + bytes(600), "file")


def test_newer_process_file_is_refused_by_name() -> None:
    with pytest.raises(RecordError, match="newer"):
        decode_rank_file(make_file(replace(make_receive(), version=4)), "file")


def test_newer_job_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "job"
    path.write_bytes(b"LAPWING-PROFILE 2\n{}\n")
    with pytest.raises(RecordError, match="newer"):
        is_profile(path)


def test_loop_of_cells_is_refused() -> None:
    data = bytearray(make_file(make_receive()))
    blocks = decode_rank_file(bytes(data), "file").sites[0].number + 3
    start = HEADER_BYTES + blocks * BLOCK_BYTES + 4
    data[start : start + 4] = blocks.to_bytes(4, "little")
    with pytest.raises(RecordError, match="damaged"):
        decode_rank_file(bytes(data), "file")


def test_truncated_job_is_refused_at_every_length(tmp_path: Path) -> None:
    data = write_job(tmp_path, [make_receive(rank, 2) for rank in range(2)]).read_bytes()
    path = tmp_path / "cut"
    for length_bytes in range(len(PROFILE_LINE), len(data), 83):
        path.write_bytes(data[:length_bytes])
        with pytest.raises(RecordError):
            open_profile_job(path)


def test_what_follows_a_job_is_refused(tmp_path: Path) -> None:
    """Two records that somebody joined are not the first of them, whether they have a check or not."""
    data = write_job(tmp_path, [make_receive()]).read_bytes()
    path = tmp_path / "joined"
    for joined in (2 * data, 2 * data[: -CHECK.size], data + b"\n", data[: -CHECK.size] + b"\n"):
        path.write_bytes(joined)
        with pytest.raises(RecordError, match="more follows"):
            open_profile_job(path)


def test_every_changed_byte_of_a_job_is_found(tmp_path: Path) -> None:
    data = write_job(tmp_path, [make_receive(rank, 2) for rank in range(2)]).read_bytes()
    path = tmp_path / "flipped"
    for place in range(len(PROFILE_LINE), len(data), 13):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        with pytest.raises(RecordError):
            open_profile_job(path)


def test_a_changed_magic_of_the_check_is_damage(tmp_path: Path) -> None:
    """It is not a second record, which somebody could take away again."""
    data = write_job(tmp_path, [make_receive()]).read_bytes()
    path = tmp_path / "flipped"
    for place in range(len(data) - CHECK.size, len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 8]) + data[place + 1 :])
        with pytest.raises(RecordError, match="is damaged; profile again"):
            open_profile_job(path)


def test_jobs_without_a_check_are_read(tmp_path: Path) -> None:
    """Earlier records have none."""
    path = write_job(tmp_path, [make_receive()])
    path.write_bytes(path.read_bytes()[: -CHECK.size])
    assert len(sum_profile(open_profile_job(path)).ranks) == 1


def test_mutated_jobs_are_read_or_refused(tmp_path: Path) -> None:
    """A check would find all of them: here is what looks at each part."""
    data = write_job(tmp_path, [make_receive(rank, 2) for rank in range(2)]).read_bytes()[: -CHECK.size]
    path, chance, outcomes = tmp_path / "mutant", random.Random(7), {True: 0, False: 0}
    for _ in range(300):
        mutant = bytearray(data)
        for _ in range(chance.randint(1, 6)):
            mutant[chance.randrange(len(mutant))] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
        path.write_bytes(mutant)
        try:
            read_profile(path)
            outcomes[True] += 1
        except RecordError:
            outcomes[False] += 1
    assert min(outcomes.values()) > 10


def test_events_come_the_oldest_first() -> None:
    events = [(100 * n, 10, 0, 1, 8) for n in range(7)]
    spec = replace(make_receive(), events=events, event_capacity=4)
    assert [event.start_ns for event in decode_rank_file(make_file(spec), "file").events] == [300, 400, 500, 600]


def test_model_refuses_several_jobs_by_name(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"holds 2 jobs: the command.*; profile one launcher at a time"):
        read_profile(write_job(tmp_path, [make_receive(rank, 2) for rank in (0, 1, 0, 1)]))


def test_advice_refuses_several_jobs_without_naming_a_file(tmp_path: Path) -> None:
    write_host_file(tmp_path, [make_receive(), make_receive()])
    with pytest.raises(RecordError, match=r"^2 jobs left profiles: the command"):
        check_one_job(tmp_path)


@pytest.mark.parametrize("words", [["predict"], ["compare", "base"]])
def test_model_refuses_the_picture_of_a_run(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_job(tmp_path, [make_receive()]).rename("base")
    write_profile_job(tmp_path / "picture", {PICTURE: True}, tmp_path / "records")
    assert main([*words, "picture"]) == 2
    assert "picture holds the picture of a run, no profile" in capsys.readouterr().err


def test_model_says_that_a_rank_was_killed(tmp_path: Path) -> None:
    killed = replace(make_receive(1, 2), state=0)
    profile = read_recorded(write_job(tmp_path, [make_receive(0, 2), killed]))
    assert profile.unknown[1] == "what rank 1 would have done: ended without MPI_Finalize"


@pytest.mark.parametrize(
    ("present", "size", "text"),
    [
        ([0], 2, "what rank 1 of 2 did: the record has no profile of it"),
        ([1, 4], 6, "what 4 of 6 ranks did (0, 2, 3, 5): the record has no profiles of them"),
        ([3], 1 << 30, "what 1073741823 of 1073741824 ranks did (0, 1, 2, 4, ...): the record has no profiles of them"),
    ],
)
def test_model_says_which_ranks_are_missing(present: list[int], size: int, text: str, tmp_path: Path) -> None:
    profile = read_recorded(write_job(tmp_path, [make_receive(rank, size) for rank in present]))
    assert (profile.missing_count, profile.unknown[1:]) == (size - len(present), (text,))


def test_missing_ranks_may_share_the_cores(tmp_path: Path) -> None:
    assert read_recorded(write_job(tmp_path, [make_receive(0, 2)])).cores_per_rank is None


def test_unknown_things_make_a_sentence(tmp_path: Path) -> None:
    profile = read_recorded(write_job(tmp_path, [make_receive()]))
    assert profile.unknown == ("when a peer was late: that is estimated from the fastest calls",)
