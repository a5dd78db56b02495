# SPDX-License-Identifier: MIT
"""What waiting was for, in simulated programs whose cause is known, by a system that was measured."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from model_simulation import NS_PER_BYTE, Program, Step, profile_programs
from rich.console import Console

from lapwing.advise.words import explain_lateness, explain_nothing
from lapwing.model.profile import FunctionStatistics, JobProfile, Moments, Peer, RankProfile, SiteStatistics, Source
from lapwing.model.study import Study, study_profile
from lapwing.model.system import EAGER, RENDEZVOUS, Estimate, Interval, Route, SizeParameters, System
from lapwing.model.transfers import Mix, estimate_message_us, estimate_wait_us, list_transfers, measure_mix
from lapwing.model.waits import WaitCauses, sum_all_causes, sum_causes
from lapwing.report.findings import describe_evenness, find_in_profile
from lapwing.report.prediction import print_study

ROUNDS, SIZE, MS = 20, 1 << 20, 1e6
TRANSFER_NS = SIZE * NS_PER_BYTE
CAUSES = ("transfer_ns", "progress_ns", "away_ns", "sender_ns", "receiver_ns")
Character = Callable[[int], Program]


def be_sure(value: float) -> Estimate:
    return Estimate(value, value, value)


def make_route(where: str, byte_ns: float, eager_bytes: int = 0) -> Route:
    lines = [Interval(RENDEZVOUS, max(1, eager_bytes), 1 << 26, be_sure(0.0), be_sure(byte_ns))]
    if eager_bytes:
        lines.insert(0, Interval(EAGER, 1, eager_bytes - 1, be_sure(10.0), be_sure(0.0)))
    sizes = (SizeParameters(1, be_sure(10.0), o_sb=be_sure(2.0) if eager_bytes else None),)
    return Route(where, "", "", eager_bytes, be_sure(0), sizes, tuple(lines))


def make_system(*routes: Route) -> System:
    return System("openmpi", "MPI 9", "0", "6", "", "", routes or (make_route("between", NS_PER_BYTE),))


def exchange_once(rank: int, number: int, place: str, before_ns: float, slack_ns: float) -> Program:
    """Work, start, work, wait."""
    own, other = 2 * number + rank, 2 * number + 1 - rank
    return [
        Step("compute", time_ns=before_ns),
        Step("irecv", place, messages=(other,), size_bytes=SIZE),
        Step("isend", place, messages=(own,), size_bytes=SIZE),
        Step("compute", time_ns=slack_ns),
        Step("wait", place, messages=(own, other)),
    ]


def exchange(rank: int, before_ns: Sequence[float], slack_ns: Sequence[float]) -> Program:
    """The same in every round; each rank has its own work."""
    rounds = [exchange_once(rank, number, "halo.c", before_ns[rank], slack_ns[rank]) for number in range(ROUNDS)]
    return [step for steps in rounds for step in steps]


def one_way(rank: int, sender_ns: float, receiver_ns: float) -> Program:
    """Rank 0 sends, rank 1 receives, and each works before."""
    verb, work_ns = ("send", sender_ns) if rank == 0 else ("recv", receiver_ns)
    steps: list[Step] = []
    for number in range(ROUNDS):
        steps += [
            Step("compute", time_ns=work_ns),
            Step(verb, f"{verb}.c", messages=(number,), size_bytes=SIZE),
            Step("touch", messages=(number,)),
        ]
    return steps


def in_turn(rank: int, slack_ns: float = 0.0) -> Program:
    """Ranks with the same work in all, of which now the one is late, and then the other."""
    steps: list[Step] = []
    for number in range(ROUNDS):
        verb = "send" if rank == 0 else "recv"
        steps += [
            Step("compute", time_ns=30 * MS if number % 2 == rank else 0.0),
            Step(verb, "turn.c", messages=(number,), size_bytes=SIZE),
            Step("compute", time_ns=slack_ns),
            Step("touch", messages=(number,)),
        ]
    return steps


def missing_progress(rank: int) -> Program:
    return exchange(rank, (4 * MS, 4 * MS), (20 * MS, 20 * MS))


def nothing_beside(rank: int) -> Program:
    return exchange(rank, (20 * MS, 20 * MS), (0.0, 0.0))


def uneven_exchange(rank: int) -> Program:
    return exchange(rank, (10 * MS, 40 * MS), (0.0, 0.0))


def peer_computes(rank: int) -> Program:
    """Two exchanges a round, and one rank waits at once while the other computes first: in turn."""
    steps: list[Step] = []
    for number in range(ROUNDS):
        steps += exchange_once(rank, 2 * number, "first.c", 5 * MS, 30 * MS * rank)
        steps += exchange_once(rank, 2 * number + 1, "second.c", 5 * MS, 30 * MS * (1 - rank))
    return steps


def late_sender(rank: int) -> Program:
    return one_way(rank, 30 * MS, 5 * MS)


def late_receiver(rank: int) -> Program:
    return one_way(rank, 5 * MS, 30 * MS)


def study(character: Character, system: System | None = None) -> Study:
    profile = profile_programs([character(0), character(1)])
    return study_profile(replace(profile, cores_per_rank=1), threshold_bytes=1, system=system or make_system())


def find_main_cause(causes: WaitCauses) -> str:
    return max(CAUSES, key=lambda name: getattr(causes, name))


@pytest.mark.parametrize(
    ("character", "cause", "is_uneven"),
    [
        (missing_progress, "progress_ns", False),
        (nothing_beside, "transfer_ns", False),
        (uneven_exchange, "sender_ns", True),
        (late_sender, "sender_ns", True),
        (late_receiver, "receiver_ns", True),
    ],
)
def test_main_cause_of_waiting_is_the_known_one(character: Character, cause: str, is_uneven: bool) -> None:
    causes = sum_all_causes(study(character).waits)
    if character is not uneven_exchange:  # messages both ways: the late rank sends and receives
        assert find_main_cause(causes) == cause
    assert (causes.uneven_ns > causes.missed_ns + causes.transfer_ns) == is_uneven


def test_causes_add_up_to_what_was_measured() -> None:
    for character in (missing_progress, nothing_beside, uneven_exchange, late_sender, late_receiver, in_turn):
        found = study(character)
        sites = [site.times for rank in found.predictions["stock"].ranks for site in rank.sites]  # type: ignore[index]
        waiting = [times for times in sites if times.site.call_class in ("blocking", "wait")]
        causes = sum_all_causes(found.waits)
        assert sum(getattr(causes, name) for name in CAUSES) == pytest.approx(
            sum(times.data_ns + times.idle_ns for times in waiting)
        )


def test_missing_progress_is_as_long_as_the_transfers() -> None:
    causes = sum_all_causes(study(missing_progress).waits)
    assert causes.progress_ns == pytest.approx(2 * ROUNDS * TRANSFER_NS, rel=0.02)
    assert causes.late_ns < 0.02 * causes.progress_ns


def test_peer_that_has_started_and_computes_is_not_late() -> None:
    causes = sum_all_causes(study(peer_computes).waits)
    assert causes.away_ns > causes.late_ns
    kinds = [finding.kind for finding in find_in_profile(study(peer_computes))]
    assert "imbalance" not in kinds


def exchange_and_meet(rank: int) -> Program:
    """An exchange beside work; then ranks that are late in turn meet."""
    steps: list[Step] = []
    for number in range(ROUNDS):
        steps += exchange_once(rank, 2 * number, "halo.c", 5 * MS, 40 * MS)
        meeting = in_turn(rank)[4 * number : 4 * number + 4]
        steps += [replace(step, messages=tuple(n - 10**6 for n in step.messages)) for step in meeting]
    return steps


@pytest.mark.parametrize(("function", "is_matched"), [("MPI_Barrier", False), ("MPI_Allreduce", False), ("", True)])
def test_collective_does_not_wait_for_what_was_started(function: str, is_matched: bool) -> None:
    """A receive may wait for a peer's MPI_Isend; a blocking collective meets blocking collectives alone."""
    profile = profile_programs([exchange_and_meet(rank) for rank in range(2)])

    def rename(site: SiteStatistics) -> SiteStatistics:
        return replace(site, function=function or site.function) if site.file == "turn.c" else site

    ranks = tuple(replace(rank, sites=tuple(map(rename, rank.sites))) for rank in profile.ranks)
    waits = study_profile(replace(profile, ranks=ranks, cores_per_rank=1), system=make_system()).waits
    sites = [causes for rank in waits.values() for key, causes in rank.items() if key[1] == "turn.c"]
    causes = sum_causes(sites)
    assert (causes.away_ns > 0) == is_matched
    assert causes.late_ns > 0 or is_matched


