"""What do words alone tell about how a turn ended? Used last, counted apart from what was declared or typed."""

from __future__ import annotations

import re

from sqlassay.records.case import Status

_HEAD = 600

_BUDGET = re.compile(
    r"""^\s*(?:agent\ stopped\ due\ to\ (?:max\ iterations|iteration\ limit|a?\ ?time\ limit)
      | sorry,\ need\ more\ steps\ to\ process\ this\ request
      | (?:model|tool)\ calls?\ limits?\ (?:exceeded|reached) | .{0,40}tool\ call\ limit\ reached
      | reached\ (?:the\ )?max(?:imum)?\ (?:number\ of\ )?(?:steps|turns|iterations)
      | (?:i\ )?(?:have\ )?r(?:an|un)\ out\ of\ (?:steps|turns|iterations))""",
    re.VERBOSE | re.IGNORECASE,
)

_NOT = r"(?:can\s?not|can['’]?t|could\s+not|couldn['’]t)"
_CANNOT = (
    rf"(?:{_NOT}|(?:am|was|['’]m)\s+(?:not\s+able|unable)|wasn['’]t\s+able|won['’]t|will\s+not"
    r"|do\s+not\s+have|don['’]t\s+have|have\s+no|must\s+decline)"
)
_OPENING = r"""^\W*(?:
    (?:i\s*['’]?\s*a?m\s+)?(?:(?:very|so|really|truly)\s+)?sorry\b[^.!?]{0,60}?[,.:;!-]*\s*(?:but\s+)?
  | (?:unfortunately|regrettably|regretfully|alas)[,.]?\s+ | no[,.]\s+
  | i\s*['’]?\s*a?m\s+afraid\s+(?:that\s+)? | it\s*(?:is|['’]s)\s+unfortunate,?\s+but\s+
  | i\s+regret\s+(?:to\s+(?:inform|tell)\s+you\s+)?that\s+
  | (?:(?:my\s+)?apologies|i\s+apologi[sz]e)[^.!?]{0,60}?[,.]?\s+(?:but\s+)?
  | as\s+an?\s+(?:ai|assistant|language\s+model)[^,.]{0,60},\s+
)?"""

