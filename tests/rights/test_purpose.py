"""What a crawl leaves out for its purpose, and what it only labels."""

from crawler.rights.purpose import Purpose
from crawler.rights.statement import RightsEvidence, Signal, State, Use

NO_TRAINING = RightsEvidence(Signal.NOAI, "meta robots", "noai", {Use.AI_TRAIN: State.DISALLOWED})


def test_what_a_purpose_asks_for_and_leaves_out() -> None:
    rows = [
        # The words, whether tdmrep.json is asked for, whether images are left out, and why pages are.
        ("label", False, False, None),
        ("label,ai-train", True, False, None),
        ("ai-train", True, True, Signal.NOAI),
        ("ai-input", True, False, None),
        ("search", False, False, None),
        ("search,ai-train", True, True, Signal.NOAI),
    ]
    for words, wants_reservations, leaves_out_images, refusal in rows:
        purpose = Purpose.of(words.split(","))
        assert purpose.wants_reservations is wants_reservations
        assert purpose.leaves_out_images is leaves_out_images
        assert purpose.refusal([NO_TRAINING]) == refusal