def test_ranks_that_are_late_in_turn_are_not_called_uneven() -> None:
    found = study(in_turn)
    kinds = {finding.kind for finding in find_in_profile(found)}
    assert "late in turn" in kinds and "imbalance" not in kinds
    assert "late in turn" in explain_nothing(found)


def test_partly_uneven_work_is_not_called_even() -> None:
    causes = WaitCauses(sender_ns=100.0, uneven_ns=37.0)
    assert "explains 37 % of that" in explain_lateness(causes, True) and "37 %" in describe_evenness(causes, True)
    for share, words in ((0.6, "The work is uneven"), (0.01, "about as much to do")):
        assert words in explain_lateness(replace(causes, uneven_ns=100.0 * share), True)


def send_and_wait(rank: int) -> Program:
    """Rank 0 has all the work, and waits at times for a receiver that looks after its files."""
    steps: list[Step] = []
    for number in range(ROUNDS):
        if number % 2 == rank:
            steps += [Step("compute", time_ns=(100 if rank == 0 else 30) * MS)]
        verb = "send" if rank == 0 else "recv"
        steps += [Step(verb, "turn.c", messages=(number,), size_bytes=SIZE), Step("touch", messages=(number,))]
    return steps


def test_ranks_with_other_work_are_not_called_even() -> None:
    """Where the rank with most to do waits itself, its work explains nothing, and is no proof of evenness."""
    found = study(send_and_wait)
    text = next(f.text for f in find_in_profile(found) if "MPI_Send" in f.text and f.kind == "late in turn")
    assert "as much to do" not in text


