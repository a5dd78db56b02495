# SPDX-License-Identifier: MIT
"""What waiting was for, in words and for programs."""

from lapwing.model.waits import WaitCauses

WORDS = {
    "transfer_ns": "for data in transfer",
    "missed_ns": "for progress that nobody made",
    "sender_ns": "for senders that had not called yet",
    "receiver_ns": "for late receivers",
}
EVENNESS_UNKNOWN = "whether the work is uneven cannot be told, since ranks are missing from the record"
# Such times are no parts of the ranks' time.
SEVERAL_THREADS = "several threads of a rank called MPI: times in it add up over threads, and predictions are rough"
SHARE_MIN = 5e-4  # less is no part worth a word


def describe_causes(causes: WaitCauses, whole_ns: float) -> str:
    """Write the causes as parts of a time; empty where nobody waited."""
    parts = [(getattr(causes, name), words) for name, words in WORDS.items()]
    return ", ".join(f"{100 * ns / whole_ns:.1f} % {words}" for ns, words in parts if ns >= SHARE_MIN * whole_ns)


def encode_causes(causes: WaitCauses) -> dict[str, float]:
    """Write the causes in seconds."""
    names = ("transfer", "progress", "away", "sender", "receiver", "uneven")
    return {name: getattr(causes, f"{name}_ns") / 1e9 for name in names}
