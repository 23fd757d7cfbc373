"""A query, read: its words, what binds, its language; and GN-6's twenty languages, end to end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scrubjay
from scrubjay.text import query_syntax
from scrubjay.text.analysis import valid_unicode
from scrubjay.text.languages import STEMMERS
from scrubjay.text.query_syntax import parse_query
from scrubjay.types import Term


def word(*tokens, **more):
    """A term of one token, or of any of several."""
    return Term(tuple((token,) for token in tokens), **more)


def phrase(*tokens):
    return Term((tokens,))


class TestWords:
    def test_words_are_stems_without_stop_words(self):
        """SV-3's example."""
        asked = parse_query("how does JWT validation work")

        assert asked.words == (word("jwt"), word("valid"), word("work"))
        assert (asked.holds, asked.lacks) == ((), ())
        assert asked.meaning == "how does JWT validation work"

    def test_stop_words_are_searched_where_there_is_nothing_else(self):
        """But not beside a phrase."""
        assert parse_query("to be").words == (word("to"), word("be"))
        assert parse_query('to "red kettle"').words == ()

    def test_an_identifier_is_asked_for_whole_with_its_parts_in_reserve(self):
        """GN-6: its parts stand apart."""
        assert parse_query("get_user").words == (
            word("get_user", parts=((("get",),), (("user",),))),
        )

    def test_a_word_is_asked_for_once(self):
        """However often it was said."""
        assert parse_query("port PORT ports port").words == (word("port"),)

    def test_only_the_first_so_many_are_kept_and_counted(self):
        """Of words, of phrases and beginnings, of negations, each."""
        asked = parse_query("a1 b2 c3 d4 e5", most=3)
        assert (len(asked.words), asked.wanted) == (3, 5)

        asked = parse_query("x " + " ".join(f"-w{n} w{n}*" for n in range(9)), most=4)
        assert (len(asked.holds), len(asked.lacks), asked.wanted) == (4, 4, 9)

    @pytest.mark.parametrize("sign", ["{}*", '"{} port"', "-{}"])
    def test_what_is_said_again_counts_once(self, sign):
        """However often: the terms beyond the first are counted, not the times they were typed."""
        some = " ".join(
            sign.format(word) for word in ("alpha", "beta", "gamma") for _ in range(50)
        )

        asked = parse_query(f"x {some}", most=2)

        assert (len(asked.holds) + len(asked.lacks), asked.wanted) == (2, 3)

    def test_a_sign_is_worked_out_once(self, monkeypatch):
        """To find the stems of `a*` takes fifty words; a query of a megabyte holds it 300,000 times."""
        made = []
        make = query_syntax._prefix_terms
        monkeypatch.setattr(
            query_syntax, "_prefix_terms", lambda *given: made.append(given) or make(*given)
        )

        parse_query("a* " * 1000)

        assert len(made) == 1

    def test_pairs_of_characters_are_terms_of_their_own(self):
        """GN-6: Chinese is asked pair by pair, so that any of them is found."""
        assert parse_query("北京大学").words == (word("北京"), word("京大"), word("大学"))


