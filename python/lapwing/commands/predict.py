# SPDX-License-Identifier: MIT
"""`lapwing predict`."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lapwing.errors import LapwingError
from lapwing.model.alpha import AlphaCurve, make_curve, parse_alpha, parse_typed, take_fitted_run, take_run
from lapwing.model.profile import JobProfile
from lapwing.model.reader import read_profile
from lapwing.model.scaling import change_cores
from lapwing.model.setup import PROGRESS_THRESHOLD_BYTES, THRESHOLD_BYTES
from lapwing.model.study import Study, study_profile
from lapwing.model.system import System, read_system
from lapwing.options import parse_bytes
from lapwing.outfiles import check_outputs, refuse_input, write_text
from lapwing.report.alpha import SCHEMA, encode_curve, make_alpha_page, print_curves
from lapwing.report.prediction import encode_study, print_study
from lapwing.screen import Screen

NUMBER_MOST = 10**12


def add_model_flags(parser: argparse.ArgumentParser) -> None:
    """Declare what the profile may not know."""
    parser.add_argument("--cores", type=int, metavar="N", help="cores that each rank computes on")
    parser.add_argument("--spare-cores", type=int, metavar="N", help="cores of each host that no rank computes on")
    text = "smallest message to defer"
    parser.add_argument("--threshold", type=parse_bytes, metavar="SIZE", help=text)
    text = "smallest nonblocking message that goes on in the background"
    parser.add_argument("--progress-threshold", type=parse_bytes, metavar="SIZE", help=text)
    text = "whether nonblocking operations go on in the background (default: as in the profiled run, or on)"
    parser.add_argument("--nonblocking", choices=("on", "off"), help=text)
    parser.add_argument(
        "--wait-contention",
        type=float,
        metavar="SHARE",
        help="extra time in waits while another thread progresses too (MiniMD in the paper: 1.07; default: 0)",
    )
    add_system_flag(parser)


def add_system_flag(parser: argparse.ArgumentParser) -> None:
    """Declare where transfer times come from."""
    text = "take transfer times from what `lapwing probe --system FILE` measured (default: from the profile's calls)"
    parser.add_argument("--system", type=Path, metavar="FILE", help=text)


def read_system_flag(arguments: argparse.Namespace) -> System | None:
    """Read the system, where one is given."""
    return read_system(arguments.system) if arguments.system else None


def check_flags(arguments: argparse.Namespace) -> None:
    """Refuse numbers that mean nothing."""
    sizes = (("threshold", 1), ("progress_threshold", 1))
    for name, least in (("cores", 1), ("spare_cores", 0), *sizes, ("wait_contention", 0)):
        value = getattr(arguments, name)
        if value is not None and not least <= value <= NUMBER_MOST:
            bound = f"at most {NUMBER_MOST}" if value > NUMBER_MOST else f"at least {least}"
            raise LapwingError(f"--{name.replace('_', '-')} {value} is out of range", f"give {bound}")


def refuse_unused(arguments: argparse.Namespace) -> None:
    """Refuse what the paper's model, which alone is shown of several runs and of typed ones, does not ask for."""
    unused = ["system", "threshold", "progress_threshold", "nonblocking", "wait_contention"]
    unused += [] if arguments.profile else ["cores", "spare_cores"]
    given = [f"--{name.replace('_', '-')}" for name in unused if getattr(arguments, name) is not None]
    if given:
        cause = "of several runs, or typed ones, only the paper's model is shown, which"
        raise LapwingError(f"{cause} does not use {given[0]}", f"leave {', '.join(given)} out")


def complete_profile(profile: JobProfile, arguments: argparse.Namespace) -> JobProfile:
    """Fill in what the user knows better than the profile."""
    if arguments.cores is not None:
        profile = change_cores(profile, arguments.cores)
    if arguments.spare_cores is not None:
        profile = replace(profile, spare_cores=arguments.spare_cores)
    return profile