def meet_at(function: str, size: int) -> Study:
    """Ranks that are late in turn at one call."""
    profile = profile_programs([in_turn(rank, slack_ns=20 * MS) for rank in range(2)])

    def rename(site: SiteStatistics) -> SiteStatistics:
        sizes = tuple(replace(b, bits=size.bit_length(), bytes_total=b.count * size) for b in site.sizes if site.sizes)
        moments = replace(site.bytes, total=site.bytes.count * size, minimum=size, maximum=size)
        return replace(site, function=function, sizes=sizes, bytes=moments)

    ranks = [replace(rank, sites=tuple(map(rename, rank.sites))) for rank in profile.ranks]
    named = [replace(r, functions=tuple(replace(f, function=function) for f in r.functions)) for r in ranks]
    return study_profile(replace(profile, ranks=tuple(named), cores_per_rank=1))


@pytest.mark.parametrize(
    ("function", "size", "absorbs"), [("MPI_Barrier", 0, False), ("MPI_Recv", 8, False), ("MPI_Recv", SIZE, True)]
)
def test_only_calls_that_can_return_early_absorb_lateness(function: str, size: int, absorbs: bool) -> None:
    text = next(f.text for f in find_in_profile(meet_at(function, size)) if f.kind == "late in turn")
    assert ("absorb" in text) == absorbs


def test_rank_that_sends_to_itself_waits_for_nobody() -> None:
    own = (Peer(0, 10, 10 * SIZE),)
    site = SiteStatistics("MPI_Sendrecv", Moments(10, 10**9, 10**6, 9 * 10**8), file="a.c", peers=own)
    profile = JobProfile(Source.RECORD, (make_rank(0, "a", site),))
    assert sum_all_causes(study_profile(profile).waits).late_ns == 0


@pytest.mark.parametrize("character", [uneven_exchange, late_sender, late_receiver])
def test_true_imbalance_is_named(character: Character) -> None:
    found = study(character)
    assert "imbalance" in {finding.kind for finding in find_in_profile(found)}
    assert "overlap does not mend that" in explain_nothing(found)


