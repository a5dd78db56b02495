# SPDX-License-Identifier: MIT
"""How variables get into the command line of each launcher."""

from pathlib import Path

import pytest

from lapwing.errors import LapwingError
from lapwing.launch.launchers import Direct, Hydra, Launcher, OpenMpi, Prrte, Srun, find_launcher, recognise_version

VARIABLES = {"LD_PRELOAD": "/l.so", "LAPWING_HOLD": "signal"}


def test_openmpi_sets_variables_for_each_program() -> None:
    line = OpenMpi("mpirun").add_environment(["-n", "1", "./a", ":", "-n", "1", "./b"], VARIABLES)
    ours = ["-x", "LD_PRELOAD=/l.so", "-x", "LAPWING_HOLD=signal"]
    assert line == [*ours, "-n", "1", "./a", ":", *ours, "-n", "1", "./b"]


def test_openmpi_keeps_the_users_preload() -> None:
    given = ["-x", "LD_PRELOAD=/opt/liblapwing.so:/u.so", "./a"]
    line = OpenMpi("mpirun").add_environment(given, {"LD_PRELOAD": "/l.so"})
    assert line == ["-x", "LD_PRELOAD=/l.so:/u.so", "./a"]


@pytest.mark.parametrize("given", [["--x", "LD_PRELOAD=/u.so"], ["-x=LD_PRELOAD=/u.so"], ["--x=LD_PRELOAD=/u.so"]])
def test_openmpi_keeps_the_users_preload_however_written(given: list[str]) -> None:
    line = Prrte("mpirun").add_environment(["-n", "1", *given, "./a"], {"LD_PRELOAD": "/l.so"})
    assert line == ["-x", "LD_PRELOAD=/l.so:/u.so", "-n", "1", "./a"]


@pytest.fixture
def no_parameters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home without MCA parameters."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("OMPI_MCA_mca_base_env_list", raising=False)
    return tmp_path


def test_openmpi_adds_to_the_list_in_the_line(no_parameters: Path) -> None:
    given = ["--mca", "mca_base_env_list", "FOO=1;LD_PRELOAD=/u.so", "-n", "1", "./a", ":", "-n", "1", "./b"]
    line = OpenMpi("/mpi/bin/mpirun").add_environment(given, VARIABLES)
    assert line == [*given[:2], "FOO=1;LD_PRELOAD=/l.so:/u.so;LAPWING_HOLD=signal", *given[3:]]


def test_openmpi_adds_to_the_list_in_the_environment(no_parameters: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_MCA_mca_base_env_list", "FOO")
    line = OpenMpi("/mpi/bin/mpirun").add_environment(["-n", "1", "./a"], VARIABLES)
    assert line[:3] == ["--mca", "mca_base_env_list", "FOO;LD_PRELOAD=/l.so;LAPWING_HOLD=signal"]
    assert Prrte("/mpi/bin/mpirun").add_environment(["./a"], VARIABLES)[0] == "-x"


def test_openmpi_adds_to_the_list_in_a_file(no_parameters: Path) -> None:
    (no_parameters / ".openmpi").mkdir()
    (no_parameters / ".openmpi/mca-params.conf").write_text("# mca_base_env_list = NO\nmca_base_env_list = FOO=1;BAR\n")
    line = OpenMpi("/mpi/bin/mpirun").add_environment(["./a"], VARIABLES)
    assert line == ["--mca", "mca_base_env_list", "FOO=1;BAR;LD_PRELOAD=/l.so;LAPWING_HOLD=signal", "./a"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mca_base_env_list = FOO=1;BAR\n", "FOO=1;BAR"),
        ("# -mca mca_base_env_list NO\n-mca btl tcp,self --mca mca_base_env_list FOO=1\n", "FOO=1"),
        ('-mca mca_base_env_list "FOO=a b;BAR"\nmca_base_env_list_delimiter = ;\n', "FOO=a b;BAR"),
        ("-mca mca_base_env_list FOO=1\nmca_base_env_list = BAR=2\n", "BAR=2"),
    ],
)
@pytest.mark.parametrize("option", [["-tune"], ["--tune"], ["--mca", "mca_base_envar_file_prefix"]])
def test_openmpi_adds_to_the_list_in_a_file_that_the_line_names(
    no_parameters: Path, option: list[str], text: str, expected: str
) -> None:
    first, second = no_parameters / "first", no_parameters / "second"
    first.write_text("-mca btl tcp,self\n")
    second.write_text(text)
    given = [*option, f"{first},{second}", "./a"]
    line = OpenMpi("/mpi/bin/mpirun").add_environment(given, VARIABLES)
    assert line == ["--mca", "mca_base_env_list", f"{expected};LD_PRELOAD=/l.so;LAPWING_HOLD=signal", *given]