def study_file(path: Path, arguments: argparse.Namespace) -> Study:
    """Read a file and apply both models."""
    profile = complete_profile(read_profile(path), arguments)
    return study_profile(
        profile,
        arguments.threshold or THRESHOLD_BYTES,
        arguments.wait_contention or 0.0,
        read_system_flag(arguments),
        arguments.progress_threshold or PROGRESS_THRESHOLD_BYTES,
        None if arguments.nonblocking is None else arguments.nonblocking == "on",
    )


class PredictCommand:
    """Predict what overlap would bring, from the profile of one run.

    For each way to run: a time with an interval, and the terms that change. Two models stand side by side,
    with the assumptions that hold or do not: that of the dedicated-core paper, and one that bounds the
    overlap of each call site by its measured slack. docs/model.md says how they calculate.

    The profile is a record of `lapwing profile`, a profile in JSON, or a text report of mpiP. Of several, or of
    parameters typed in (--typed), only the paper's model is shown: the speedup over alpha, the share of blocking calls
    made nonblocking, of all runs in one plot.
    """

    name = "predict"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("profile", type=Path, nargs="*", metavar="FILE", help="the profile of one run")
        parser.add_argument("--json", action="store_true", help="print JSON")
        text = "also the paper's speedup at this share of blocking calls made nonblocking; may be repeated"
        parser.add_argument("--alpha", action="append", default=[], metavar="SHARE", help=text)
        text = "a run by the paper's parameters, NAME: t_noprogress=S,t_comp=S,N_core=N,...; may be repeated"
        parser.add_argument("--typed", action="append", default=[], metavar="TEXT", help=text)
        text = "write a page with the speedup over alpha and the parameters"
        parser.add_argument("--html", type=Path, metavar="FILE", help=text)
        add_model_flags(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Predict and print."""
        check_flags(arguments)
        check_outputs(arguments, "html")
        for path in arguments.profile:
            refuse_input(path, (arguments.html,))
        alphas = [parse_alpha(text) for text in arguments.alpha]
        if len(arguments.profile) == 1 and not arguments.typed:
            return self._predict(arguments, alphas)
        refuse_unused(arguments)
        curves = make_curves(arguments)
        if arguments.html:
            write_text(arguments.html, make_alpha_page(curves, alphas))
        if arguments.json:
            document = {"schema": SCHEMA, "runs": [encode_curve(curve, alphas) for curve in curves]}
            print(json.dumps(document, indent=2))
        else:
            print_curves(Screen(), curves, alphas)
        return 0

    def _predict(self, arguments: argparse.Namespace, alphas: Sequence[float]) -> int:
        """Predict for one profile; the paper's curve where a core can be given up."""
        study = study_file(arguments.profile[0], arguments)
        curves = curves_of(study.profile) if study.paper or alphas or arguments.html else []
        if arguments.html:
            write_text(arguments.html, make_alpha_page(curves, alphas))
        if arguments.json:
            document = encode_study(study)
            if document["paper"] is not None:
                document["paper"]["chosen"] = encode_curve(curves[0], alphas)["chosen"]
            print(json.dumps(document, indent=2))
            return 0
        screen = Screen()
        print_study(study, screen)
        if curves:
            print_curves(screen, curves, alphas)
        return 0


def make_curves(arguments: argparse.Namespace) -> list[AlphaCurve]:
    """Return the curves of all profiles, and of what was typed in."""
    profiles = [complete_profile(read_profile(path), arguments) for path in arguments.profile]
    curves = [curve for profile in profiles for curve in curves_of(profile)]
    curves += [make_curve(parse_typed(text)) for text in arguments.typed]
    if not curves:
        raise LapwingError("there is nothing to predict from", "give a profile, or --typed")
    return curves


def curves_of(profile: JobProfile) -> list[AlphaCurve]:
    """Return the paper's curve, and that with the computation as measured, if it was."""
    fitted = take_fitted_run(profile)
    return [make_curve(take_run(profile)), *([make_curve(fitted)] if fitted else [])]
