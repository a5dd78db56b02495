# SPDX-License-Identifier: MIT
"""Profiles in files: good ones come back exactly, any other gives one clear error."""

import json
import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from model_simulation import profile_programs
from test_model_refined import blocking_with_slack, make_programs, overlapping

from lapwing.errors import RecordError
from lapwing.model.document import FORMAT, decode_profile
from lapwing.model.profile import Calibration, Engine, JobProfile, Link, Peer, Sweep, Touch, Way
from lapwing.model.reader import read_profile
from lapwing.model.schema import format_profile_schema, make_profile_schema
from lapwing.model.study import study_profile
from lapwing.profile.record import RankRecord, encode_record, write_job


@pytest.fixture(scope="module")
def profile() -> JobProfile:
    """A profile that has something in every field."""
    small = profile_programs(make_programs(blocking_with_slack, 1 << 20))
    rank = small.ranks[0]
    site = replace(
        rank.sites[0],
        touches=(Touch(3, "solver.c", 188, "step"), Touch(1, module="/lib/x.so", offset=0x40)),
        peers=(Peer(1, 20, 20 << 20),),
        late_peer_ns=1000,
        deferrable_count=20,
        passes={"small": 2},
        held_count=3,
        unheld={"memory_stack": 1},
        module="/home/user/app",
        offset=0x1234,
        caller="exchange",
    )
    full = replace(rank, sites=(site, *rank.sites[1:]), engine=Engine(5, 6, 7, 8))
    return replace(
        small,
        ranks=(full, *small.ranks[1:]),
        way=Way.DEFERRED,
        name="job",
        command="./app",
        spare_cores=1,
        scaling=Sweep((1, 2), ((9, 8), (5, 6))),
        link=Link(5000.0, 1.25e8, 0.5),
        calibration=Calibration(16, (100, 101), (106, 107)),
        missing_count=3,
        unknown=("something",),
    )


def test_document_round_trip(profile: JobProfile) -> None:
    assert decode_profile(FORMAT.encode(profile), "file") == profile