def test_openmpi_looks_for_named_files_where_the_launcher_does(
    no_parameters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = no_parameters / "share/openmpi/amca-param-sets"
    sets.mkdir(parents=True)
    (sets / "one").write_text("mca_base_env_list = SITE=1\n")
    (no_parameters / "one").write_text("mca_base_env_list = HERE=1\n")
    (no_parameters / "other").write_text("mca_base_env_list = HERE=2\n")
    monkeypatch.chdir(no_parameters)
    launcher = OpenMpi(str(no_parameters / "bin/mpirun"))
    assert launcher.add_environment(["-tune", "one", "./a"], {"A": "1"})[2] == "SITE=1;A=1"
    assert launcher.add_environment(["-tune", "other,one", "./a"], {"A": "1"})[2] == "HERE=2;A=1"
    monkeypatch.setenv("OMPI_MCA_mca_base_env_list", "FOO")
    assert launcher.add_environment(["-tune", "other", "./a"], {"A": "1"})[2] == "FOO;A=1"


@pytest.mark.parametrize("text", ["-x FOO=1\n", "", "-mca btl tcp,self\n"])
def test_openmpi_takes_variables_beside_a_named_file_without_a_list(no_parameters: Path, text: str) -> None:
    file = no_parameters / "tune"
    file.write_text(text)
    given = ["-tune", str(file), "./a"]
    assert OpenMpi("/mpi/bin/mpirun").add_environment(given, {"A": "1"}) == ["-x", "A=1", *given]
    missing = ["-tune", "nowhere", "./a"]
    assert OpenMpi("/mpi/bin/mpirun").add_environment(missing, {"A": "1"}) == ["-x", "A=1", *missing]


def test_openmpi_lists_the_variables_where_a_file_names_the_programs(no_parameters: Path) -> None:
    file = no_parameters / "programs"
    file.write_text("-n 1 ./a\n# -x A=1\n-n 1 ./b -x 5\n")
    given = ["--app", str(file)]
    line = OpenMpi("/mpi/bin/mpirun").add_environment(given, VARIABLES)
    assert line == ["--mca", "mca_base_env_list", "LD_PRELOAD=/l.so;LAPWING_HOLD=signal", *given]
    assert Prrte("/mpi/bin/mpirun").add_environment(given, {"A": "1"}) == ["-x", "A=1", *given]


@pytest.mark.parametrize("option", ["-x", "--x"])
def test_openmpi_refuses_a_file_of_programs_with_variables(no_parameters: Path, option: str) -> None:
    file = no_parameters / "programs"
    file.write_text(f"-n 1 ./a\n-n 1 {option} A=1 ./b\n")
    with pytest.raises(LapwingError, match="has -x"):
        OpenMpi("/mpi/bin/mpirun").add_environment(["--app", str(file)], VARIABLES)
    assert OpenMpi("/mpi/bin/mpirun").add_environment(["--app", str(file)], {}) == ["--app", str(file)]


def test_hydra_sets_variables_once() -> None:
    line = Hydra("mpiexec").add_environment(["-n", "1", "./a", ":", "-n", "1", "./b"], VARIABLES)
    assert line[:6] == ["-genv", "LD_PRELOAD", "/l.so", "-genv", "LAPWING_HOLD", "signal"]
    assert line[6:] == ["-n", "1", "./a", ":", "-n", "1", "./b"]


def test_hydra_keeps_the_users_preload() -> None:
    line = Hydra("mpiexec").add_environment(["-env", "LD_PRELOAD", "/u.so", "./a"], {"LD_PRELOAD": "/l.so"})
    assert line[3:] == ["-env", "LD_PRELOAD", "/l.so:/u.so", "./a"]


def test_hydra_tells_the_program_behind_a_variable_however_written() -> None:
    for words in (["-env", "A", "1"], ["-env", "A=1"], ["-env=A", "1"], ["-env=A=1"]):
        assert Hydra("mpiexec").find_programs([*words, "./a"]) == ["./a"]


def test_srun_exports_everything_and_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_EXPORT_ENV", raising=False)
    line = Srun("srun").add_environment(["-n", "2", "./a"], VARIABLES)
    assert line == ["--export=ALL,LAPWING_HOLD,LD_PRELOAD=/l.so", "-n", "2", "./a"]


@pytest.mark.parametrize("given", [["--export=FOO,BAR"], ["--export", "FOO,BAR"]])
def test_srun_merges_the_users_export(given: list[str]) -> None:
    line = Srun("srun").add_environment(["-n", "2", *given, "./a", "--export=mine"], VARIABLES)
    assert line == ["--export=FOO,BAR,LAPWING_HOLD,LD_PRELOAD=/l.so", "-n", "2", "./a", "--export=mine"]


def test_srun_export_none_exports_only_ours() -> None:
    line = Srun("srun").add_environment(["--export=NONE", "./a"], VARIABLES)
    assert line[0] == "--export=LAPWING_HOLD,LD_PRELOAD=/l.so"


def test_srun_itself_is_not_preloaded() -> None:
    assert Srun("srun").launcher_environment(VARIABLES) == {"LAPWING_HOLD": "signal"}


def test_srun_refuses_a_comma_in_a_path() -> None:
    with pytest.raises(LapwingError, match="comma"):
        Srun("srun").add_environment(["./a"], {"LD_PRELOAD": "/a,b.so"})


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        ("mpirun (Open MPI) 4.1.4", OpenMpi),
        ("mpirun.openmpi (OpenRTE) 4.1.4", OpenMpi),
        ("mpirun (Open MPI) 5.0.11", Prrte),
        ("prterun (PRRTE) 3.0.1", Prrte),
        ("HYDRA build details:\n    Version: 4.0.2", Hydra),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.14", Hydra),
        ("something else 1.0", None),
    ],
)
def test_recognises_the_launcher(version: str, kind: type | None) -> None:
    assert recognise_version(version) is kind


