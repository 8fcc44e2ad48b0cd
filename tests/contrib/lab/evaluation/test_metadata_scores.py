from crawler.contrib.lab.evaluation.metadata_scores import FieldCounts, counts, is_right


def test_is_right() -> None:
    rows = [
        ("published", "2024-05-06T10:15:00+02:00", "2024-05-06", True),
        ("published", "2024-05-07", "2024-05-06", False),
        ("title", "How Bees Dance!", "How bees dance", True),
        ("title", "How bees dance", "How bees dance in spring", False),
        ("author", "Ann Lee; Bo Ray", "Ann Lee and Bo Ray", True),
        ("author", "Ann Lee", "Ann Lee, PhD", True),
        ("author", "Ann Lee", "Bo Ray", False),
        ("author", "Li", "Lisa Li", False),
        ("author", "李明", "李明", True),
        ("comments", "Bees dance. So do I.", "Bees dance.", True),
        ("comments", "Bees dance.", "Wasps sting, and they do it more than once.", False),
    ]
    for field, value, gold, expected in rows:
        assert is_right(field, value, gold) is expected


def test_counts() -> None:
    pairs = [("a", "a"), ("b", "a"), ("", "a"), ("a", ""), ("", "")]
    found = counts("title", pairs)
    assert found == FieldCounts(present=3, right=1, missing=1, absent=2, invented=1)
    assert (found.wrong, found.precision) == (1, 0.5)
    assert counts("title", []).precision is None
