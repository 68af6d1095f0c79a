"""DialogBench's twelve tasks and twenty domains.

The choice of domains is DialogBench's (its Appendix C); the descriptions are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from dialeval.errors import UserError, nearest

Dimension = Literal["correctness", "coherence", "consistency", "safety"]
DIMENSIONS: tuple[Dimension, ...] = ("correctness", "coherence", "consistency", "safety")


@dataclass(frozen=True, slots=True)
class Value:
    """One of a closed set of answers, such as an emotion.

    Attributes:
        en: its name in English, its key in every language.
        zh: its name in Chinese.
        variants: other spellings.
    """

    en: str
    zh: str
    variants: tuple[str, ...] = ()

    def in_language(self, language: str) -> str:
        """Returns the name in a language; English where there is no other."""
        return self.zh if language == "zh" else self.en


OFFENSES = (
    Value("offensive", "冒犯", ("contain", "存在冒犯", "有冒犯", "包含冒犯")),
    Value("non-offensive", "不冒犯", ("not offensive", "inoffensive", "not contain", "无冒犯", "不存在冒犯", "非冒犯")),
)

INFERENCES = (
    Value("entailment", "蕴含", ("entail", "entails", "蕴涵")),
    Value("contradiction", "矛盾", ("contradict", "contradictory")),
    Value("neutral", "中立", ("neutrality", "中性")),
)

RELATIONS = (
    Value("teacher-student", "师生", ("teacher and student", "student-teacher", "老师与学生", "老师和学生")),
    Value("parent-child", "父母与子女", ("child-parent", "parent and child", "子女与父母", "亲子")),
    Value("elder relative", "与其他长辈", ("child-other family elder", "其他家庭长辈", "孩子与其他家庭长辈")),
    Value("brothers", "兄弟", ("brother",)),
    Value("sisters", "姐妹", ("sister",)),
    Value("spouses", "夫妻", ("couples", "couple", "married couple", "夫妇")),
    Value("lovers", "恋人", ("romantic partners", "情侣")),
    Value("friends", "朋友", ("friend",)),
    Value("neighbors", "邻居", ("neighbours", "neighbor")),
    Value("colleagues", "同事", ("coworkers", "colleague")),
    Value("superior-subordinate", "上下级", ("superior and subordinate", "boss-employee", "上级与下级")),
    Value("customer-seller", "顾客与商家", ("customers", "customer", "customer-merchant", "客户", "顾客")),
    Value("competitors", "竞争对手", ("competitor", "rivals", "对手")),
)

EMOTIONS = (
    Value("disgust", "厌恶", ("disgusted", "恶心")),
    Value("fear", "恐惧", ("afraid", "害怕", "担忧")),
    Value("disappointment", "失望", ("disappointed",)),
    Value("neutrality", "中性", ("neutral", "中立", "平静")),
    Value("anger", "愤怒", ("angry", "生气")),
    Value("sadness", "悲伤", ("sad", "难过", "伤心")),
    Value("joy", "喜悦", ("joyful", "happiness", "happy", "快乐", "高兴", "开心")),
    Value("surprise", "惊讶", ("surprised", "惊喜", "吃惊")),
)


@dataclass(frozen=True, slots=True)
class Task:
    """One task (paper, Table 5 and Appendix A).

    Attributes:
        abbreviation: the paper's, which is the task's name everywhere in our tables.
        name: the paper's full name.
        dimension: what the task probes.
        aliases: other names in the paper, in the published prompts and in the published files' names.
        shown: fields besides the dialogue that a model sees.
        hidden: further fields of an item; they would give the answer away, or only help to write it.
        asks: whether every item has a question of its own.
        open_ended: whether the dialogue ends with speaker 1 alone, to whom the options are replies.
        n_options: how many options an item has.
        values: the closed set that options come from; empty where they are free text.
    """

    abbreviation: str
    name: str
    dimension: Dimension
    aliases: tuple[str, ...]
    shown: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    asks: bool = False
    open_ended: bool = False
    n_options: int = 4
    values: tuple[Value, ...] = ()

    @property
    def fixed(self) -> bool:
        """Returns whether every item has the same options."""
        return len(self.values) == self.n_options


TASKS: tuple[Task, ...] = (
    Task("SF", "Slot Filling", "correctness", (), hidden=("slot",), asks=True),
    Task("IC", "Intent Classification", "correctness", ("Conversational QA", "intent_first"), asks=True),
    Task(
        "KRG",
        "Knowledge-grounded Response Generation",
        "correctness",
        ("Knowledge-grounded Dialogue", "Knowledge-grounded Dialogue Generation"),
        shown=("knowledge",),
        open_ended=True,
    ),
    Task(
        "CRG",
        "Commonsense-aware Response Generation",
        "correctness",
        ("Commonsense-aware Dialogue Generation", "Fact Correctness", "fact_first"),
        hidden=("commonsense",),
        open_ended=True,
    ),
    Task("DI", "Dialogue Infilling", "coherence", ("Question_Generation",), shown=("response",)),
    Task(
        "MRG",
        "Multi-turn Response Generation",
        "coherence",
        ("Multi-turn Response Selection", "Multi-trun_Response_Generation", "response_1011"),
        open_ended=True,
    ),
    Task(
        "PRG",
        "Personality-grounded Response Generation",
        "consistency",
        ("Persona-grounded Dialogue", "Persona-grounded Response Generation", "Persona-grounded Dialogue Generation"),
        shown=("persona",),
        open_ended=True,
    ),
    Task(
        "RC",
        "Relation Classification",
        "consistency",
        ("Relation_Question", "Relations Classification"),
        hidden=("relation",),
        values=RELATIONS,
    ),
    Task(
        "ED",
        "Emotion Detection",
        "consistency",
        ("Emotion Classification",),
        asks=True,
        values=EMOTIONS,
    ),
    Task(
        "NLI",
        "Dialogue Natural Language Inference",
        "consistency",
        ("Dialogue NLI",),
        shown=("hypothesis",),
        hidden=("premise", "semantic relationship"),
        n_options=3,
        values=INFERENCES,
    ),
    Task("DS", "Dialogue Summarization", "consistency", ("Dialogue Summarisation",)),
    Task(
        "OD",
        "Offensive Detection",
        "safety",
        ("Offensive Language Detection",),
        hidden=("offensive",),
        n_options=2,
        values=OFFENSES,
    ),
)
"""In the order of the paper's Table 2: by dimension."""
ABBREVIATIONS: tuple[str, ...] = tuple(task.abbreviation for task in TASKS)


