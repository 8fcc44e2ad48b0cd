"""`scrapy noise`: what the judge of pictures says, and what there is to do with it."""

from crawler.subcommands import Subcommand
from crawler.subcommands.noise_evaluate import EVALUATE
from crawler.subcommands.noise_judge import JUDGE
from crawler.subcommands.noise_report import REPORT
from crawler.subcommands.noise_train import TRAIN
from crawler.subcommands.options import Several

SUBCOMMANDS: dict[str, Subcommand] = {
    "judge": JUDGE,
    "evaluate": EVALUATE,
    "report": REPORT,
    "train": TRAIN,
}


class Command(Several):
    """Tells pictures that are noise from content."""

    called = "scrapy noise"
    subcommands = SUBCOMMANDS

    def short_desc(self) -> str:
        return "Tell pictures that are noise from content, and say what was skipped and how well that is done"
