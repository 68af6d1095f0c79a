"""Whether templates in place of ours ask for a translation, or how good one is: they are filled and looked through."""

from __future__ import annotations

from collections.abc import Iterator

from dialeval.prompts.rendering import Templates
from dialeval.translation.languages import LANGUAGES
from dialeval.translation.planning import TEMPLATE, plan
from dialeval.translation.quality import adequacy
from dialeval.translation.talks import Talk

_SAID, _TRANSLATED = "Quince only marrow.", "Membrillo solo calabaza."
_SOURCE, _TARGET = "en", "sw"


def unfit_translation_templates(templates: Templates, *, judged: bool) -> Iterator[str]:
    """Yields what is wrong with the templates of translation, in words.

    Args:
        templates: the prompts.
        judged: whether translations are judged, too.

    Raises:
        UserError: one cannot be filled in at all.
    """
    talk = Talk("sentinel", ("A",), (_SAID,))
    planned = plan([talk], templates, corpus="sentinel", source=_SOURCE, target=_TARGET, context=0, max_tokens=1)
    prompt = next(planned).request.messages[0].content
    if _SAID not in prompt:
        yield f"{TEMPLATE}: it forgets what is to be translated; write {{{{ utterance }}}} where it is to stand"
    if LANGUAGES[_TARGET].name not in prompt:
        yield f"{TEMPLATE}: it does not say into which language; write {{{{ target }}}} where it is to stand"
    if not judged:
        return
    row = {"corpus": "", "language": _TARGET, "utterance_id": "", "source": _SAID, "text": _TRANSLATED}
    prompt = next(adequacy.plan_adequacy([row], templates, source=_SOURCE)).request.messages[0].content
    for text, variable in ((_SAID, "utterance"), (_TRANSLATED, "translation")):
        if text not in prompt:
            yield f"{adequacy.TEMPLATE}: it forgets the {variable}; write {{{{ {variable} }}}} where it is to stand"
    if f"{adequacy.PROTOCOL}:" not in prompt.lower():
        yield (
            f"{adequacy.TEMPLATE}: it does not say that the answer is 'adequacy: ' and a number, by which it is read"
        )
