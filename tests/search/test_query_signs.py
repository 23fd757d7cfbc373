"""GN-6, end to end: words, "phrases", -negations, beginnings*, identifiers, in every mode."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import HashingEmbedder
from hypothesis import given, settings
from hypothesis import strategies as st

import scrubjay
from scrubjay.storage.sql import keyword_ranking
from scrubjay.text.analysis import tokens

MODES = ("keyword", "vector", "default", "thorough")
FILLER = "This paragraph speaks of nothing in particular and goes on for quite some time. " * 30


class EverythingIsNear:
    """A model for which every text means the same: only what binds can keep a memory out."""

    name = "near"
    dims = 4

    def embed(self, texts, *, as_query=False):
        return np.full((len(texts), 4), 0.5, np.float32)


@pytest.fixture
def store():
    with scrubjay.open(":memory:", embedder=EverythingIsNear()) as opened:
        yield opened


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    """Both ways of ranking: our own weights, and those of FTS5."""
    if request.param == "large":
        monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
    return request.param


def keep(store, **texts):
    """Store texts by id, with their vectors."""
    store.add_many({"text": text, "id": id_} for id_, text in texts.items())
    assert store.pending(wait=True) == 0


def ids(results):
    return {hit.id for hit in results}


def everywhere(store, query):
    """What is found, which must be the same in every mode."""
    found = {mode: ids(store.search(query, mode=mode)) for mode in MODES}
    assert all(one == found["keyword"] for one in found.values()), found
    return found["keyword"]


def ranked(results):
    return [hit.id for hit in results]


class TestWholeDocuments:
    @pytest.mark.parametrize(("profile", "mode"), [("default", "keyword"), ("gno", "keyword")])
    def test_a_term_of_the_first_section_and_one_of_the_last_find_the_same_document(
        self, store, size, profile, mode
    ):
        """GN-6: by whole document, ahead of shorter documents that hold only one of the terms."""
        keep(
            store,
            both=f"# Harbour\n\nThe ferry leaves at dawn.\n\n{FILLER}\n\n# Kitchen\n\nA kettle.",
            first="The ferry leaves. The ferry, the ferry.",
            last="A kettle. Only a kettle.",
            neither="Something else entirely",
        )

        found = store.search("ferry kettle", profile=profile, mode=mode)

        assert ranked(found)[0] == "both"
        assert set(ranked(found)[1:3]) == {"first", "last"}
        assert len(found) == 3

    def test_the_chunks_of_a_document_fold_into_one_row(self, size):
        """R-4: in hybrid mode too, whichever of its chunks words and vectors liked."""
        with scrubjay.open(":memory:", embedder=HashingEmbedder()) as store:
            keep(store, a=f"The ferry leaves.\n\n{FILLER}\n\nA kettle.", b="A ferry", c="A kettle")
            for mode in MODES:
                found = ranked(store.search("ferry kettle", mode=mode))
                assert sorted(found) == ["a", "b", "c"]


class TestAllTermsFirst:
    def test_what_holds_every_term_comes_first_however_low_its_own_score(self, store, size):
        """GN-6, R-2: lifted, the score shown still never rises down the list."""
        keep(
            store,
            all=f"{FILLER} amber {FILLER} bronze {FILLER} copper",
            two="amber bronze amber bronze",
            one="copper copper copper",
            other=FILLER,
            another="unrelated",
            **{f"more{n}": f"unrelated number {n}" for n in range(12)},
        )

        found = store.search("amber bronze copper", mode="keyword")

        assert ranked(found)[0] == "all"
        assert ids(found) == {"all", "two", "one"}
        scores = [hit.score for hit in found]
        assert scores == sorted(scores, reverse=True)
        assert scores[0] > scores[1]
        raw = [hit.found["keyword"].score for hit in found]
        assert raw == sorted(raw, reverse=True)

    def test_complete_texts_keep_their_own_order(self, store, size):
        """GN-6: among those lifted the better one stays ahead."""
        keep(
            store,
            short="amber bronze",
            long=f"amber {FILLER} bronze",
            loud="amber amber amber amber",
            **{f"more{n}": f"unrelated number {n}" for n in range(12)},
        )

        assert ranked(store.search("amber bronze", mode="keyword"))[:2] == ["short", "long"]

    def test_words_that_most_texts_hold_still_put_complete_texts_first(self, store, size):
        """GN-6: where a term is worth next to nothing, what holds all is not lost among equals."""
        for n in range(60):
            text = "amber bronze" if n in (0, 1) else "amber" if n % 2 else "bronze"
            store.add(f"{text} note {n}", id=f"m{n:02}", created_at=f"2026-01-01T10:{n:02}")
        store.pending(wait=True)

        found = store.search("amber bronze", mode="keyword", limit=5)

        assert set(ranked(found)[:2]) == {"m00", "m01"}

    def test_equal_scores_are_ordered_by_age_then_id(self, size, clock):
        """R-5: also among those that were lifted."""
        with scrubjay.open(":memory:", embedder=False, clock=clock) as store:
            for id_, day in (("b", 1), ("a", 1), ("c", 2)):
                store.add(
                    "amber bronze", id=id_, created_at=f"2026-01-0{day}", namespace=f"n{id_}"
                )
            store.add("amber amber", id="z")

            assert ranked(store.search("amber bronze", mode="keyword")) == ["c", "a", "b", "z"]

    @pytest.mark.parametrize("limit", [1, 2, 3, 8])
    def test_any_term_fills_up_to_the_limit(self, store, size, limit):
        """GN-6, R-3: complete texts first, then as many others as there is room for."""
        keep(
            store,
            all="amber bronze copper",
            **{f"amber{n}": f"amber number {n}" for n in range(3)},
            **{f"copper{n}": f"copper number {n}" for n in range(3)},
            **{f"none{n}": f"nothing of it {n}" for n in range(20)},
        )

        found = store.search("amber bronze copper", mode="keyword", limit=limit)

        assert len(found) == min(limit, 7)
        assert ranked(found)[0] == "all"

    @pytest.mark.parametrize(
        "question",
        [
            "what on earth did the zookeeper say about the amber figurine?",
            "Could you please tell me whether anybody ever found amber in here",
            "amber zzzz qqqq xxxx",
            "why amber?",
        ],
    )
    def test_a_natural_question_never_returns_nothing_while_a_word_matches(
        self, store, size, question
    ):
        """GN-6."""
        keep(store, a="a piece of amber", b="nothing of the sort", c="still nothing")

        assert ranked(store.search(question, mode="keyword"))[0] == "a"

    def test_not_even_when_the_word_stands_in_a_text_of_another_language(self):
        """GN-6: a German question finds the English text that holds its word, stemmed otherwise."""
        with scrubjay.open(":memory:", embedder=False) as store:
            english = store.add("The server in the basement was repaired and is running again.")
            german = store.add(
                "Der alte Hund schläft den ganzen Tag auf dem Teppich in der Küche."
            )
            assert (english.language, german.language) == ("en", "de")

            found = store.search("Wo steht eigentlich der Server im Haus?", mode="keyword")

            assert ranked(found) == [english.id]


PHRASES = [
    ("the red kettle whistles", '"red kettle"', "a kettle of red enamel"),
    ("it is to be or not to be", '"to be or not"', "not be or to"),
    ("calls get_user_name(id) twice", '"get_user_name id"', "id get_user_name"),
    ("calls get_user_name(id) twice", '"user name"', "name of the user"),
    ("release v1.2.3 is out", '"v1.2.3 is out"', "out is v1.2.3"),
    ("1,000 items in stock", '"1000 items"', "items 1000"),
    ("in 2024 12 ships sank", '"2024 12 ships"', "12 ships 2024"),
    ("他在北京大学读书", '"北京大学"', "大学在北京"),
    ("日本語を検索する", '"日本語"', "本語日本"),
    ("use GPT模型 for this", '"GPT模型"', "模 型 GPT"),
    ("the word 北京大学 in English", '"word 北京大学"', "the word 大学"),
    ("Wir haben den Schlüssel", '"den Schlüssel"', "Schlüssel den"),
    ("C++ and C# code", '"C++ and C#"', "C# and C++"),
    ("see a/b/c.py there", '"see a/b/c.py"', "a/b/c.py see"),
    ("Noor's machine is here", '"Noor\'s machine"', "machine of Noor"),
    ("run rm -rf build now", '"rm -rf build"', "build rm rf"),
    ("a pre-edit hook", '"pre-edit hook"', "hook of pre edit"),
    ("мы нашли старые книги там", '"старые книги"', "книги старые"),
    ("party 🎉 tonight", '"party 🎉"', "🎉 party"),
]


class TestPhrases:
    @pytest.mark.parametrize(("text", "query", "scattered"), PHRASES)
    def test_a_phrase_binds_every_path(self, store, text, query, scattered):
        """GN-6: a vector neighbour that does not hold the phrase is not returned, nor looked up."""
        keep(store, right=text, scattered=scattered, near="nothing at all")

        assert everywhere(store, query) == {"right"}
        assert store.search(query).degraded == ()

    @pytest.mark.parametrize("where", ["title", "topics", "context"])
    def test_a_phrase_may_stand_in_any_field(self, store, where):
        """GN-6: by whole document, and that has a title, topics and a context."""
        value = ["red kettle"] if where == "topics" else "red kettle"
        kept = store.add("nothing to see", **{where: value})
        store.add("red and a kettle", title="a kettle that is red")
        store.pending(wait=True)

        assert everywhere(store, '"red kettle"') == {kept.id}

    def test_a_phrase_alone_that_stands_nowhere_gives_nothing(self, store):
        """GN-6: it binds; there is nothing else to search for."""
        keep(store, a="red paint on the kettle", b="a kettle, red")

        assert everywhere(store, '"red kettle"') == set()
        assert everywhere(store, 'the "red kettle"') == set()

    @pytest.mark.parametrize("mode", MODES)
    def test_beside_other_words_its_words_are_searched_instead_and_the_answer_says_so(
        self, store, mode
    ):
        """GN-6, R-6: a natural question never returns nothing."""
        keep(store, a="red paint on the kettle", b="unrelated")

        found = store.search('find "red kettle"', mode=mode)

        assert "a" in ids(found)
        assert "keywords: no text holds the phrase; its words were searched instead" in (
            found.degraded
        )

    def test_only_the_phrase_is_loosened(self, store):
        """GN-6: negations and beginnings beside it go on binding."""
        keep(
            store,
            a="red paint configured on the kettle",
            b="configured kettle with rust",
            c="red kettles? no: kettle, red",
        )

        found = store.search('paint "red kettle" config* -rust', mode="default")

        assert ids(found) == {"a"}

    def test_signs_inside_a_loosened_phrase_are_only_words(self, store):
        """GN-6: `-rf` and `foo*` inside quotes were never a negation or a beginning."""
        keep(store, a="rm with rf", b="nothing")

        found = store.search('zebra "rm -rf foo* never"', mode="keyword")

        assert ids(found) == {"a"}

    def test_a_phrase_outside_the_scope_does_not_count(self, store):
        """R-3: that another namespace holds the phrase changes nothing for this one."""
        store.add("red kettle", namespace="theirs")
        mine = store.add("kettle, red and shiny", namespace="mine")
        store.pending(wait=True)

        assert len(store.search('"red kettle"', namespace="mine")) == 0
        found = store.search('shiny "red kettle"', namespace="mine")
        assert ids(found) == {mine.id}
        assert "no text holds the phrase" in found.degraded[0]

    @pytest.mark.parametrize(
        "query",
        [
            "“red kettle”",
            "„red kettle“",
            "«red kettle»",
            "« red kettle »",
            '"red kettle”',
            "“red kettle”?",
        ],
    )
    def test_quotes_may_be_typographic(self, store, query):
        """Keyboards and word processors write them."""
        keep(store, right="the red kettle", wrong="kettle red")

        assert ids(store.search(query)) == {"right"}

    @pytest.mark.parametrize(
        "query", ["关于“北京大学”的文件", "「北京大学」", "关于「北京大学」的"]
    )
    def test_quotes_in_chinese_need_no_spaces(self, store, query):
        """GN-6: phrases bind in scripts without spaces."""
        keep(store, right="关于北京大学的文件", wrong="关于大学的北京文件")

        assert ids(store.search(query)) == {"right"}

    @pytest.mark.parametrize(
        "query",
        ['"red kettle', 'red kettle"', '"', '""', 'red "" kettle', 'red " kettle', '5" pipe red'],
    )
    def test_a_quote_without_its_partner_is_text(self, store, query):
        """GN-6: no input is a syntax error, and the words are searched."""
        keep(store, a="kettle red", b="nothing")

        expected = {"a"} if "red" in query else set()
        assert ids(store.search(query, mode="keyword")) == expected

    @pytest.mark.parametrize("mode", MODES)
    def test_a_phrase_is_found_in_the_language_of_the_text_it_quotes(self, store, mode):
        """GN-6: an English question may quote a German text."""
        german = store.add("Im Sommer wurden die alten Häuser am Hafen von der Stadt renoviert.")
        store.add("The old houses at the harbour were renovated by the city in the summer.")
        store.pending(wait=True)
        assert german.language == "de"

        found = store.search('which of the texts says "die alten Häuser"?', mode=mode)

        assert ids(found) == {german.id}


LITERAL = [
    ("run rm -rf build", "rm -rf"),
    ("run `rm -rf build`", "run -rf"),
    ("push with --force only", "push -force"),
    ("a pre-edit hook", "hook -edit"),
    ("a pre-edit hook", "hook -edit."),
    ("a pre-edit hook", "(hook -edit)"),
    ("use the flag `-v` here", "flag -v"),
    ("use the flag -V here", "flag -v"),
    ("chmod -R /srv", "chmod -R"),
    ("java -Xmx2g app", "java -Xmx2g"),
    ("gcc -std=c++11 main.c", "gcc -std=c++11"),
    ("das Vor-Häuser Amt", "Amt -Häuser"),
    ("tar [-xzf] file", "tar -xzf"),
    ("tar --xzf file", "tar -xzf"),
    ("run rm -rf build", "rm -rf*"),
    ("a pre-editing hook", "hook -edit*"),
]


class TestNegations:
    @pytest.mark.parametrize(
        ("query", "left_out"),
        [
            ("kettle -blue", {"blue", "both"}),
            ('kettle -"red one"', {"both"}),
            ("kettle -“red one”", {"both"}),
            ("kettle -blu*", {"blue", "both"}),
            ("kettle -blue -red", {"blue", "both", "red"}),
            ("kettle -blues", {"blue", "both"}),
            ("-blue kettle", {"blue", "both"}),
            ("kettle (not -blue)", {"blue", "both"}),
            ("kettle -blue, please", {"blue", "both"}),
            ('kettle -"one red"', set()),
            ("kettle -zebra", set()),
            ("kettle - blue", set()),
            ("kettle -5", set()),
        ],
    )
    def test_a_negation_binds_every_path(self, store, query, left_out):
        """GN-6: also what only its vector would have found."""
        texts = {
            "blue": "a blue kettle",
            "both": "a blue kettle and a red one kettle",
            "red": "a kettle that is red",
            "plain": "a kettle, 5 litres",
        }
        keep(store, **texts)

        assert everywhere(store, query) == texts.keys() - left_out

    @pytest.mark.parametrize("mode", ["vector", "default"])
    @pytest.mark.parametrize("query", ["kettle -blue", 'kettle "far away"', "kettle awa*"])
    def test_nearer_neighbours_that_are_excluded_do_not_crowd_out_what_is_allowed(
        self, mode, query
    ):
        """R-3: the vector index searches among what may be seen, not among everything."""
        with scrubjay.open(":memory:", embedder=HashingEmbedder()) as store:
            store.add_many({"text": f"kettle blue {n}"} for n in range(300))
            kept = store.add("something that is far away from all of it")
            store.pending(wait=True)

            assert ranked(store.search(query, mode=mode, limit=1)) == [kept.id]

    @pytest.mark.parametrize(("text", "query"), LITERAL)
    def test_a_negated_word_spares_a_text_that_holds_it_with_its_dash(self, store, text, query):
        """GN-6: `-word` never excludes a text that contains `-word` literally."""
        keep(store, right=text)

        assert everywhere(store, query) == {"right"}

    def test_a_word_without_its_dash_is_left_out_all_the_same(self, store):
        """GN-6: the other half."""
        keep(store, right="rm -rf build", wrong="rm rf build", hyphen="rm the rf-build")

        assert ids(store.search("rm -rf")) == {"right"}

    @pytest.mark.parametrize(
        ("query", "first"),
        [
            ("-rf", "flag"),
            ("--force", "force"),
            ('-"blue kettle"', "blue"),
            ("-rf -v", "flag"),
        ],
    )
    def test_a_query_of_negations_only_is_taken_literally(self, store, query, first):
        """GN-6."""
        keep(store, flag="rm -rf build", force="push --force", blue="a blue kettle", x="other")

        assert ranked(store.search(query, mode="keyword"))[0] == first

    def test_a_negated_word_of_chinese_is_left_out_as_a_whole(self, store):
        """GN-6: not each pair of its characters."""
        keep(store, expo="文件 上海世博会", shanghai="文件 上海", world="文件 世博")

        assert everywhere(store, "文件 -上海世博会") == {"shanghai", "world"}

    @pytest.mark.parametrize("mode", MODES)
    def test_a_negation_binds_in_every_language_of_the_store(self, store, mode):
        """GN-6: in the stems of the text, whatever the language of the question."""
        german = store.add("Im Sommer wurden die alten Häuser am Hafen von der Stadt renoviert.")
        english = store.add(
            "The old houses at the harbour were renovated by the city in the summer."
        )
        store.pending(wait=True)

        found = store.search("what was renovated in the summer by the city -Hauses", mode=mode)

        assert german.language == "de"
        assert ids(found) == {english.id}

    def test_a_dash_inside_a_word_an_address_or_code_is_no_negation(self, store):
        """GN-6: no input is a syntax error, and no sign works where it is only text."""
        for query in (
            "https://example.org/?q=-kettle",
            "x=-kettle",
            "tea-kettle",
            "a--kettle",
            "[-kettle]",
            "* -- kettle",
            "`cook -kettle`",
            "3-kettle",
            "–kettle",
        ):
            with scrubjay.open(":memory:", embedder=False) as store:
                kept = store.add("the kettle")
                assert ids(store.search(query, mode="keyword")) == {kept.id}, query

    @pytest.mark.parametrize("query", ["temperature -5", "temperature -5.5", "-5 temperature"])
    def test_a_negative_number_is_a_number(self, store, query):
        """GN-6: a negation begins with a letter."""
        keep(store, cold="temperature -5 and -5.5 today", warm="temperature 30")

        assert ranked(store.search(query, mode="keyword"))[0] == "cold"

    def test_many_negations_and_beginnings_are_no_error(self, store):
        """GN-6, R-6: no input is a syntax error; what was not read is told."""
        keep(store, a="kettle")
        for sign in ("-w{}", "w{}*", '"w{} x"', "-w{}*", '-"w{} x"'):
            found = store.search("kettle " + " ".join(sign.format(n) for n in range(3000)))
            assert ids(found) == {"a"}
            assert any("only the first 64 of" in reason for reason in found.degraded)


class TestBeginnings:
    @pytest.mark.parametrize(
        ("query", "text"),
        [
            ("config*", "the configuration of it"),
            ("configuratio*", "the configuration of it"),
            ("configuration*", "the configuration of it"),
            ("CONFIG*", "the configuration of it"),
            ("get_us*", "calls get_user_name()"),
            ("getUs*", "calls getUserName()"),
            ("v1.2*", "version v1.2.3 is out"),
            ("20*", "in 2024"),
            ("pre-ed*", "a pre-edit hook"),
            ("книг*", "мы нашли книги"),
            ("日本語*", "日本語を検索する"),
            ("日*", "日本語を検索する"),
            ("किता*", "वह किताब पढ़ता है"),
            ("ภาษา*", "ภาษาไทยง่าย"),
            ("relational*", "a relational database"),
            ("hopefu*", "she is hopeful"),
            ("library*", "the libraries of the town"),
            ("librar*", "a library"),
            ("copy*", "while copying it"),
            ("every*", "for every one"),
            ("writi*", "while writing it"),
            ("adjustm*", "after an adjustment"),
        ],
    )
    def test_a_beginning_binds_every_path(self, store, query, text):
        """GN-6: also one that is longer than the stem of the word; a neighbour without it is left out."""
        keep(store, right=text, near="nothing like that")

        assert everywhere(store, query) == {"right"}

    @pytest.mark.parametrize(
        "query",
        ["Häus*", "Häuser*", "haus*", "Renov*", "renoviert*", "Hafe*", "Somm*", "alte*", "Stadt*"],
    )
    def test_in_german_too(self, store, query):
        """GN-6: the beginning of a word that is stored as its German stem."""
        german = store.add("Im Sommer wurden die alten Häuser am Hafen von der Stadt renoviert.")
        store.add("Der Hund schläft den ganzen Tag auf dem Teppich in der Küche.")
        store.pending(wait=True)
        assert german.language == "de"

        assert everywhere(store, query) == {german.id}

    def test_a_star_elsewhere_is_text(self, store):
        """GN-6: no input is a syntax error."""
        keep(store, a="the kettle", b="nothing")
        for query in ("**kettle**", "*kettle", "kettle *", "kettle**", "kettle *.py", "(*kettle)"):
            assert "a" in ids(store.search(query, mode="keyword")), query

    def test_a_beginning_of_nothing_does_not_empty_a_question(self, store):
        """GN-6: beside other words it is one of them, and the answer says so."""
        keep(store, a="the kettle", b="nothing")

        found = store.search("kettle zebra*", mode="keyword")

        assert ids(found) == {"a"}
        assert any("no text holds" in reason for reason in found.degraded)
        assert len(store.search("zebra*")) == 0


IDENTIFIERS = [
    ("get_user_name", "calls get_user_name() here", "the user has a name to get"),
    ("getUserName", "calls getUserName() here", "the user has a name to get"),
    ("foo.bar()", "see foo.bar() for it", "foo and then bar"),
    ("v1.2.3", "since v1.2.3 it works", "v1 then 2 then 3"),
    ("a/b/c.py", "in a/b/c.py there", "c py"),
    ("src/scrubjay/asking.py", "in src/scrubjay/asking.py there", "src of scrubjay asking py"),
    ("HTTPServer", "an HTTPServer runs", "http on a server"),
    ("user@example.org", "mail user@example.org now", "user at example org"),
    ("pre-edit", "a pre-edit hook", "edit before pre"),
]


class TestIdentifiers:
    @pytest.mark.parametrize(("query", "whole", "parts"), IDENTIFIERS)
    def test_the_whole_is_asked_for_and_its_parts_only_where_it_is_nowhere(
        self, store, size, query, whole, parts
    ):
        """GN-6: parts of an identifier are tried only when the whole finds nothing."""
        keep(store, whole=whole, parts=parts, other="unrelated")
        assert ids(store.search(query, mode="keyword")) == {"whole"}

        store.forget("whole")

        assert ids(store.search(query, mode="keyword")) == {"parts"}

    @pytest.mark.parametrize(("query", "whole", "parts"), IDENTIFIERS)
    def test_nowhere_means_nowhere_in_the_scope(self, store, size, query, whole, parts):
        """GN-6, R-3: what another namespace holds does not keep the parts from being tried."""
        store.add(whole, namespace="theirs")
        mine = store.add(parts, namespace="mine")

        assert ids(store.search(query, mode="keyword", namespace="mine")) == {mine.id}

    @pytest.mark.parametrize(
        ("query", "right", "wrong"),
        [("C++", "written in C++", "written in C"), ("C#", "written in C#", "written in C++")],
    )
    def test_signs_that_belong_to_a_name_count(self, store, query, right, wrong):
        """Complaint 14: C++ is not C, nor C#."""
        keep(store, right=right, wrong=wrong)

        assert ids(store.search(query, mode="keyword")) == {"right"}

    def test_a_word_with_thousands_of_parts_is_an_answer_not_an_error(self, store):
        """GN-6: the first parts are tried."""
        keep(store, a="w0 and w1", b="nothing")

        assert ids(store.search(".".join(f"w{n}" for n in range(20_000)), mode="keyword")) == {"a"}