def test_unsupported_launcher_is_named() -> None:
    with pytest.raises(LapwingError, match="jsrun is not supported"):
        find_launcher("jsrun")


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        (["-n", "2", "--mca", "btl", "tcp", "./a", "-x", "./c"], ["./a"]),
        (["-n", "2", "./a", ":", "-n", "1", "./b"], ["./a", "./b"]),
        (["-n", "2", "--", "./a", "-x", "./c"], ["./a"]),
        (["--unheard-of", "2", "./a"], []),
        (["--host", "remote", "./a"], []),
        (["-n", "2"], []),
    ],
)
def test_openmpi_program_is_found_only_when_certain(line: list[str], programs: list[str]) -> None:
    assert OpenMpi("mpirun").find_programs(line) == programs


@pytest.mark.parametrize("kind", [OpenMpi, Prrte])
@pytest.mark.parametrize("options", ["--launch-agent /bin/sh", "--report-uri /not/there", "--cpu-set 0", "-bycore -s"])
def test_openmpi_keeps_the_users_preload_behind(kind: type[OpenMpi], options: str) -> None:
    given = [*options.split(), "-x", "LD_PRELOAD=/u.so", "./a"]
    line = kind("mpirun").add_environment(given, {"LD_PRELOAD": "/l.so"})
    assert line == ["-x", "LD_PRELOAD=/l.so:/u.so", *options.split(), "./a"]


def test_openmpi_versions_differ_in_options() -> None:
    line = ["--dvm", "./a", "./b"]
    assert OpenMpi("mpirun").find_programs(line) == ["./a"]
    assert Prrte("mpirun").find_programs(line) == ["./b"]


def test_openmpi_program_may_be_on_another_path() -> None:
    assert OpenMpi("mpirun").find_programs(["--path", "/opt/app/bin", "app"]) == []


@pytest.mark.parametrize("options", ["-np=2", "--np=2", "-mca=btl tcp", "-x=A=1", "-oversubscribe=1"])
def test_prrte_program_is_found_behind_a_value_in_the_option(options: str) -> None:
    assert Prrte("mpirun").find_programs([*options.split(), "./a", "x"]) == ["./a"]


def test_hydra_program_is_found() -> None:
    assert Hydra("mpiexec").find_programs(["-n", "2", "-genv", "A", "B", "./a", "x"]) == ["./a"]