def test_file_round_trip(profile: JobProfile, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(FORMAT.encode(profile), "utf-8")
    assert read_profile(tmp_path / "p.json") == profile


def test_name_defaults_to_the_file(profile: JobProfile, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(FORMAT.encode(replace(profile, name="")), "utf-8")
    assert read_profile(tmp_path / "p.json").name == "p.json"


def test_record_without_profile_says_what_to_do(rank_record: RankRecord, tmp_path: Path) -> None:
    write_job(tmp_path / "job", {}, [rank_record])
    with pytest.raises(RecordError, match="only the counters"):
        read_profile(tmp_path / "job")


@pytest.mark.parametrize("length_bytes", [0, 1, 8, 100, 327])
def test_cut_record_is_refused(rank_record: RankRecord, tmp_path: Path, length_bytes: int) -> None:
    (tmp_path / "rank").write_bytes(encode_record(rank_record)[:length_bytes])
    with pytest.raises(RecordError):
        read_profile(tmp_path / "rank")


@pytest.mark.parametrize(
    "content", [b"", b"\x7fELF\x02\x01", b"PK\x03\x04", b"plain text\n", b"\xff\xfe{", b"[1, 2]", b"{}"]
)
def test_foreign_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "foreign").write_bytes(content)
    with pytest.raises(RecordError, match="no profile"):
        read_profile(tmp_path / "foreign")


def test_newer_document_is_refused_by_name(profile: JobProfile) -> None:
    document = json.loads(FORMAT.encode(profile))
    document["version"] = 2
    with pytest.raises(RecordError, match="newer"):
        decode_profile(json.dumps(document), "file")


def test_published_schema_is_current() -> None:
    published = Path(__file__).parents[2] / "docs/profile.schema.json"
    remedy = "python -m lapwing.model.schema > docs/profile.schema.json"
    assert published.read_text("utf-8") == format_profile_schema(), remedy


def find_unknown_fields(value: Any, description: Any, definitions: dict[str, Any]) -> list[str]:
    """Return the fields of a document that a schema does not know."""
    if "$ref" in description:
        description = definitions[description["$ref"].rsplit("/", 1)[-1]]
    if isinstance(value, list):
        return [name for entry in value for name in find_unknown_fields(entry, description["items"], definitions)]
    if not isinstance(value, dict) or "properties" not in description:
        return []
    known = description["properties"]
    unknown = [name for name in value if name not in known]
    for name in value.keys() & known.keys():
        inner = known[name].get("anyOf", [known[name]])[0]
        unknown += find_unknown_fields(value[name], inner, definitions)
    return unknown


def test_published_schema_knows_every_field(profile: JobProfile) -> None:
    schema = make_profile_schema()
    document = json.loads(FORMAT.encode(profile))
    assert find_unknown_fields(document, schema, schema["$defs"]) == []
    document["profile"]["ranks"][0]["sites"][0]["time"]["median"] = 1
    assert find_unknown_fields(document, schema, schema["$defs"]) == ["median"]


def break_site(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """Return a change of the first site."""
    return lambda document: change(document["profile"]["ranks"][0]["sites"][0])


def set_path(*path: str | int, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of one value in a site."""

    def change(site: dict[str, Any]) -> None:
        target: Any = site
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = value

    return break_site(change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(version="1"), "version"),
        (lambda d: d.update(profile=None), "no object"),
        (lambda d: d["profile"].update(ranks=[]), "no rank"),
        (lambda d: d["profile"].update(ranks="many"), "no list"),
        (lambda d: d["profile"].update(colour="red"), "unknown field"),
        (lambda d: d["profile"].update(way="sideways"), "none of"),
        (lambda d: d["profile"].update(cores_per_rank=-4), "negative"),
        (lambda d: d["profile"].update(cores_per_rank=True), "whole number"),
        (lambda d: d["profile"]["link"].update(bytes_per_s=float("nan")), "not finite"),
        (lambda d: d["profile"]["link"].update(bytes_per_s=0), "carries nothing"),
        (lambda d: d["profile"]["calibration"].update(full_ns=[]), "calibration"),
        (lambda d: d["profile"]["scaling"].update(times_ns=[[9]]), "sweep"),
        (lambda d: d["profile"]["ranks"][0].update(elapsed_ns=1), "more time in MPI"),
        (lambda d: d["profile"]["ranks"][1].update(rank=0), "twice"),
        (lambda d: d["profile"]["ranks"][0].pop("functions"), "lacks functions"),
        (set_path("time", "count", value=1 << 70), "too large"),
        (set_path("time", "minimum", value=1 << 60), "contradict"),
        (set_path("time", "total", value=1 << 40), "contradict"),
        (break_site(lambda site: site["sizes"][0].update(count=99, time_min_ns=0)), "add up"),
        (set_path("sizes", 0, "time_min_ns", value=1 << 60), "contradict"),
        (set_path("sizes", 0, "bits", value=4000), "contradict"),
        (set_path("slack", "buckets", 0, "count", value=0), "contradicts"),
        (set_path("function", value=7), "no str"),
    ],
)
def test_damaged_document_names_its_flaw(
    profile: JobProfile, tmp_path: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    document = json.loads(FORMAT.encode(profile))
    change(document)
    (tmp_path / "p.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(RecordError, match=message):
        read_profile(tmp_path / "p.json")


def test_rank_that_was_killed_may_contradict_itself(profile: JobProfile, tmp_path: Path) -> None:
    """It had counted a call, and not yet its time."""
    document = json.loads(FORMAT.encode(profile))
    document["profile"]["ranks"][0]["is_complete"] = False
    document["profile"]["ranks"][0]["sites"][0]["time"].update(minimum=1 << 40, maximum=0)
    (tmp_path / "p.json").write_text(json.dumps(document), "utf-8")
    assert not read_profile(tmp_path / "p.json").ranks[0].is_complete


def test_a_maximum_may_be_left_out(profile: JobProfile, tmp_path: Path) -> None:
    """The schema does not require it, and has 0 where there is none."""
    document = json.loads(FORMAT.encode(profile))
    for entry in (*document["profile"]["ranks"][0]["sites"], *document["profile"]["ranks"][0]["functions"]):
        entry["time"] = {"count": entry["time"]["count"], "total": entry["time"]["total"]}
    (tmp_path / "p.json").write_text(json.dumps(document), "utf-8")
    assert read_profile(tmp_path / "p.json").ranks[0].sites[0].time.maximum == 0


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    (tmp_path / "deep").write_text('{"a":' * 200_000, "utf-8")
    with pytest.raises(RecordError, match="damaged"):
        read_profile(tmp_path / "deep")


# More by hand: LAPWING_MUTATIONS=10000 pytest tests/python/test_model_reader.py
MUTATIONS = int(os.environ.get("LAPWING_MUTATIONS", "120"))
VALUES: list[Any] = [
    None,
    True,
    0,
    1,
    -1,
    1 << 62,
    1 << 64,
    0.5,
    float("inf"),
    float("nan"),
    "",
    "x",
    [],
    {},
    [0],
    {"a": 1},
]


def list_places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the paths to all values of a document."""
    entries: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, entry in entries for place in list_places(entry, (*path, key)))]


def mutate(document: Any, generator: random.Random) -> None:
    """Change one value anywhere."""
    path = generator.choice(list_places(document)[1:])
    target = document
    for step in path[:-1]:
        target = target[step]
    if generator.random() < 0.2:
        del target[path[-1]]
    else:
        target[path[-1]] = generator.choice(VALUES)


@pytest.mark.parametrize("seed", range(MUTATIONS))
def test_any_mutation_of_a_value_is_read_or_refused(profile: JobProfile, tmp_path: Path, seed: int) -> None:
    """What is read can be studied: no division by zero, no missing key, no negative time."""
    generator = random.Random(seed)
    document = json.loads(FORMAT.encode(profile))
    for _ in range(generator.randint(1, 3)):
        mutate(document, generator)
    (tmp_path / "p.json").write_text(json.dumps(document), "utf-8")
    try:
        study = study_profile(read_profile(tmp_path / "p.json"))
    except RecordError:
        return
    assert all(p.low_ns <= p.expected_ns <= p.high_ns for p in study.predictions.values())


@pytest.mark.parametrize("seed", range(MUTATIONS))
def test_any_mutation_of_bytes_is_read_or_refused(
    profile: JobProfile, rank_record: RankRecord, tmp_path: Path, seed: int
) -> None:
    generator = random.Random(seed)
    write_job(tmp_path / "job", {"a": 1}, [rank_record])
    sources = [FORMAT.encode(profile).encode(), encode_record(rank_record), (tmp_path / "job").read_bytes()]
    data = bytearray(generator.choice(sources))
    for _ in range(generator.randint(1, 8)):
        data[generator.randrange(len(data))] = generator.randrange(256)
    if generator.random() < 0.3:
        del data[generator.randrange(len(data)) :]
    (tmp_path / "file").write_bytes(data)
    try:
        study_profile(read_profile(tmp_path / "file"))
    except RecordError as error:
        assert "\n" not in str(error)


def test_profile_of_nonblocking_calls_survives_too(tmp_path: Path) -> None:
    profile = profile_programs(make_programs(overlapping, 1 << 20))
    (tmp_path / "p.json").write_text(FORMAT.encode(profile), "utf-8")
    assert read_profile(tmp_path / "p.json").ranks == profile.ranks