class TestSigns:
    @pytest.mark.parametrize(
        ("query", "holds"),
        [
            ('"red kettle"', [phrase("red", "kettl")]),
            ('see "red kettle", please', [phrase("red", "kettl")]),
            ('"red kettle" "blue pot"', [phrase("red", "kettl"), phrase("blue", "pot")]),
            ("kettle*", [word("kettle*", "kettl")]),
            ('"北京大学"', [phrase("北京", "京大", "大学")]),
            ('"kettle 北京"', [phrase("kettl"), phrase("北京")]),
            ("日本語*", [phrase("日本", "本語")]),
            ('say("red kettle")', []),
            ('"red kettle', []),
            ('""', []),
            ('"?!"', []),
            ("*", []),
            ("a * b", []),
            ("**bold**", []),
        ],
    )
    def test_what_must_be_there(self, query, holds):
        """GN-6: phrases and beginnings; a sign that makes no sense where it stands is text."""
        assert list(parse_query(query).holds) == holds

    @pytest.mark.parametrize(
        ("query", "any_of"),
        [
            ("ts*", {"ts*"}),
            ("library*", {"library*", "librari"}),
            ("configuratio*", {"configuratio*", "configur"}),
            ("run*", {"run*"}),
        ],
    )
    def test_a_beginning_is_asked_for_with_stems_that_do_not_begin_so(self, query, any_of):
        """GN-6: in every language of the store, but only stems of words that begin so."""
        (term,) = parse_query(query, ("en", "ga", "id")).holds

        assert set(term.tokens) >= any_of
        assert all(token[:2] == query[:2] for token in term.tokens)

    @pytest.mark.parametrize(
        ("query", "lacks"),
        [
            ("tea -milk", [word("milk", unless=("-milk", "--milk"))]),
            ("tea -milk,", [word("milk", unless=("-milk", "--milk"))]),
            ('tea -"cold milk"', [phrase("cold", "milk")]),
            ("tea -mil*", [word("mil*", unless=("-mil*", "--mil*"))]),
            ("茶 -牛奶粉", [phrase("牛奶", "奶粉")]),
            ("tea --milk", []),
            ("tea - milk", []),
            ("tea-milk", []),
            ("tea -5", []),
            ("tea -_", []),
            ("`tea -milk`", []),
            ("http://x.org/?a=-milk", []),
        ],
    )
    def test_what_must_not_be_there(self, query, lacks):
        """GN-6: with the literal form that is spared."""
        assert list(parse_query(query).lacks) == lacks

    @pytest.mark.parametrize("query", ["-milk", '-"cold milk"', "-mil*", "?! -milk", "-a -b"])
    def test_negations_only_are_taken_literally(self, query):
        """GN-6: -rf looks for -rf."""
        asked = parse_query(query)

        assert asked.words
        assert (asked.lacks, asked.meaning) == ((), query)

    def test_a_model_reads_the_positive_part_without_signs(self):
        """GN-6: a vector of the negated words would find them."""
        assert parse_query('tea "cold brew" gree* -milk -"brown sugar" now').meaning.split() == (
            "tea cold brew gree now".split()
        )

    def test_what_does_not_bind_is_words(self):
        """For a phrase that stands nowhere; signs inside it are text."""
        asked = parse_query('tea "cold -brew x*" gree* -milk', bind=("beginning",))

        assert [one.any_of[0][0] for one in asked.words] == ["tea", "cold", "-brew", "x"]
        assert len(asked.holds) == len(asked.lacks) == 1


class TestLanguages:
    def test_without_other_languages_than_english_none_is_asked_for(self):
        """Most stores: nothing to decide."""
        for held in ((), ("",), ("en",), ("", "en")):
            asked = parse_query("die alten Häuser am Hafen", held)
            assert asked.language == ""
            assert asked.words[-1] == word("hafen")

    def test_a_detected_query_is_stemmed_in_its_language_first(self):
        """GN-6: with the forms of other languages only where its own is nowhere."""
        asked = parse_query("Wo stehen die alten Häuser?", ("de", "en"))

        assert asked.language == "de"
        assert asked.words[-1] == word("haus", parts=((("hauser",),),))

    def test_a_detected_query_asks_for_texts_of_unclear_language_too(self):
        """GN-6: those are stemmed as English."""
        asked = parse_query("Wo stehen die alten Häuser?", ("", "de"))

        assert asked.words[-1] == word("hauser", "haus")

    def test_an_undetected_query_is_stemmed_in_every_language_of_the_store(self):
        """GN-6."""
        asked = parse_query("Häuser", ("de", "en", "fr"))

        assert asked.language == ""
        assert asked.words == (word("hauser", "haus"),)

    def test_what_binds_is_stemmed_in_every_language_whatever_the_query_s(self):
        """GN-6: a phrase may be quoted in a question of another language."""
        asked = parse_query('where are the words "alte Häuser" in there -Gärten', ("de", "en"))

        assert asked.language == "en"
        assert ("alt", "haus") in asked.holds[0].any_of
        assert ("gart",) in asked.lacks[0].any_of

    @pytest.mark.parametrize(
        ("query", "held", "left"),
        [
            ("Wo stehen die alten Häuser?", ("de",), {"stehen", "alten", "häuser"}),
            ("où sont les vieilles maisons du port?", ("fr",), {"vieilles", "maisons", "port"}),
            ("где лежат старые книги о море", ("ru",), {"лежат", "старые", "книги", "море"}),
        ],
    )
    def test_stop_words_of_the_query_s_language_are_dropped(self, query, held, left):
        """GN-6: "die" and "les" are no terms."""
        asked = parse_query(query, held)
        expected = {parse_query(one, held).words[0].any_of[0] for one in left}

        assert asked.language == held[0]
        assert {one.any_of[0] for one in asked.words} == expected


