"""The views of the dashboard about labels and evaluations."""

from crawler.contrib.lab.views import evaluate, label_sheet, labels

VIEWS = (labels, label_sheet, evaluate)