def thread(found: Study) -> Study:
    """Return the study of the same calls by three threads, which are in MPI at once."""
    ranks = (replace(r, elapsed_ns=r.elapsed_ns // 3, has_threaded_calls=True) for r in found.profile.ranks)
    return study_profile(replace(found.profile, ranks=tuple(ranks)))


def test_times_of_several_threads_are_no_shares_of_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    found = thread(study(late_sender))
    print_study(found, Console(width=200))
    printed = capsys.readouterr().out
    assert "several threads of a rank called MPI: times in it add up over threads" in printed
    for text in (printed, explain_nothing(found)):
        assert "for senders" not in text
    assert "is not known, since several threads of a rank called it" in explain_nothing(found)


def test_a_call_by_another_thread_takes_no_explanation_away(capsys: pytest.CaptureFixture[str]) -> None:
    """One call is enough for the mark; nothing adds up to more than the time."""
    found = study(late_sender)
    ranks = tuple(replace(rank, has_threaded_calls=True) for rank in found.profile.ranks)
    threaded = study_profile(replace(found.profile, ranks=ranks))
    print_study(threaded, Console(width=200))
    printed = capsys.readouterr().out
    assert "Ranks waited:" in printed
    for text in (printed, explain_nothing(threaded)):
        assert "for senders" in text


def test_missing_progress_is_named_and_nothing_is_called_uneven() -> None:
    found = study(missing_progress)
    texts = [finding.text for finding in find_in_profile(found)]
    assert any("nobody made progress" in text for text in texts)
    assert not any("uneven" in text for text in texts)
    assert "progress that nobody made" in explain_nothing(found)


def test_no_gain_is_called_impossible_beside_a_measured_one() -> None:
    text = explain_nothing(study(uneven_exchange), speedup=1.16)
    assert "does not mend" not in text and "late receivers" in text


def make_wait(count: int, size: int, time_ns: int, peers: tuple[Peer, ...] = ()) -> SiteStatistics:
    time, size_moments = Moments(count, count * time_ns, time_ns, time_ns), Moments(count, count * size, size, size)
    return SiteStatistics("MPI_Waitall", time, file="a.c", line=1, bytes=size_moments, peers=peers)


def make_start(function: str, count: int, size: int) -> SiteStatistics:
    return SiteStatistics(
        function, Moments(count, count, 1, 1), file=function, bytes=Moments(count, count * size, size, size)
    )


def make_rank(number: int, host: str, *sites: SiteStatistics) -> RankProfile:
    functions = tuple(FunctionStatistics(site.function, site.time, site.bytes) for site in sites)
    return RankProfile(number, 10**10, functions, sites, host)


def test_directions_of_an_exchange_go_at_once() -> None:
    rank = make_rank(0, "a", make_start("MPI_Isend", 10, SIZE), make_start("MPI_Irecv", 10, SIZE))
    assert measure_mix(rank) == Mix(SIZE, 0.5)
    route = make_route("between", NS_PER_BYTE)
    one_us = SIZE * NS_PER_BYTE * 1e-3
    assert estimate_wait_us(route, measure_mix(rank), 2 * SIZE) == pytest.approx(one_us)
    assert estimate_wait_us(route, measure_mix(rank), 4 * SIZE) == pytest.approx(2 * one_us)
    assert estimate_wait_us(route, measure_mix(rank), SIZE) == pytest.approx(one_us)
    assert estimate_wait_us(route, Mix(SIZE, 1.0), 2 * SIZE) == pytest.approx(2 * one_us)


def test_persistent_messages_go_both_ways() -> None:
    assert measure_mix(make_rank(0, "a", make_start("MPI_Startall", 10, SIZE))).out_share == 0.5


def test_eager_send_takes_its_copy_and_a_receive_the_way() -> None:
    route = make_route("between", 8.0, eager_bytes=4096)
    assert estimate_message_us(route, "MPI_Send", 1024) == 2
    assert estimate_message_us(route, "MPI_Recv", 1024) == 10
    assert estimate_message_us(route, "MPI_Send", 8192) == pytest.approx(4096 * 8e-3)


def test_route_is_that_of_the_peers() -> None:
    near, far = Peer(1, 5, 5 * SIZE), Peer(2, 5, 5 * SIZE)
    sites = [make_wait(5, SIZE, 10**7, (near,)), make_wait(5, SIZE, 10**7, (far,)), make_wait(5, SIZE, 10**7)]
    ranks = [make_rank(0, "a", *sites), make_rank(1, "a"), make_rank(2, "b")]
    profile = JobProfile("record", tuple(ranks))  # type: ignore[arg-type]
    system = make_system(make_route("within", 1.0), make_route("between", 8.0))
    found = list_transfers(profile, system)[0]
    times_ns = [found.estimate_ns(site, SIZE) for site in sites]
    assert times_ns == pytest.approx([SIZE * 1.0, SIZE * 8.0, SIZE * 8.0], rel=0.01)


def test_fastest_wait_that_found_its_data_does_not_make_peers_late() -> None:
    """As of PETSc's MatMult: 2 MiB, and the fastest wait took 3 us, since the data had come."""
    profile = profile_programs([missing_progress(0), missing_progress(1)])

    def quicken(site: SiteStatistics) -> SiteStatistics:
        sizes = tuple(replace(bucket, time_min_ns=3000) for bucket in site.sizes)
        return replace(site, time=replace(site.time, minimum=3000), sizes=sizes)

    ranks = tuple(
        replace(rank, sites=tuple(quicken(s) if s.function == "MPI_Waitall" else s for s in rank.sites))
        for rank in profile.ranks
    )
    found = study_profile(replace(profile, ranks=ranks, cores_per_rank=1), system=make_system())
    causes = sum_all_causes(found.waits)
    assert find_main_cause(causes) == "progress_ns" and causes.late_ns < 0.05 * causes.progress_ns