# -- never an error -----------------------------------------------------------------------------

PIECES = (
    *(
        '"',
        "“",
        "”",
        "„",
        "«",
        "»",
        "「",
        "」",
        "-",
        "--",
        "*",
        "**",
        "'",
        "`",
        "(",
        ")",
        ".",
        ",",
    ),
    *(
        " ",
        " ",
        " ",
        "\n",
        "milk",
        "tea",
        "rf",
        "北京",
        "ไทย",
        "किताब",
        "foo.bar",
        "5",
        "_",
        "ß",
        "́",
    ),
)
SIGNED = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)
HELD = st.lists(st.sampled_from(["", "en", "de", "zh", "tr", "vi", "xx"]), unique=True)


@given(st.one_of(SIGNED, st.text(max_size=80).map(valid_unicode)), HELD, st.integers(1, 5))
def test_every_string_can_be_read(query, held, most):
    """GN-6: no input is a syntax error, and no list is longer than it may be."""
    asked = parse_query(query, held, most)

    assert max(len(asked.words), len(asked.holds), len(asked.lacks)) <= most
    assert asked.wanted >= len(asked.words)
    for term in (*asked.words, *asked.holds, *asked.lacks):
        assert term.any_of
        assert all(run and all(token.strip() for token in run) for run in term.any_of)


@given(
    st.lists(st.sampled_from(["tea", "cup", '"red pot"', "kett*", "5", "-7", "x.y"]), max_size=6),
    st.lists(
        st.sampled_from(["-milk", "-sugar", '-"cold milk"', "-mil*", "-“sugar”"]), max_size=4
    ),
    st.randoms(use_true_random=False),
)
def test_what_a_model_reads_holds_no_negated_word(positive, negated, order):
    """GN-6: wherever the negations stand."""
    query = " ".join(order.sample([*positive, *negated], len(positive) + len(negated)))

    asked = parse_query(query)

    if positive:
        assert not {"milk", "sugar", "cold", "mil"} & set(asked.meaning.replace('"', " ").split())
        assert len(asked.lacks) == len(set(negated))
    else:
        assert asked.meaning == query


# -- twenty languages and more, end to end ------------------------------------------------------

