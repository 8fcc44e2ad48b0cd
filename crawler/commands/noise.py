"""`scrapy noise`: what the judge of pictures says, and what there is to do with it."""

from crawler.subcommands.family import Family
from crawler.subcommands.noise_evaluate import EVALUATE
from crawler.subcommands.noise_judge import JUDGE
from crawler.subcommands.noise_report import REPORT
from crawler.subcommands.noise_train import TRAIN


class Command(Family):
    """What there is to do with the judge of pictures."""

    family = "noise"
    subcommands = {"judge": JUDGE, "evaluate": EVALUATE, "report": REPORT, "train": TRAIN}  # noqa: RUF012 - never changed
    purpose = "Tell pictures that are noise from content, and say what was skipped and how well that is done"
