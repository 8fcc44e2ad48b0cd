"""A made-up Chinese site of pages about bees and pages about other things, linked among each other."""

from functools import cache

from sites import Answer, Route, page

BEES = 15
OTHERS = 45
SUBJECTS = {
    "bees": (
        "蜂蜜 蜂王 蜂群 养蜂人 采蜜 花粉 蜂巢 工蜂 授粉 蜂箱",
        "养蜂人在春天打开蜂箱，看{word}的情况，工蜂从花丛里带回花粉和花蜜。",
    ),
    "rail": (
        "蒸汽机车 铁路 车站 轨道 隧道 列车 司机 锅炉 煤水车 桥梁",
        "铁路上的{word}每天都很忙，司机和站长按时刻表安排列车进站出站。",
    ),
    "food": (
        "面条 饺子 豆腐 火锅 酱油 米饭 青菜 馒头 烤鸭 汤圆",
        "厨师说{word}要用新鲜的材料，先放在锅里煮，再加一点调料端上桌。",
    ),
    "city": (
        "街道 公园 市场 房价 地铁 交通 学校 医院 商场 广场",
        "市民在{word}附近散步，报纸说今年要修新的道路，也要多种一些树。",
    ),
}


def number_of(path: str) -> int:
    return int(path.rpartition("/")[2])


def about(path: str) -> str:
    """The subject of a page."""
    return path.split("/")[1]


@cache
def paths() -> tuple[str, ...]:
    """Every page but the first, in the order in which that links to them: one of four is about bees."""
    kinds = [kind for kind in SUBJECTS if kind != "bees"]
    others = [f"/{kinds[n % 3]}/{n}" for n in range(OTHERS)]
    return tuple(path for n in range(BEES) for path in (*others[3 * n : 3 * n + 3], f"/bees/{n}"))


def text(path: str) -> str:
    """The text of a page; the word that names the topic stands in that of bees alone."""
    words, sentence = SUBJECTS[about(path)]
    word = words.split()[number_of(path) % 10]
    named = "蜜蜂是群居的昆虫，一只蜜蜂一生只采很少的蜜。" if about(path) == "bees" else ""
    return named + sentence.format(word=word) * 3


def html(path: str) -> str:
    """A page, with links to others of its subject and to some of other subjects; none of them names a topic."""
    mine = [other for other in paths() if about(other) == about(path)]
    at = mine.index(path)
    near = [mine[(at + step) % len(mine)] for step in (1, 2, 3)]
    far = [paths()[(7 * number_of(path) + 11 * step) % len(paths())] for step in (1, 2, 3)]
    links = {
        there: f"{SUBJECTS[about(there)][0].split()[number_of(there) % 10]}第{number_of(there)}篇"
        for there in near + far
    }
    return page(text(path), links=links).replace("lang='en'", "lang='zh'")


def routes() -> dict[str, Route]:
    """The site; its first page leads to three pages of each subject."""
    first = [path for path in paths() if number_of(path) < (3 if about(path) == "bees" else 9)]
    links = {path: f"{SUBJECTS[about(path)][0].split()[number_of(path) % 10]}第{number_of(path)}篇" for path in first}
    start = page("这里有许多文章，请随便看看。", links=links).replace("lang='en'", "lang='zh'")
    return {"/": start} | {path: Answer(html(path)) for path in paths()}