LANGUAGES = [
    (
        "en",
        "The lighthouses on the northern coast were repaired before the winter came.",
        "lighthouse",
        "repairing",
    ),
    (
        "de",
        "Die alten Häuser am Hafen wurden im letzten Sommer von der Stadt renoviert.",
        "Haus",
        "renovierten",
    ),
    (
        "fr",
        "Les anciennes maisons du port ont été rénovées par la ville pendant l'été dernier.",
        "maison",
        "ancien",
    ),
    (
        "es",
        "Las casas antiguas del puerto fueron renovadas por la ciudad durante el verano pasado.",
        "casa",
        "antiguo",
    ),
    (
        "it",
        "Le vecchie case del porto sono state restaurate dalla città durante la scorsa estate.",
        "restaurato",
        "vecchio",
    ),
    (
        "pt",
        "As casas antigas do porto foram renovadas pela cidade durante o verão passado, mas não todas.",
        "casa",
        "antigo",
    ),
    (
        "nl",
        "De oude huizen aan de haven werden in de vorige zomer door de stad gerepareerd.",
        "huis",
        "gerepareerde",
    ),
    (
        "sv",
        "De gamla husen vid hamnen har renoverats av staden under den förra sommaren och inte före.",
        "hus",
        "hamnar",
    ),
    (
        "da",
        "De gamle huse ved havnen blev istandsat af byen i løbet af den sidste sommer, men ikke alle.",
        "hus",
        "havn",
    ),
    (
        "no",
        "De gamle husene ved havnen ble pusset opp av byen i løpet av sommeren, men ikke alle av dem.",
        "hus",
        "havn",
    ),
    (
        "fi",
        "Sataman vanhat talot korjattiin viime kesänä, mutta kaikki eivät olleet valmiita ennen talvea.",
        "talo",
        "talossa",
    ),
    (
        "hu",
        "A régi házak a kikötőben állnak, és a város tavaly nyáron felújította őket, de nem mindet.",
        "ház",
        "kikötő",
    ),
    (
        "ro",
        "Casele vechi din port au fost renovate de oraș în vara trecută, dar nu toate sunt gata.",
        "casa",
    ),
    (
        "ru",
        "В старой библиотеке на берегу моря были найдены редкие книги о кораблях и о войне.",
        "книга",
        "корабль",
    ),
    (
        "tr",
        "Limandaki eski evler geçen yaz belediye tarafından onarıldı ama hepsi daha bitmedi.",
        "ev",
        "liman",
    ),
    (
        "ca",
        "Les cases antigues del port van ser renovades per la ciutat durant l'estiu passat, però no totes.",
        "renovar",
        "ciutats",
    ),
    (
        "cs",
        "Staré domy v přístavu byly opraveny městem během minulého léta, ale ne všechny jsou hotové.",
        "domech",
        "přístavy",
    ),
    (
        "pl",
        "Stare domy w porcie zostały odnowione przez miasto w czasie zeszłego lata, ale nie wszystkie.",
        "domów",
        "portu",
    ),
    (
        "el",
        "Τα παλιά σπίτια στο λιμάνι επισκευάστηκαν από την πόλη το περασμένο καλοκαίρι.",
        "σπίτι",
        "λιμάνια",
    ),
    (
        "ar",
        "وجد الباحثون في المكتبة القديمة كتبا نادرة عن السفن التي كانت تعبر البحر في الماضي.",
        "مكتبة",
        "باحثون",
    ),
    (
        "hi",
        "पुराने पुस्तकालय में जहाज़ों के बारे में बहुत सी दुर्लभ किताबें मिलीं और वे अब भी वहाँ हैं।",
        "किताब",
        "किताबों",
    ),
    (
        "id",
        "Rumah tua di pelabuhan itu telah diperbaiki oleh kota pada musim panas yang lalu.",
        "perbaiki",
        "rumahnya",
    ),
    (
        "lt",
        "Seni namai uoste buvo suremontuoti miesto praėjusią vasarą, bet ne visi jau yra baigti.",
        "namas",
        "miestas",
    ),
    (
        "eu",
        "Portuko etxe zaharrak hiriak konpondu zituen joan den udan, baina ez dira denak amaitu.",
        "hirian",
    ),
    (
        "ga",
        "Tá na tithe i gcathair na Gaillimhe agus bhí na báid sa chuan nuair a tháinig an stoirm.",
        "chathair",
    ),
    (
        "et",
        "Vanad majad sadamas remonditi linna poolt möödunud suvel, aga mitte kõik ei ole veel valmis.",
        "maja",
        "sadam",
    ),
    (
        "hy",
        "Հին տները նավահանգստում վերանորոգվել են քաղաքի կողմից անցած ամառ, բայց ոչ բոլորը։",
        "քաղաք",
    ),
    (
        "sr",
        "Старе куће у луци су обновљене прошлог лета, али нису све биле готове пре зиме.",
        "кућа",
        "обновљен",
    ),
    (
        "eo",
        "La malnovaj domoj ĉe la haveno estis riparitaj de la urbo dum la lasta somero, sed ne ĉiuj.",
        "domo",
        "havenoj",
    ),
    ("ta", "பழைய நூலகத்தில் கப்பல்கள் பற்றிய பல அரிய புத்தகங்கள் கண்டுபிடிக்கப்பட்டன என்று கூறினார்.", "புத்தகம்"),
    (
        "fa",
        "در کتابخانه قدیمی کنار دریا کتاب‌های کمیابی درباره کشتی‌ها پیدا شد که هیچ کس آنها را نمی‌شناخت.",
        "کتابها",
        "کشتی",
    ),
    (
        "ne",
        "पुरानो पुस्तकालयमा जहाजहरूको बारेमा धेरै दुर्लभ किताबहरू भेटिए र ती अझै पनि त्यहाँ छन्।",
        "किताब",
        "जहाज",
    ),
]
NO_STEMMER = [
    (
        "zh",
        "他在北京大学的图书馆里检索关于机器学习模型的文件，并且使用 transformers 库。",
        "图书馆",
    ),
    ("th", "ห้องสมุดเก่าริมทะเลมีหนังสือหายากเกี่ยวกับเรือหลายเล่ม", "หนังสือ"),
    ("ja", "古い図書館で船についての珍しい本がたくさん見つかりました。", "図書館"),
    ("ko", "오래된 도서관에서 배에 관한 희귀한 책들이 많이 발견되었습니다.", "도서관"),
]


