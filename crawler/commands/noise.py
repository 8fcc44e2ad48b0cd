"""`scrapy noise`: what the judge of pictures says, and what there is to do with it."""

from crawler.cli import Subcommand
from crawler.cli.noise_evaluate import EVALUATE
from crawler.cli.noise_judge import JUDGE
from crawler.cli.noise_report import REPORT
from crawler.cli.noise_train import TRAIN
from crawler.cli.options import Several

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
