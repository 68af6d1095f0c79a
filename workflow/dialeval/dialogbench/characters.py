"""What is drawn before a dialogue is written: personalities, styles and slots, in our words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Style = Literal["friendly", "neutral", "unfriendly"]
STYLES: tuple[Style, ...] = ("friendly", "neutral", "unfriendly")


@dataclass(frozen=True, slots=True)
class Personality:
    """How a speaker is; `style` is how that sounds to the other one."""

    style: Style
    en: str
    zh: str

    def in_language(self, language: str) -> str:
        """Returns the description in a language; English where there is no other."""
        return self.zh if language == "zh" else self.en


PERSONALITIES: tuple[Personality, ...] = (
    Personality("friendly", "warm, quick to laugh, praises others", "热心，爱笑，常夸别人"),
    Personality("friendly", "patient, explains things twice without a sigh", "有耐心，讲两遍也不嫌烦"),
    Personality("friendly", "curious and easily delighted", "好奇，容易被逗乐"),
    Personality("friendly", "modest, grateful for small favours", "谦逊，受人点滴之恩也感激"),
    Personality("friendly", "generous, likes to take work off others", "大方，爱替人分担"),
    Personality("friendly", "gentle, chooses words so that nobody is hurt", "温和，说话怕伤着人"),
    Personality("neutral", "matter-of-fact, short sentences, no small talk", "就事论事，话短，不寒暄"),
    Personality("neutral", "cautious, weighs everything, seldom commits", "谨慎，凡事掂量，少下结论"),
    Personality("neutral", "absent-minded, comes back to things late", "心不在焉，事后才想起来"),
    Personality("neutral", "orderly, makes lists, keeps to the plan", "有条理，爱列单子，按计划来"),
    Personality("neutral", "shy, says little, but means it", "腼腆，话少，但句句当真"),
    Personality("neutral", "dry, hides what is felt behind jokes", "冷幽默，用玩笑遮住心思"),
    Personality("unfriendly", "sarcastic, finds fault with every proposal", "爱挖苦，什么提议都挑刺"),
    Personality("unfriendly", "irritable, takes remarks as attacks", "易怒，听什么都像攻击"),
    Personality("unfriendly", "haughty, lets others feel that they know less", "傲慢，总让人觉得自己懂得少"),
    Personality("unfriendly", "stubborn, twists words to be right in the end", "固执，强词夺理也要赢"),
    Personality("unfriendly", "envious, belittles what others achieve", "嫉妒，贬低别人的成绩"),
    Personality("unfriendly", "cold, curt, wants the talk to be over", "冷淡，三言两语，只想快点说完"),
)

SLOTS: tuple[tuple[str, str], ...] = (
    ("time of day", "时间"),
    ("date", "日期"),
    ("place", "地点"),
    ("person", "人物"),
    ("price", "价格"),
    ("quantity", "数量"),
    ("duration", "时长"),
    ("reason", "原因"),
    ("means of transport", "交通方式"),
    ("material or ingredient", "材料或食材"),
    ("colour or size", "颜色或尺寸"),
    ("order of steps", "步骤顺序"),
)
"""What slot filling may ask for, in English and Chinese."""
