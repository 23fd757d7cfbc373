"""Greetings, thanks and acknowledgements, and short texts that only begin like them."""

from __future__ import annotations

import os
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.text import small_talk as module
from scrubjay.text.small_talk import MAX_CHARS, is_small_talk, quotes

SMALL_TALK = """
Nice to meet you!
Noted.
haha ok, thanks!
Got it 👍
Danke dir!
Alles klar, bis morgen
👍
🎉🎉🎉
:-)
<3
Hi
hello there!
Hey Tom,
Good morning Ann!
How are you?
I'm fine, and you?
thaaanks sooo much!!!
Thank you very much, Maria 🙏
Thanks a lot for your help!
Thanks! Much appreciated :)
thx
ty!
You're welcome.
No problem at all
no worries, anytime!
ok
OK!
Okay, sounds good.
kk
Sure thing
Yes, of course!
yep, makes sense
Perfect, thank you!
Great, will do.
lol
Hahaha, nice one
hmmm
Oh wow, congrats!!
Well done, everyone!
See you tomorrow!
bye bye
Good night 🌙
Take care!
Sorry, my bad
LGTM 🚀
Let me know if you need anything else.
Is there anything else I can help you with?
Hallo zusammen
Guten Morgen, Jonas!
Moin
Wie geht's dir?
Vielen lieben Dank!
Danke schön 😊
Gern geschehen!
Kein Problem
Ja, passt so, danke
Verstanden, mache ich.
Gute Besserung!
Schönes Wochenende euch allen
Tschüss, bis dann
Herzlichen Glückwunsch!
Entschuldigung
Merci beaucoup !
D'accord, à demain
¡Muchas gracias!
Grazie mille
obrigada!
Dank je wel
dziękuję bardzo
Спасибо большое!
谢谢！
好的，明白了
ありがとうございます。
감사합니다!
teşekkürler
"""
CONTENT = """
Noted: port 5433
Thanks to Ann we moved to Lisbon
ok from Monday
Yes, 14:30
Yes
No.
Ja
Nein
Good morning is at 6:40 for the twins
Hello World in Rust
hi-fi repaired
Hey Jude is our song
Thanks for the red bicycle
Thank the neighbours
ok with gluten
Okay, Tuesday
OK for Berlin
Sure, the blue one
Got it from Marta
Got a cat
Great Dane
Perfect pitch
Nice in June
Cool the wine
no milk
no problem with nuts
Sorry, no cats
See you at Luigi's
See you at nine
bye-law 7
Done
C++
👍 Lisbon
+49 30 1234
PX_HOOK_2025A
Room 4
5433
sushi
Mara
Lisbon!
Welcome pack: 12 mugs
well 3 is dry
Congrats to Ben on the PhD
Take care of Miez
Good night tea is valerian
My bad knee
Fine is 80 euros
Right ankle
Likes tea
How are you getting to Rome?
Danke an Ann für Lissabon
Danke für das Fahrrad
Alles klar mit Port 5433
bis Montag
Gut gegen Husten
Klar, der Arzt heißt Weber
Passt: Größe 42
Ja, um halb drei
Kein Fleisch
Kein Problem mit Nüssen
Guten Morgen sagt die Apotheke
Schöne Wohnung
Hallo Nachbar zieht aus
Gute Besserung an Opa
Merci schmeckt nicht
Gracias a Ana
bonjour tristesse
谢谢小王
了解：ポート5433
?
...
-
"""


@pytest.mark.parametrize("text", SMALL_TALK.strip().splitlines())
def test_greetings_thanks_and_acknowledgements_are_small_talk(text):
    """Whatever the capitals, accents, punctuation and emoji."""
    assert is_small_talk(text)
    assert is_small_talk(f"  {text}\n")


@pytest.mark.parametrize("text", CONTENT.strip().splitlines())
def test_a_text_with_another_word_is_content(text):
    """A number, a name or a noun is enough."""
    assert not is_small_talk(text)


def test_there_are_sixty_of_each_and_none_is_both():
    """The lists do not overlap."""
    talk, content = SMALL_TALK.strip().splitlines(), CONTENT.strip().splitlines()
    assert len(set(talk)) >= 60
    assert len(set(content)) >= 60
    assert not {*talk} & {*content}


def test_an_empty_text_and_a_long_one_are_no_small_talk():
    """A long text is not read."""
    assert not is_small_talk("")
    assert is_small_talk("ok " * (MAX_CHARS // 3))
    assert not is_small_talk("ok " * MAX_CHARS)


@given(st.text(max_size=MAX_CHARS))
def test_any_text_is_one_or_the_other(text):
    """No error, and the same answer for the same text with spaces at its ends."""
    padded = f" {text} "
    assert is_small_talk(text) is is_small_talk(padded) or len(padded) > MAX_CHARS


def test_the_longest_text_that_is_read_takes_no_time():
    """Hundreds of words are a few milliseconds."""
    began = process_time()
    for _ in range(100):
        is_small_talk("a " * 30)
        is_small_talk("thanks " * 8)
    assert process_time() - began < 2


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ('who said "got it"?', "Got it 👍", True),
        ("wer hat „alles klar“ gesagt", "Alles klar, bis morgen", True),
        ("who said nice to meet you", "Nice to meet you!", True),
        ("who said 'noted'?", "Noted.", True),
        ("what was noted about the port", "Noted.", False),
        ("is it nice to meet your team", "Nice to meet you!", False),
        ("", "ok", False),
    ],
)
def test_a_query_quotes_a_text_by_marks_or_word_for_word(query, text, expected):
    """A single word only by marks: every query may contain it."""
    assert quotes(query, text) is expected


def test_the_file_has_no_phrase_twice_in_one_language():
    """Each line is a phrase in lower case."""
    path = os.path.join(os.path.dirname(module.__file__), "small_talk.txt")
    with open(path, encoding="utf-8") as file:
        for group in file.read().split("\n\n")[1:]:
            lines = [
                line.removesuffix(" *") for line in group.splitlines() if line[:1] not in "#+"
            ]
            assert len(lines) == len(set(lines)), group[:40]
            assert group.partition("\n")[2].islower() or not group.isascii()