@pytest.fixture(scope="module")
def babel():
    """One text in each of these languages, in one store."""
    with scrubjay.open(":memory:", embedder=False) as store:
        store.add_many({"text": one[1], "id": f"in-{one[0]}"} for one in (*LANGUAGES, *NO_STEMMER))
        yield store


def found_by(store, query):
    return [hit.id for hit in store.search(query, mode="keyword", limit=50)]


def test_there_are_twenty_languages_with_a_stemmer():
    """GN-6: Snowball stemming in 20+ languages."""
    assert len({STEMMERS[one[0]] for one in LANGUAGES}) >= 25


@pytest.mark.parametrize("language", [one[0] for one in (*LANGUAGES, *NO_STEMMER)])
def test_the_language_of_a_document_is_told(babel, language):
    """GN-6: detected per document, and kept with it."""
    assert babel.get(f"in-{language}").language == language


@pytest.mark.parametrize(
    ("language", "query"),
    [(code, query) for code, _, *queries in LANGUAGES for query in queries]
    + [(code, query) for code, _, query in NO_STEMMER],
)
def test_another_form_of_a_word_finds_the_document(babel, language, query):
    """GN-6: one word, of no clear language, is stemmed in every language of the store."""
    assert f"in-{language}" in found_by(babel, query)
    text = babel.get(f"in-{language}").text.lower().split()
    if language in STEMMERS:
        assert query.lower() not in text  # it is the other form that was stored


@pytest.mark.parametrize(("language", "query"), [(one[0], one[2]) for one in LANGUAGES])
def test_another_form_finds_it_where_nothing_else_is_stored(language, query):
    """GN-6: the same in a store of that language alone."""
    text = next(one[1] for one in LANGUAGES if one[0] == language)
    with scrubjay.open(":memory:", embedder=False) as store:
        kept = store.add(text)

        assert found_by(store, query) == [kept.id]


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("Wo steht das Haus, das im Sommer renoviert wurde?", "de"),
        ("Où est la maison qui a été rénovée pendant l'été?", "fr"),
        ("где найдена редкая книга о корабле и войне?", "ru"),
        ("¿Dónde está la casa que fue renovada durante el verano?", "es"),
        ("他在哪里检索文件？", "zh"),
    ],
)
def test_a_question_finds_the_document_of_its_language_first(babel, query, language):
    """GN-6: language detected per query, its stop words dropped."""
    results = babel.search(query, mode="keyword")

    assert results.hits[0].id == f"in-{language}"
    assert results.trace[0].notes["language"] == language


@pytest.mark.parametrize(
    "query", ["kuehlschrank", "Kuehlschrank", "kühlschränke", "Kuehlschraenke", "KÜHLSCHRANK"]
)
def test_an_umlaut_may_be_written_in_two_letters(query):
    """GN-6: in a German text."""
    with scrubjay.open(":memory:", embedder=False) as store:
        kept = store.add("Der Kühlschrank steht in der Küche und ist seit gestern leider kaputt.")
        store.add("Der Hund schläft den ganzen Tag auf dem Teppich in der Küche.")
        assert kept.language == "de"

        assert found_by(store, query) == [kept.id]


def test_a_detected_question_still_finds_short_memories_of_unclear_language():
    """GN-6: "Häuser gekauft" has no function word, and is stored as English would be."""
    with scrubjay.open(":memory:", embedder=False) as store:
        store.add("Der Hund schläft den ganzen Tag auf dem Teppich in der Küche.")
        short = store.add("Häuser: Hafenstraße")
        assert short.language == ""

        assert found_by(store, "Wo stehen eigentlich die Häuser in der Stadt?") == [short.id]


@pytest.mark.parametrize("query", ["transformer", "transforming", "Transformers"])
def test_english_words_inside_a_chinese_document_are_found_by_another_form(babel, query):
    """GN-6: Latin words in a text of another script are mostly English."""
    assert found_by(babel, query) == ["in-zh"]


def test_latin_letters_glued_to_chinese_are_stemmed_alike_in_text_and_query():
    """GN-6: whatever else the store holds."""
    with scrubjay.open(":memory:", embedder=False) as store:
        store.add("De gamle huse ved havnen blev istandsat af byen i sommer, men ikke alle.")
        kept = store.add("我们使用models模型来检索北京大学的所有文件和其他资料")
        assert kept.language == "zh"

        assert found_by(store, "models模型") == [kept.id]
        assert found_by(store, '"models模型"') == [kept.id]
