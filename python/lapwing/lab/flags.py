# SPDX-License-Identifier: MIT
"""The flags that describe a lab's links."""

import argparse

from lapwing.lab.network import Links


def add_link_flags(parser: argparse.ArgumentParser) -> None:
    """Declare what joins the hosts of a lab."""
    parser.add_argument("--rate", default="1gbit", help="link rate of the lab, or none (default: 1gbit)")
    parser.add_argument("--cores-per-host", type=int, default=1, metavar="N", help="cores of a host (default: 1)")
    text = (
        "let each host receive on its own cores, as a network card would: packets stay in order, and small messages "
        "take two to four times as long (root only)"
    )
    parser.add_argument("--own-receive", action="store_true", help=text)


def read_links(arguments: argparse.Namespace) -> Links:
    """Return what the flags say; refuse what cannot be built."""
    links = Links(arguments.rate, arguments.cores_per_host, arguments.own_receive)
    links.check()
    return links