_DECLINES = re.compile(
    rf"""{_OPENING}(?:
        (?:i|we)\s*{_CANNOT}\b(?!\s+(?:find|see|identify|locate|detect)\s+any\b)
      | (?:this|that|your|the)\s+(?:question|request|query|information|data)\b[^.!?]{{0,80}}?\b
            (?:{_NOT}|is\s+not\s+(?:possible|supported|available|something|in\s+the)|is\s+(?:outside|out\s+of\s+scope))
      | (?:it|that)\s*(?:is|['’]s)\s+(?:not\s+possible|impossible|outside|beyond)
      | unable\s+to\s+(?:answer|help|process|provide|complete|run|generate|determine)
      | (?:the|this)\s+(?:database|schema|data|dataset|tables?)\b[^.!?]{{0,40}}?\b(?:does|do)(?:\s+not|n['’]t)
            \s+(?:contain|have|include|hold|store|provide|cover)
      | there\s+(?:is|are)\s+no\s+(?:tables?|columns?|fields?|data|information|way)\b
      | no\s+(?:such\s+)?(?:table|column)\s+(?:exists|is\s+available)
      | (?:i|we)\s+(?:can\s+)?only\s+(?:answer|help|assist|support|work)
      | (?:i|we)\s+(?:must\s+|have\s+to\s+)?(?:decline|refuse)
      | not\s+(?:answerable|supported|possible)\b | out\s+of\s+scope\b
      | sorry,?\s+(?:i|we|but|that|this)\b[^.!?]{{0,60}}?\b(?:{_NOT}|not|unable|no)\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_DECLINES_HELP = re.compile(
    r"""\b(?:can(?:not|['’]?t|\s+not)|unable\s+to|not\s+able\s+to|decline\s+to|refuse\s+to)\s+(?:\w+\s+)?
        (?:help|assist|answer|do\s+that|comply|provide|fulfil|fulfill|delete|modify|change)\b""",
    re.VERBOSE | re.IGNORECASE,
)

_THE_DATA = r"(?:(?:necessary|required|relevant|needed|appropriate|sufficient|right)\s+(?:data|information|context))"
_LACKS = re.compile(
    rf"""\b(?:lack(?:s|ing)?|without|not\s+having|inability)\s+(?:of\s+)?(?:the\s+|any\s+|enough\s+)?
            (?:{_THE_DATA}|(?:data|information)\s+(?:to|needed|required|necessary))
      | \b(?:lack\s+of|not\s+equipped\s+with|(?:do\s+not|don['’]t)\s+(?:possess|hold))\s+
            (?:the\s+|any\s+|enough\s+)?(?:\w+\s+)?(?:data|information)
      | \b(?:data|information)\s+(?:that\s+is\s+)?(?:needed|required|necessary)\s+(?:to|for)\b[^.!?]{{0,60}}?
            \b(?:not|isn['’]t|unavailable|missing|beyond|out\s+of)\b
      | \banswering\s+(?:that|this|it)?\b[^.!?]{{0,30}}?
            \b(?:(?:is\s+not|isn['’]t)\s+(?:possible|feasible)|is\s+(?:beyond|impossible|outside))
      | \bnot\s+having\s+the\s+(?:data|information)\b
      | \b(?:is\s+not|isn['’]t|are\s+not|aren['’]t|not|n['’]t\s+(?:seem|appear)\s+to\s+be)\s+(?:\w+\s+)?
            (?:part\s+of|(?:stored|available|contained|included|present|recorded|tracked|found)\s+(?:in|by))
            \s+(?:this|the|our|my|your)\s+(?:\w+\s+)?(?:database|schema|data|dataset|tables?)\b
      | \b(?:database|schema|data|dataset|tables?)\s+(?:\w+\s+){0, 3}?(?:has|have|holds?|contains?)\s+
            (?:no|nothing)\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words that say that what an answer would need is not there."""

_NOT_KNOWN = re.compile(
    rf"{_OPENING}(?:i\s+(?:do\s+not|don['’]t)\s+know|i\s+have\s+no\s+idea|no\s+idea\b|unknown\.?\s*$)",
    re.VERBOSE | re.IGNORECASE,
)

_SENTENCE = re.compile(
    r"""\s*select\s+e?'((?:[^']|'')*)'(?:\s*::\s*\w+)?(?:\s+(?:as\s+)?["`\[]?\w+["`\]]?)?(?:\s+from\s+dual)?[\s;]*""",
    re.IGNORECASE,
)

_FELL_BACK = re.compile(
    r"""^\W*(?:sorry[,.]?\s+)?(?:oops | something\s+went\s+wrong | please\s+try\s+again\s+later
      | an?\s+(?:(?:internal|unexpected)\s+)?error\s+(?:has\s+)?occurred\s+(?:while|when|and)
      | model\s+call\s+failed\s+after
      | (?:i|we)\s+(?:encountered|ran\s+into)\s+(?:an?\s+)?(?:error|problem|issue)
      | here\s+(?:is|are)\s+some\s+general)""",
    re.VERBOSE | re.IGNORECASE,
)

_QUOTES = "*_`\"')»”’ "
_CHATS = re.compile(
    r"\b(?:anything\s+else|something\s+else|any\s+other\s+questions?|help\s+you\s+with)\b", re.IGNORECASE
)
_ASKS_IN_WORDS = re.compile(
    r"""\bplease\s+(?:clarify|specify|confirm|rephrase)\b
      | \b(?:please|could\s+you|can\s+you)
            \s+(?:tell\s+me|let\s+me\s+know|indicate|say|state|choose|select|provide|give\s+me)
            \s+(?:which|whether|what|who|when|between|if\s+you\s+mean|more|(?:the|a|an)\s+(?:exact|specific|particular))\b
      | \bi\s+need\s+(?:some\s+|a\s+(?:bit|little)\s+)?
            (?:more\s+(?:information|details?|context)|clarification|to\s+know\s+(?:which|what))\b""",
    re.VERBOSE | re.IGNORECASE,
)
_MEANS = re.compile(
    r"""\b(?:do|did)\s+you\s+mean\b | \bare\s+you\s+(?:asking|referring|looking\s+for|interested\s+in)\b
      | \b(?:could|can|would)\s+you\s+(?:please\s+)?(?:clarify|specify|confirm)\b
      | \bwhich\s+(?:one\s+|of\s+\w+\s+)?(?:do|did)\s+you\s+mean\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Questions that only an answer can follow: they ask also when a query was executed before them."""


def status_in(text: str | None, *, ran: bool) -> Status | None:
    """The status that the final words tell, None when they read like an answer.

    Args:
        text: what was shown to the user.
        ran: a query of the turn was executed and succeeded. Then a closing question, "I don't know" or a statement
            about the data is part of an answer; only an outright refusal counts, and a text that is nothing but a
            question about what was meant.

    >>> status_in("I can't help with that.", ran=False).value, status_in("Home or billing country?", ran=False).value
    ('UNSUPPORTED', 'CLARIFICATION')
    >>> status_in("France spent the most. Do you want the others?", ran=True) is None
    True
    """
    if text is None or not text.strip():
        return None
    head = text.strip()[:_HEAD]
    if _BUDGET.search(head):
        return Status.BUDGET_EXHAUSTED
    if _asks(text.strip()) if not ran else _asks_only(text.strip()):
        return Status.CLARIFICATION
    if _outright(head, ran=ran):
        return Status.UNSUPPORTED
    if not ran and (_NOT_KNOWN.search(head) or _says_what_lacks(head)):
        return Status.UNSUPPORTED
    if not ran and _FELL_BACK.search(head):
        return Status.FALLBACK
    return None


def status_in_sql(sql: str | None) -> Status | None:
    """The status that a query tells which reads nothing and only says a sentence: a refusal in the place of SQL.

    >>> status_in_sql("SELECT 'I''m afraid I don''t have that data.' AS answer;").value, status_in_sql("SELECT 'a'")
    ('UNSUPPORTED', None)
    """
    said = None if sql is None or len(sql) > 2 * _HEAD else _SENTENCE.fullmatch(sql)
    return None if said is None else status_in(said[1].replace("''", "'"), ran=False)


def _says_what_lacks(head: str) -> bool:
    """Words of lacking data, or of declining anywhere, in a text that states no number: one that does is an answer."""
    lacks = _LACKS.search(head) or _DECLINES_HELP.search(head)
    return bool(lacks) and not any(letter.isdigit() for letter in head)


def _outright(head: str, *, ran: bool) -> bool:
    return bool(_DECLINES.search(head)) and (not ran or bool(_DECLINES_HELP.search(head)))


def _asks(text: str) -> bool:
    """A question to the user at the end of the text, or words that ask to clarify."""
    closing = _closing_question(text)
    if closing is None:
        return bool(_ASKS_IN_WORDS.search(text[:_HEAD]))
    return not _CHATS.search(closing)


def _asks_only(text: str) -> bool:
    """Nothing but one question about what was meant: after a statement, a question may be an offer or a remark."""
    closing = _closing_question(text)
    return closing == text.rstrip().rstrip(_QUOTES) and bool(_MEANS.search(text))


def _closing_question(text: str) -> str | None:
    """The sentence at the end of the text where it is a question."""
    last = text[-_HEAD:].rstrip().rstrip(_QUOTES)
    if not last.endswith(("?", "？")):
        return None
    return re.split(r"(?<=[.!?\n])\s+", last)[-1]
