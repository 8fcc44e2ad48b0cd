"""The words and sentences of which `sources.py` makes posts and manual pages, in English and Chinese."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Subject:
    """What some documents are about."""

    name: str
    things: Sequence[str]


@dataclass(frozen=True)
class Vocabulary:
    """The words of a language, and its sentences with the names of words in braces."""

    subjects: Sequence[Subject]
    words: Mapping[str, Sequence[str]]
    sentences: Sequence[str]
    titles: Sequence[str]
    headings: Sequence[str]
    between_sentences: str


ENGLISH = Vocabulary(
    subjects=(
        Subject("Baking", "sourdough,rye flour,proofing basket,oven stone,starter,crumb,crust,dough hook".split(",")),
        Subject("Bicycles", "derailleur,spoke wrench,rear hub,chain,brake cable,headset,inner tube,rim".split(",")),
        Subject("Gardens", "compost heap,raised bed,pear tree,hedge,seedling,cold frame,mulch,trellis".split(",")),
        Subject("Telescopes", "primary mirror,eyepiece,star chart,tripod,nebula,double star,lens cap,dew".split(",")),
        Subject("Radio", "antenna,receiver,crystal filter,shortwave band,capacitor,coaxial line,morse key".split(",")),
        Subject("Bees", "hive,queen,brood frame,nectar,smoker,varroa mite,honey press,swarm".split(",")),
        Subject("Trains", "signal box,branch line,station clock,freight wagon,timetable,tunnel,ticket".split(",")),
        Subject("Pottery", "kiln,glaze,clay body,potter's wheel,bisque firing,ash,porcelain,slip".split(",")),
    ),
    words={
        "time": (
            "early in the morning,after the first frost,during the long holiday,last autumn,on a rainy Tuesday,"
            "two years ago,before the exhibition,late at night,in the third week,at the end of the season"
        ).split(","),
        "place": (
            "the workshop behind the library,a small town near the coast,my uncle's cellar,the market in Leiden,"
            "a borrowed garage,the valley above the river,our kitchen,an abandoned school,the harbour,the attic"
        ).split(","),
        "person": (
            "a retired surveyor,my neighbour,the woman from the hardware shop,an old colleague,the youngest apprentice,"
            "a travelling musician,the caretaker,my sister,a patient teacher,the man who sold it to me"
        ).split(","),
        "quality": (
            "heavier,cheaper,more reliable,surprisingly quiet,slower,harder to clean,brighter,less fragile,warmer,"
            "more precise"
        ).split(","),
        "action": (
            "measured,repaired,painted,replaced,weighed,borrowed,sorted,photographed,dismantled,cleaned,ordered"
        ).split(","),
        "reason": (
            "nobody had written the numbers down,the spare parts came from another country,the weather turned,"
            "we trusted the label too much,the old manual was missing two pages,it costs almost nothing to try,"
            "a mistake there shows up only weeks later,the light fades sooner than one thinks"
        ).split(","),
        "adverb": "carefully,without any hurry,twice,against all advice,by hand,with some luck,again".split(","),
    },
    sentences=(
        "{Time}, {person} {action} the {thing} and told me that the {thing2} would be {quality} afterwards.",
        "I had never seen a {thing} like that one, although in {place} they are said to be common.",
        "The {thing} weighs {number} grams, the {thing2} only {number2}, and this difference matters because {reason}.",
        "Whoever works with a {thing} {adverb} will notice that the {thing2} becomes {quality}.",
        "We {action} it {adverb}, wrote down {number} readings in a notebook, and compared them {time}.",
        "In {place} there was a {thing} that {person} had {action} {adverb}.",
        "That is why the {thing} stands beside the {thing2} now; {reason}.",
        "It took {number} minutes to find out that {reason}, and {number2} more to put the {thing} back.",
        "{Person} showed me a second way: leave the {thing} alone, and turn to the {thing2} first.",
        "Some readers wrote that their {thing} is {quality}; mine was not, at least not {time}.",
        "Of {number} attempts {number2} failed, nearly always because {reason}.",
        "If the {thing} has been {action} {adverb}, the {thing2} needs no attention for about {number} days.",
        "Back in {place}, {person} asked whether a {thing2} could do the same work.",
        "The answer is not simple, but the {thing} from {place} turned out to be {quality}.",
    ),
    titles=(
        "What the {thing} taught me about the {thing2}",
        "A {thing} for {number} coins",
        "How we {action} the {thing} {adverb}",
        "Notes on a {thing} and its {thing2}",
        "{number} days with a {thing}",
        "Why my {thing} is {quality} now",
        "The {thing} of {place}",
    ),
    headings=(
        "Choosing a {thing}",
        "What went wrong with the {thing}",
        "Measuring the {thing2}",
        "Before and after",
        "A closer look at the {thing}",
        "Costs",
        "The {thing2} in winter",
        "Open questions",
        "Preparing the {thing}",
    ),
    between_sentences=" ",
)

CHINESE = Vocabulary(
    subjects=(
        Subject("烘焙", "酸面团,黑麦粉,发酵篮,烤箱石板,酵种,面包皮,揉面钩,黄油".split(",")),
        Subject("自行车", "变速器,辐条扳手,后花鼓,链条,刹车线,车把碗组,内胎,轮圈".split(",")),
        Subject("园艺", "堆肥箱,抬高的菜畦,梨树,树篱,幼苗,冷床,覆盖物,棚架".split(",")),
        Subject("望远镜", "主镜,目镜,星图,三脚架,星云,双星,镜头盖,露水".split(",")),
        Subject("无线电", "天线,接收机,晶体滤波器,短波频段,电容,同轴电缆,电键".split(",")),
        Subject("养蜂", "蜂箱,蜂王,巢框,花蜜,喷烟器,蜂螨,摇蜜机,分蜂群".split(",")),
        Subject("铁路", "信号楼,支线,车站大钟,货车车厢,时刻表,隧道,硬板车票".split(",")),
        Subject("陶艺", "窑炉,釉料,坯土,拉坯机,素烧,草木灰,瓷器,泥浆".split(",")),
    ),
    words={
        "time": "清晨,初霜之后,长假期间,去年秋天,一个下雨的星期二,两年前,展览开幕之前,深夜,第三周,季末".split(","),
        "place": (
            "图书馆后面的工作间,海边的小镇,叔叔家的地下室,城南的旧货市场,借来的车库,河谷上游,自家厨房,"
            "废弃的小学,码头,阁楼"
        ).split(","),
        "person": (
            "退休的测量员,邻居,五金店的老板娘,一位老同事,最年轻的学徒,路过的乐手,看门的老人,妹妹,一位耐心的老师"
        ).split(","),
        "quality": "更沉,更便宜,更可靠,安静得出奇,慢了一些,更难清洗,更亮,不那么容易碎,更暖和,更精确".split(","),
        "action": "测量,修理,重新上漆,更换,称重,借走,整理,拍照记录,拆开,擦洗,订购".split(","),
        "reason": (
            "没有人把数字记下来,零件要从国外寄来,天气突然变了,我们太相信标签,旧说明书缺了两页,试一次几乎不花钱,"
            "那里的错误几个星期后才看得出来,天黑得比想象的早"
        ).split(","),
        "adverb": "小心地,不慌不忙地,反复两次地,不顾劝告地,徒手,凭着一点运气,又一次".split(","),
    },
    sentences=(
        "{time}，{person}{adverb}{action}了{thing}，还告诉我{thing2}以后会{quality}。",
        "我从来没有见过这样的{thing}，虽然听说在{place}并不少见。",
        "这件{thing}重{number}克，{thing2}只有{number2}克，差别之所以重要，是因为{reason}。",
        "谁要是{adverb}使用{thing}，就会发现{thing2}变得{quality}。",
        "我们{adverb}做了{number}次记录，写在本子上，{time}再拿出来比较。",
        "在{place}有一件{thing}，{person}曾经把它{action}过。",
        "所以现在{thing}就放在{thing2}旁边，毕竟{reason}。",
        "花了{number}分钟才弄明白原来{reason}，又用了{number2}分钟把{thing}装回去。",
        "{person}教了我另一种办法：先不管{thing}，从{thing2}入手。",
        "有读者来信说他们的{thing}{quality}，我的却不是这样，至少{time}不是。",
        "一共试了{number}次，失败了{number2}次，几乎每次都因为{reason}。",
        "如果{thing}已经{action}过，那么{thing2}大约{number}天之内不用再管。",
        "回到{place}，{person}问我用{thing2}能不能做同样的事情。",
        "答案并不简单，不过从{place}带回来的{thing}确实{quality}。",
    ),
    titles=(
        "从{thing}到{thing2}：一点体会",
        "花{number}块钱买来的{thing}",
        "我们怎样{adverb}{action}{thing}",
        "{thing}与{thing2}笔记",
        "和{thing}相处的{number}天",
        "为什么我的{thing}{quality}了",
        "{place}的{thing}",
    ),
    headings=(
        "怎样挑选{thing}",
        "{thing}出了什么问题",
        "测量{thing2}",
        "前后对比",
        "仔细看看{thing}",
        "费用",
        "冬天里的{thing2}",
        "还没有答案的问题",
        "准备{thing}",
    ),
    between_sentences="",
)

VOCABULARIES = {"en": ENGLISH, "zh": CHINESE}

CODE = {
    "python": '''\
def mean_weight(samples, tare={number}):
    """Return the mean of the samples without the tare."""
    if not samples:
        return None
    total = sum(sample - tare for sample in samples)

    return total / len(samples)


print(mean_weight([{number2}, {number}, 512]))''',
    "javascript": """\
const readings = [{number}, {number2}, 87];

export async function report(url) {{
  const answer = await fetch(`${{url}}/readings?limit={number}`);
  if (!answer.ok) {{
    throw new Error(answer.statusText);
  }}
  return readings.map((reading) => reading * {number2});
}}""",
    "bash": """\
#!/bin/sh
# Copies the readings of {number} days.
set -eu
for day in $(seq 1 {number2}); do
    cp "log-$day.txt" "/srv/archive/{number}/" && echo "day $day"
done | tee copied.txt""",
}

FORMULAS = (
    r"E = \frac{{m v^2}}{{{number}}} + \sqrt{{h}}",
    r"\sum x^2 = {number2} \cdot \alpha + \beta",
    r"\int f(t) dt \approx {number} - e^{{-t}}",
)
