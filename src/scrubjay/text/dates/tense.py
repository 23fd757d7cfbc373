"""Whether a sentence speaks of what was or of what is to come."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_TO_COME = frozenset(
    "will ll shall gonna going plan plans planning upcoming soon hope hoping want wants intend expect"
    " deadline due werde wird werden wirst werdet wollen plane plant planen vorhaben bald kommt".split()
)
_ASKED = (_TO_COME - {"going", "hope", "hoping", "want", "wants", "expect", "due", "kommt"}) | set(
    "planned calendar appointment appointments agenda schedule scheduled geplant kalender termin"
    " termine".split()
)
_WAS = frozenset(
    "was were did had been went met saw got came took made bought ate ran said told found gave began"
    " spent left felt lost won wrote read sent kept held brought thought became built drove flew heard"
    " knew sang slept spoke taught wore"
    " war waren wurde wurden hatte hatten gab ging gingen kam kamen sah".split()
)
_IRREGULAR = frozenset(
    "arose awoke became began bent bled blew bred broke brought built burnt came caught chose clung crept"
    " dealt died did didn drank dreamt drew drove dug fed fell felt fled flew flung forbade forgave forgot"
    " fought found froze gave got grew had hadn heard held hid hit hung hurt kept knelt knew laid leapt"
    " learnt led left lent lied lit lost made met misunderstood overcame overheard overslept owed paid"
    " quit ran rang read rebuilt rode said sang sank sat saw sent sewed shone shook shot shrank slept slid"
    " sold sought sped spelt spent spilt split spoke sprang stank stole stood strode struck stung stuck"
    " swam swept swore swung taught thought threw tied told took tore undertook understood undid wasn went"
    " wept weren withdrew woke won wore wove wrote ate born".split()
)
_PRATERITUM = frozenset(
    "war warst waren wurde wurden hatte hatten hattest gab gaben ging gingen kam kamen sah sahen fiel"
    " fielen brach brachen starb starben traf trafen fand fanden nahm nahmen fuhr fuhren flog flogen lief"
    " liefen schrieb schrieben sprach sprachen blieb blieben las lasen trank tranken schlief schliefen"
    " verlor verloren gewann gewannen rief riefen hielt hielten begann begannen bekam bekamen brachte"
    " brachten dachte dachten wusste wussten konnte konnten musste mussten durfte durften machte machten"
    " kaufte kauften besuchte besuchten sagte sagten erzahlte erzahlten feierte feierten spielte spielten"
    " arbeitete arbeiteten heiratete heirateten zog zogen stieg stiegen stahl stahlen riss rissen schnitt"
    " verletzte sturzte sturzten passierte geschah entschied verpasste verpassten kochte lernte regnete"
    " schneite telefonierte".split()
)
_WAS_ASKED = _WAS | {"hab", "habe", "haben", "hat", "bin"}
_WAS_TOLD = _WAS | _IRREGULAR | _PRATERITUM
# With one of these a German participle is about what was; alone, "ich habe am Samstag Zeit", it is not.
_PERFECT = frozenset("hab habe hast hat haben habt bin bist ist sind seid".split())
_PARTICIPLE = re.compile(
    r"(?:\w{0,6}ge\w{2,}|(?:be|ver|er|ent|zer|miss|uber|unter)\w{2,}|\w+ier)(?:t|en)"
)
_NO_PARTICIPLE = re.compile(
    r".*(?:[hk]eit|ungen|innen)|geplant|gebucht|verabredet|eingeladen|geoffnet|geschlossen|besetzt"
    r"|beschaftigt|verhindert|gegen|wegen|fragen|sagen|tagen|morgen|liegen|.*zeiten"
)
# What was moved or booked is on another day than the moving: moved to Tuesday, booked for Saturday.
_MOVED = frozenset(
    "moved rescheduled postponed pushed shifted changed delayed switched put verschoben verschob verlegt"
    " verlegte".split()
)
_MOVED_TO = frozenset(("to", "until", "till", "auf"))
_BOOKED_FOR = frozenset(("for", "fur"))
_ARTICLES = frozenset("the a den dem der die das next on".split())
_PASSIVE = frozenset("will ll shall gonna be get gets getting".split())
# Words on -ed that tell nothing of when.
_NO_PAST = frozenset(
    "need indeed speed hundred worried excited interested scared tired bored stressed supposed used"
    " scheduled planned limited married related detailed based".split()
)
_NEAR = 8  # tokens; what is farther away may be about something else


def lean(before: Sequence[str], after: Sequence[str], *, is_query: bool) -> tuple[int, bool]:
    """Return 1 for what is to come, -1 for what was, 0 where a sentence does not say; and how sure.

    Of its words the nearest to the expression decides, of those before and after it. It is sure where
    that one is near, and more than an ending. A query is about what was, unless it asks for plans.
    """
    if is_query:
        asked = {*before, *after}
        return (-1 if _ASKED.isdisjoint(asked) or not _WAS_ASKED.isdisjoint(asked) else 1), True
    if _is_moved_to(before, after):
        return 1, True
    words = (*before, *after)
    for distance, place in _outward(len(before), len(words)):
        word = words[place]
        if word in _TO_COME or (word == "won" and words[place + 1 : place + 2] == ("'",)):
            return 1, distance < _NEAR
        is_told = word in _WAS_TOLD or (word in _PERFECT and _has_participle(words))
        is_ended = word.endswith("ed") and len(word) > 4 and word not in _NO_PAST
        if is_told or is_ended:
            # It will be closed on Saturday, I'll get paid on Friday.
            if not _PASSIVE.isdisjoint(words[max(0, place - 3) : place]):
                return 1, distance < _NEAR
            return -1, is_told and distance < _NEAR
    return 0, True


def _is_moved_to(before: Sequence[str], after: Sequence[str]) -> bool:
    words = [word for word in before[-3:] if word not in _ARTICLES]
    last = words[-1] if words else ""
    if last in _BOOKED_FOR:
        return True
    return last in _MOVED_TO and not _MOVED.isdisjoint((*before, *after))


def _has_participle(words: Sequence[str]) -> bool:
    return any(_PARTICIPLE.fullmatch(one) and not _NO_PARTICIPLE.fullmatch(one) for one in words)


def _outward(middle: int, end: int) -> Iterator[tuple[int, int]]:
    """Give how far and where words are, from the middle on; of two as near the one before it."""
    for distance in range(max(middle, end - middle)):
        if distance < middle:
            yield distance, middle - 1 - distance
        if middle + distance < end:
            yield distance, middle + distance