def task_of(abbreviation: str) -> Task:
    """Returns the task of an abbreviation.

    Raises:
        UserError: there is none of that name.
    """
    for task in TASKS:
        if task.abbreviation == abbreviation:
            return task
    raise UserError(f"DialogBench has no task '{abbreviation}'; {nearest(abbreviation, ABBREVIATIONS)}")


def find_task(name: str) -> Task | None:
    """Returns the task of any of its names, or None.

    Only letters and digits count, in either case; an ending `En` or `Pretrain`, as the published prompts have, does
    not.
    """
    folded = _folded(name)
    for ending in ("en", "pretrain", ""):
        if folded in _by_folded_name():
            return _by_folded_name()[folded]
        folded = folded.removesuffix(ending) if ending else folded
    return None


def value_of(task: Task, text: str) -> Value | None:
    """Returns which of a task's closed answers a text is, or None."""
    folded = _folded(text)
    for value in task.values:
        if folded in {_folded(name) for name in (value.en, value.zh, *value.variants)}:
            return value
    return None


def _folded(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


@cache
def _by_folded_name() -> dict[str, Task]:
    return {_folded(name): task for task in TASKS for name in (task.abbreviation, task.name, *task.aliases)}


# The twenty domains that dialogues are written about: ten of daily life, ten of professional knowledge.

Group = Literal["daily life", "professional knowledge"]
GROUPS: tuple[Group, ...] = ("daily life", "professional knowledge")


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain.

    Attributes:
        name: in English, its key in every language.
        group: daily life or professional knowledge.
        zh: its name in Chinese.
        description: what people talk about in it.
        description_zh: the same in Chinese.
        variants: other spellings of the name.
    """

    name: str
    group: Group
    zh: str
    description: str
    description_zh: str
    variants: tuple[str, ...] = ()

    def title(self, language: str) -> str:
        """Returns the name in a language; English where there is no other."""
        return self.zh if language == "zh" else self.name

    def about(self, language: str) -> str:
        """Returns the description in a language; English where there is no other."""
        return self.description_zh if language == "zh" else self.description


DOMAINS: tuple[Domain, ...] = (
    Domain(
        "Gourmet Cooking",
        "daily life",
        "美食烹饪",
        "dishes that turned out well or badly, ovens, knives, pans, spices, markets, eating out, what one may not eat",
        "做成或做砸的菜、烤箱刀具和锅、香料、菜市场、下馆子、忌口",
        ("Cooking", "Gourmet", "Food"),
    ),
    Domain(
        "Travel",
        "daily life",
        "旅行",
        "trips that are planned, under way or over, trains and flights, hotels, luggage, maps, sights, money abroad",
        "计划中、进行中或结束的旅程，火车和航班、旅馆、行李、地图、景点、在外花钱",
        ("Travelling", "Traveling", "Tourism"),
    ),
    Domain(
        "Household Chores",
        "daily life",
        "家务",
        "cleaning, laundry, repairs, who does what at home, raising children, the family's money and habits",
        "打扫、洗衣、修理、家里谁做什么、带孩子、家里的开销和习惯",
        ("Household", "Housework", "Chores"),
    ),
    Domain(
        "Film",
        "daily life",
        "影视",
        "films and series, actors and directors, cinemas, streaming, scenes one loves or hates, endings, soundtracks",
        "电影和剧集、演员和导演、影院、流媒体、喜欢或讨厌的桥段、结局、配乐",
        ("Films", "Movie", "Movies"),
    ),
    Domain(
        "Neighborhood",
        "daily life",
        "邻里",
        "people next door, noise, hedges and parking, the stairwell, street parties, shops round the corner, safety",
        "隔壁的人、噪音、绿篱和停车、楼道、街坊聚会、街角小店、安全",
        ("Neighbourhood", "Neighbors", "Community"),
    ),
    Domain(
        "Workplace",
        "daily life",
        "职场",
        "deadlines, bosses and teams, meetings, job interviews, pay rises, shifts, quarrels and praise at work",
        "期限、上司和团队、会议、面试、加薪、排班、工作中的争执和表扬",
        ("Work", "Office", "Career"),
    ),
    Domain(
        "Music",
        "daily life",
        "音乐",
        "songs and bands, concerts, learning an instrument, choirs, writing songs, what to play at a party",
        "歌曲和乐队、演唱会、学乐器、合唱团、写歌、聚会放什么音乐",
        ("Musics",),
    ),
    Domain(
        "Shopping",
        "daily life",
        "购物",
        "clothes and gifts, prices, sales, returns, online orders, second-hand finds, good and bad shops",
        "衣服和礼物、价格、打折、退货、网购、二手好物、好店坏店",
        ("Shop",),
    ),
    Domain(
        "Games",
        "daily life",
        "游戏",
        "video games, consoles, board games, strategies, playing online with strangers, old favourites, tournaments",
        "电子游戏、主机、桌游、打法、和陌生人联机、怀旧老游戏、比赛",
        ("Game", "Gaming", "Video Games"),
    ),
    Domain(
        "Sports",
        "daily life",
        "体育",
        "matches, training, clubs, rules and referees, injuries, running and swimming, records, fans",
        "比赛、训练、俱乐部、规则和裁判、伤病、跑步和游泳、纪录、球迷",
        ("Sport",),
    ),
    Domain(
        "History",
        "professional knowledge",
        "历史",
        "empires and cities, rulers and rebels, wars and treaties, finds, archives, how people lived, disputed dates",
        "帝国和城市、君主和起义者、战争与条约、文物和档案、古人的生活、有争议的年代",
    ),
    Domain(
        "Philosophy",
        "professional knowledge",
        "哲学",
        "what is right, what can be known, free will, logic, mind and body, schools of thought, thought experiments",
        "何为正当、何以知之、自由意志、逻辑、心与身、学派、思想实验",
    ),
    Domain(
        "Sociology",
        "professional knowledge",
        "社会学",
        "class, gender and origin, schools, cities, migration, crime, media, movements, surveys and how to read them",
        "阶层、性别与出身、学校、城市、迁徙、犯罪、媒体、社会运动、调查及其解读",
    ),
    Domain(
        "Psychology",
        "professional knowledge",
        "心理学",
        "memory, learning, motives, habits, development, disorders and therapy, experiments on people and their limits",
        "记忆、学习、动机、习惯、发展、障碍与治疗、以人为对象的实验及其局限",
    ),
    Domain(
        "Economics",
        "professional knowledge",
        "经济学",
        "prices and wages, demand, taxes, interest rates, trade, banks, growth and who gets it, forecasts that failed",
        "物价和工资、需求、税收、利率、贸易、银行、增长与分配、落空的预测",
        ("Economy", "Finance"),
    ),
    Domain(
        "Geography",
        "professional knowledge",
        "地理",
        "rivers and mountains, climate, maps, borders, cities and their sites, soils and resources, erosion",
        "江河山脉、气候、地图、边界、城市及其选址、土壤和资源、侵蚀",
    ),
    Domain(
        "Physics",
        "professional knowledge",
        "物理",
        "motion and forces, heat, light and sound, electricity, atoms, stars, measuring, theory against experiment",
        "运动和力、热、光和声、电、原子、恒星、测量、理论与实验",
    ),
    Domain(
        "Biology",
        "professional knowledge",
        "生物",
        "cells and genes, plants and animals, evolution, ecosystems, microbes, behaviour, field work and the lab",
        "细胞和基因、植物和动物、进化、生态系统、微生物、行为、野外和实验室",
    ),
    Domain(
        "Computer Science",
        "professional knowledge",
        "计算机科学",
        "programs and bugs, algorithms, networks, security, operating systems, machine learning, hardware, code review",
        "程序和故障、算法、网络、安全、操作系统、机器学习、硬件、代码评审",
        ("Computing", "Computers", "Technology"),
    ),
    Domain(
        "Medicine",
        "professional knowledge",
        "医学",
        "symptoms and diagnoses, drugs, hospitals, nursing, ethics, prevention, diet, trials of new treatments",
        "症状和诊断、药物、医院、护理、伦理、预防、饮食、新疗法的试验",
        ("Medical", "Health"),
    ),
)
DOMAIN_NAMES: tuple[str, ...] = tuple(domain.name for domain in DOMAINS)


def domain_of(name: str) -> Domain:
    """Returns the domain of a name.

    Raises:
        UserError: there is none of that name.
    """
    found = find_domain(name)
    if found is None:
        raise UserError(f"DialogBench has no domain '{name}'; {nearest(name, DOMAIN_NAMES)}")
    return found


def find_domain(name: str) -> Domain | None:
    """Returns the domain of any of its names, or None; only letters and digits count, in either case."""
    folded = _folded(name)
    for domain in DOMAINS:
        if folded in {_folded(each) for each in (domain.name, domain.zh, *domain.variants)}:
            return domain
    return None