class TestHugeQueries:
    @pytest.mark.parametrize(
        "huge",
        [
            '"' + "a" * 100_000,
            '"' + "a " * 50_000,
            '" ' * 50_000,
            "-" * 100_000,
            "-a" * 50_000,
            "a*" * 50_000,
            "* " * 50_000,
            "“" * 100_000,
            '-"' * 50_000,
            "«" + "a" * 100_000,
        ],
        ids=range(10),
    )
    def test_a_hundred_kilobytes_of_signs_are_read_at_once(self, store, huge):
        """GN-6: no input is a syntax error, nor a way to stop a search for minutes."""
        from time import process_time

        keep(store, x="kettle")
        started = process_time()
        store.search(huge, mode="keyword")

        assert process_time() - started < 5

    def test_a_repeated_word_leaves_room_for_the_others(self, store):
        """The first 64 distinct terms are searched."""
        keep(store, a="zebra", b="nothing")

        found = store.search("word " * 200 + "zebra", mode="keyword")

        assert ids(found) == {"a"}
        assert found.degraded == ()


# -- R-3: a second opinion ----------------------------------------------------------------------

WORDS = ("amber", "bronze", "copper", "dust", "ember")
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
MEMORY = st.fixed_dictionaries(
    {
        "text": TEXT,
        "title": st.one_of(st.just(""), TEXT),
        "topics": st.lists(st.sampled_from(["red", "blue"]), max_size=2, unique=True),
        "namespace": st.sampled_from(["mine", "theirs"]),
        "type": st.sampled_from(["fact", "message"]),
        "owner": st.sampled_from([None, "ada", "bob"]),
        "agent": st.sampled_from([None, "x", "y"]),
        "session": st.sampled_from([None, "s1", "s2"]),
        "collection": st.sampled_from([None, "c1", "c2"]),
        "domain": st.sampled_from([None, "d1", "d2"]),
        "created_at": st.sampled_from(["2026-01-01", "2026-02-01", "2026-03-01"]),
    }
)
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "namespace": st.sampled_from(["mine", "theirs"]),
        "types": st.sampled_from([["fact"], ["message"], ["fact", "message"]]),
        "topics": st.sampled_from([["red"], ["blue"], ["red", "blue"]]),
        "owner": st.sampled_from(["ada", "bob"]),
        "agent": st.sampled_from(["x", "y"]),
        "session": st.sampled_from(["s1", "s2"]),
        "collection": st.sampled_from(["c1", "c2"]),
        "only_domain": st.sampled_from(["d1", "d2"]),
        "since": st.sampled_from(["2026-01-15", "2026-02-01"]),
        "until": st.sampled_from(["2026-02-01", "2026-02-15"]),
    },
)
PAIR = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2)
SIGNS = st.fixed_dictionaries(
    {
        "words": st.lists(st.sampled_from(WORDS), max_size=2),
        "phrases": st.lists(PAIR, max_size=1),
        "lacks": st.lists(PAIR, max_size=2),
        "begun": st.lists(st.sampled_from(["am", "bron", "copp", "em"]), max_size=1),
    }
)