@pytest.mark.parametrize(
    "given",
    [
        ["-n", "2", "./app", "q", "-x", "LD_PRELOAD=foo"],
        ["-n", "2", "./app", "q", "-mca", "mca_base_env_list", "A=1"],
        ["--unheard-of", "2", "./app", "-x", "LD_PRELOAD=foo"],
    ],
)
def test_openmpi_leaves_the_programs_words(no_parameters: Path, given: list[str]) -> None:
    line = OpenMpi("/mpi/bin/mpirun").add_environment(given, {"LD_PRELOAD": "/l.so"})
    assert line == ["-x", "LD_PRELOAD=/l.so", *given]


def test_openmpi_takes_no_option_of_the_program_for_its_own(
    no_parameters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_MCA_mca_base_env_list", "XVAR=1")
    given = ["-n", "1", "./app", "-x", "5", "-mca", "mca_base_env_list", "A=1"]
    line = OpenMpi("/mpi/bin/mpirun").add_environment(given, {"LD_PRELOAD": "/l.so"})
    assert line == ["--mca", "mca_base_env_list", "XVAR=1;LD_PRELOAD=/l.so", *given]


def test_openmpi_merges_behind_an_option_that_is_not_known(no_parameters: Path) -> None:
    given = ["--unheard-of", "2", "-x", "LD_PRELOAD=/u.so", "./app"]
    line = OpenMpi("/mpi/bin/mpirun").add_environment(given, {"LD_PRELOAD": "/l.so"})
    assert line == ["-x", "LD_PRELOAD=/l.so:/u.so", "--unheard-of", "2", "./app"]


def test_hydra_leaves_the_programs_words() -> None:
    given = ["-n", "2", "./app", "q", "-env", "LD_PRELOAD", "foo", ":", "./b", "-genv", "LD_PRELOAD=foo"]
    assert Hydra("mpiexec").add_environment(given, {"LD_PRELOAD": "/l.so"})[3:] == given


@pytest.mark.parametrize("options", ["-rr", "-nameserver h:1", "-rankmap (vector,0)", "-tune /bin/sh", "-prot -ilp64"])
def test_hydra_program_is_found_behind_an_option_of_one_hydra(options: str) -> None:
    assert Hydra("mpiexec").find_programs([*options.split(), "./a", "x"]) == ["./a"]


@pytest.mark.parametrize("options", ["-hosts-group n[1-2]", "-path /opt/app/bin", "-nolocal", "-skip-launch-node"])
def test_hydra_program_may_be_on_other_hosts(options: str) -> None:
    assert Hydra("mpiexec").find_programs([*options.split(), "./a"]) == []


def test_hydra_merges_behind_an_option_with_a_file(tmp_path: Path) -> None:
    given = ["-gtoolfile", str(tmp_path / "tools"), "-env", "LD_PRELOAD=/u.so", "./a"]
    line = Hydra("mpiexec").add_environment(given, {"LD_PRELOAD": "/l.so"})
    assert line[5:] == ["-env", "LD_PRELOAD=/l.so:/u.so", "./a"]


@pytest.mark.parametrize(
    ("setting", "merged"),
    [
        (["-genv", "LD_PRELOAD=/u.so"], ["-genv", "LD_PRELOAD=/l.so:/u.so"]),
        (["--env", "LD_PRELOAD=/u.so"], ["--env", "LD_PRELOAD=/l.so:/u.so"]),
        (["--genv", "LD_PRELOAD", "/u.so"], ["--genv", "LD_PRELOAD", "/l.so:/u.so"]),
    ],
)
def test_hydra_merges_each_way_to_set_a_variable(setting: list[str], merged: list[str]) -> None:
    line = Hydra("mpiexec").add_environment([*setting, "-n", "2", "./a"], {"LD_PRELOAD": "/l.so"})
    assert line[3:] == [*merged, "-n", "2", "./a"]


@pytest.mark.parametrize(
    "options", ["-genv X=1", "-env X=1", "--genv X=1", "-genv X 1", "-genv=X 1", "-pmi-port", "-l=1", "-ppn=2"]
)
def test_hydra_program_is_found_behind(options: str) -> None:
    assert Hydra("mpiexec").find_programs([*options.split(), "-n", "2", "./a"]) == ["./a"]


@pytest.mark.parametrize(
    "options",
    [
        "-n4",
        "-n 2 -w n1",
        "-wn1",
        "-ln4",
        "-l -n 4",
        "--nodelist=n1",
        "--gpus 1",
        "--unheard-of",
        "--unheard-of 5",
        "-I60",
        "-K0",
    ],
)
def test_srun_leaves_the_programs_words(monkeypatch: pytest.MonkeyPatch, options: str) -> None:
    monkeypatch.delenv("SLURM_EXPORT_ENV", raising=False)
    given = [*options.split(), "./app", "--export=mesh.vtk"]
    assert Srun("srun").add_environment(given, {"LD_PRELOAD": "/l.so"}) == ["--export=ALL,LD_PRELOAD=/l.so", *given]


def test_srun_leaves_the_words_of_a_program_of_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_EXPORT_ENV", raising=False)
    given = ["-n", "2", "--", "there", "--export=mesh.vtk"]
    assert Srun("srun").add_environment(given, {"LD_PRELOAD": "/l.so"}) == ["--export=ALL,LD_PRELOAD=/l.so", *given]


@pytest.mark.parametrize("options", ["--task-prolog /bin/sh", "--comment true", "--begin /now", "--x11 --bcast"])
def test_srun_merges_behind(options: str) -> None:
    line = Srun("srun").add_environment([*options.split(), "--export=NONE", "./app"], {"LD_PRELOAD": "/l.so"})
    assert line == ["--export=LD_PRELOAD=/l.so", *options.split(), "./app"]


def test_srun_program_is_found_only_when_certain() -> None:
    found = {options: Srun("srun").find_programs([*options.split(), "./a"]) for options in ("-K1", "-wn1", "-D/there")}
    assert found == {"-K1": ["./a"], "-wn1": [], "-D/there": []}


def test_srun_merges_behind_an_option_that_is_not_known() -> None:
    line = Srun("srun").add_environment(["--unheard-of", "5", "--export=FOO", "./app"], {"LD_PRELOAD": "/l.so"})
    assert line == ["--export=FOO,LD_PRELOAD=/l.so", "--unheard-of", "5", "./app"]


@pytest.mark.parametrize(
    ("launcher", "line", "settings"),
    [
        (OpenMpi, ["-x", "A=1", "-n", "1", "./a", "-x", "B=1"], {"A": "-x A=1"}),
        (OpenMpi, ["./a", ":", "--x", "A", "./b"], {"A": "--x A"}),
        (Prrte, ["-x=A=1", "./a"], {"A": "-x=A=1"}),
        (
            Hydra,
            ["-genv", "A", "1", "-n", "1", "-env", "B=2", "./a", "-env", "C", "3"],
            {"A": "-genv A 1", "B": "-env B=2"},
        ),
        (Hydra, ["-genv=A", "1", "-env=B=2", "./a"], {"A": "-genv=A 1", "B": "-env=B=2"}),
        (Hydra, ["./a", ":", "-envlist", "A,B", "./b"], {"A": "-envlist A", "B": "-envlist B"}),
        (Hydra, ["-genvlist", "A", "./a"], {}),
        (Srun, ["--export=ALL,A=1,B", "-n", "2", "./a", "--export=C=1"], {"A": "--export=A=1"}),
        (Srun, ["-n", "2", "./a"], {}),
        (Direct, ["-x", "A=1"], {}),
    ],
)
def test_variables_that_a_line_sets_are_found(
    launcher: type[Launcher], line: list[str], settings: dict[str, str]
) -> None:
    assert launcher("mpirun").find_settings(line) == settings


@pytest.mark.parametrize(
    ("launcher", "option", "text"),
    [(Prrte, "--app", "# -x B=1\n-x A=1 -n 1 ./a\n"), (Hydra, "-configfile", "-env A=1 -n 1 ./a\n")],
)
def test_variables_that_a_file_of_programs_sets_are_found(
    tmp_path: Path, launcher: type[Launcher], option: str, text: str
) -> None:
    (tmp_path / "programs").write_text(text)
    assert list(launcher("mpirun").find_settings([option, str(tmp_path / "programs")])) == ["A"]


@pytest.mark.parametrize("kind", [OpenMpi, Prrte])
def test_openmpi_leaves_what_the_line_sets(kind: type[OpenMpi]) -> None:
    line = kind("mpirun").add_environment(["-x", "A=1", "./a", ":", "./b"], {"A": "2"})
    assert line == ["-x", "A=1", "./a", ":", "-x", "A=2", "./b"]


def test_srun_leaves_what_the_line_sets() -> None:
    line = Srun("srun").add_environment(["--export=ALL,A=1", "./a"], {"A": "2", "B": "3"})
    assert line == ["--export=ALL,A=1,B", "./a"]