def passes(memory, filters):
    """The filters of search(), written a second time."""
    simple = {"namespace": "namespace", "owner": "owner", "agent": "agent", "session": "session"}
    simple |= {"collection": "collection", "only_domain": "domain"}
    return (
        all(memory[field] == filters[name] for name, field in simple.items() if name in filters)
        and memory["type"] in filters.get("types", [memory["type"]])
        and ("topics" not in filters or bool(set(memory["topics"]) & set(filters["topics"])))
        and filters.get("since", "2000") <= memory["created_at"] <= filters.get("until", "3000")
    )


def holds(memory, run):
    """True when one field holds the words side by side; `run` may end in a star."""
    for field in (memory["title"], memory["text"], " ".join(memory["topics"])):
        found = tokens(field)
        for at in range(len(found)):
            if found[at : at + len(run)] == tokens(" ".join(run)):
                return True
    return False


def begins(memory, beginning):
    fields = (memory["title"], memory["text"], " ".join(memory["topics"]))
    return any(word.startswith(beginning) for field in fields for word in field.split())


@settings(max_examples=60)
@given(memories=st.lists(MEMORY, min_size=1, max_size=8), filters=FILTERS, signs=SIGNS)
def test_no_path_returns_what_a_filter_a_phrase_or_a_negation_excludes(memories, filters, signs):
    """R-3, GN-6: every mode agrees with a filter over the plain texts."""
    query = " ".join(
        (
            *signs["words"],
            *(f'"{" ".join(one)}"' for one in signs["phrases"]),
            *(f"{one}*" for one in signs["begun"]),
            *(f'-"{" ".join(one)}"' for one in signs["lacks"]),
        )
    )
    bound = bool(signs["phrases"] or signs["begun"])
    allowed = {
        f"m{n}"
        for n, one in enumerate(memories)
        if passes(one, filters)
        and not any(holds(one, run) for run in signs["lacks"])
        and all(holds(one, run) for run in signs["phrases"])
        and all(begins(one, beginning) for beginning in signs["begun"])
    }
    with scrubjay.open(":memory:", embedder=EverythingIsNear()) as store:
        store.add_many({**one, "id": f"m{n}"} for n, one in enumerate(memories))
        store.pending(wait=True)
        for mode in ("keyword", "vector", "default"):
            found = store.search(query, mode=mode, limit=20, **filters)
            if any("searched instead" in reason for reason in found.degraded):
                assert not allowed
                assert all(passes(memories[int(one[1:])], filters) for one in ids(found))
                continue
            if not signs["words"] and not bound:
                continue  # nothing, or negations only: taken literally
            assert ids(found) <= allowed
            scores = [hit.score for hit in found]
            assert scores == sorted(scores, reverse=True)
            if bound or mode != "keyword":
                assert ids(found) == allowed
            else:
                wanted = {
                    one
                    for one in allowed
                    if any(holds(memories[int(one[1:])], [word]) for word in signs["words"])
                }
                # A short message is found by the words of those beside it, too.
                more = ids(found) - wanted
                assert wanted <= ids(found)
                assert all(memories[int(one[1:])]["type"] == "message" for one in more)


def test_what_a_long_question_quotes_does_not_bind():
    """A title in a question of nine other words is no wish to see nothing else; in a short one it is."""
    with scrubjay.open(":memory:", embedder=False) as store:
        other = store.add("Caroline learned patience from her reading")
        store.add("Becoming Nicole is a book")
        long = 'What did Caroline learn last summer when she finished reading "Becoming Nicole"?'
        short = 'Caroline "Becoming Nicole"'

        assert other.id in [hit.id for hit in store.search(long, mode="keyword")]
        assert other.id not in [hit.id for hit in store.search(short, mode="keyword")]
