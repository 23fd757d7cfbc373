"""GN-5: variants keep what a query means exactly, exclude nothing on their own, and stay with it."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scrubjay.search.expansion import Expansion
from scrubjay.search.expansion.guardrails import guarded, must_keep
from scrubjay.text.analysis import fold, words
from scrubjay.text.query_syntax import parse_query


def never(_variant: str) -> float | None:
    """A cosine that nobody should ask for."""
    raise AssertionError("this variant needs no cosine")


def lexical(variants, query, *, language="en", cosine=lambda _variant: None):
    """The keyword variants that are left of these."""
    found, notes = guarded(Expansion(tuple(variants)), query, language=language, cosine=cosine)
    assert all(note.startswith("lexical variant ") for note in notes)
    return found.lexical


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("how do I deploy to production", ()),
        ('crash "missing key" in tests', ('"missing key"',)),
        ('deploy -docker -"blue green"', ("-docker", '-"blue green"')),
        ("deploy -docker, -Windows!", ("-docker", "-Windows")),
        ("config* for nginx -test*", ("config*", "-test*")),
        ("rename load_config to useEffect in foo.bar.baz", ("load_config", "useEffect", "foo.bar.baz")),
        ("rust E0502 and utf8 on python3", ("E0502", "utf8", "python3")),
        ("C++ or C#, v1.2.3 or 3.12?", ("C++", "C#", "v1.2.3", "3.12")),
        ("edit /etc/nginx.conf, ~/.bashrc and .gitignore.", ("/etc/nginx.conf", "~/.bashrc", ".gitignore")),
        (r"what is in C:\temp\x.txt", (r"C:\temp\x.txt",)),
        ("call parse(load_config, 'a_b')", ("load_config", "a_b")),
        ("std::vector<int> size", ("std::vector",)),
        ("git push --force -v", ("--force", "-v")),
        ("tar (-xzf) options", ()),
        ("error 404 in 3 of 12 tests", ("404",)),
        ("$HOME and @property for user@host.org", ("$HOME", "@property", "user@host.org")),
        ("don't use state-of-the-art and/or e.g. Jean-Luc's", ()),
        ("E0502 e0502 E0502", ("E0502",)),
        ("-rf", ()),
        ('"" - * "', ()),
        ("", ()),
        ("Fehler „Datei fehlt“ in größe_max -Windows", ("„Datei fehlt“", "größe_max", "-Windows")),
        ("z.B. l'homme Baden-Württemberg", ()),
        ('查找"配置文件"里的parse_date函数，错误E0502', ('"配置文件"', "parse_date", "E0502")),
        ("「設定ファイル」の場所", ("「設定ファイル」",)),
        ("parse_date를 사용", ("parse_date",)),
        ('خطأ في load_config "ملف مفقود" -دوكر', ("load_config", '"ملف مفقود"', "-دوكر")),
        ("हिन्दी में useEffect", ("useEffect",)),
    ],
)  # fmt: skip
def test_what_must_be_kept(query, kept):
    """GN-5: phrases, negations and identifiers, as written and in order; plain words are free."""
    assert must_keep(query) == kept


@pytest.mark.parametrize(
    ("query", "variant", "expected"),
    [
        ('crash "missing key"', "crash absent key", 'crash absent key "missing key"'),
        ('crash "missing key"', 'crash fault "Missing  Key"', 'crash fault "Missing Key"'),
        (
            'crash "missing key"',
            "crash, missing key fault",
            'crash, missing key fault "missing key"',
        ),
        ("deploy -docker", "deploy release", "deploy release -docker"),
        ("deploy -docker", "release -Docker deploy", "release -Docker deploy"),
        ("deploy -docker", "deploy docker image", "deploy docker image -docker"),
        ('deploy -"blue green" now', "deploy today", 'deploy today -"blue green"'),
        ("config* nginx", "nginx settings", "nginx settings config*"),
        ("why load_config fails", "LOAD_CONFIG failing", "LOAD_CONFIG failing"),
        ("why load_config fails", "load_configs failing", "load_configs failing load_config"),
        ("why load_config fails", "app.load_config() failing", "app.load_config() failing"),
        ("learn C++", "learn C", "learn C C++"),
        ("learn C++", "learn c++, quickly", "learn c++, quickly"),
        ("rust E0502", "rust borrow checker E05021", "rust borrow checker E05021 E0502"),
        ("git push --force", "git push overwrite", "git push overwrite --force"),
        ("Fehler „Datei fehlt“", 'Fehlern "Datei fehlt"', 'Fehlern "Datei fehlt"'),
        ("使用parse_date函数", "调用parse_date的函数", "调用parse_date的函数"),
        ("使用parse_date函数", "函数用法", "函数用法 parse_date"),
        ("خطأ load_config -دوكر", "خطأ في التحميل", "خطأ في التحميل load_config -دوكر"),
    ],
)
def test_what_a_variant_lost_is_added(query, variant, expected):
    """GN-5: with its signs, and only where it is not there already, at the ends of words in any case."""
    assert lexical([variant], query) == (expected,)


@pytest.mark.parametrize(
    ("query", "variant", "expected"),
    [
        ("deploy app", "deploy -docker image", "deploy docker image"),
        ("deploy app", 'deploy "the app" now', "deploy the app now"),
        ("deploy app", 'deploy -"the app" now', "deploy the app now"),
        ("deploy app", 'deploy "-docker" now', "deploy docker now"),
        ("deploy app", "deploy appl*", "deploy appl"),
        ("deploy app", 'deploy "app', "deploy app"),
        ("deploy app", "deploy --force", "deploy --force"),
        ('deploy "an app"', 'deploy "the service', 'deploy the service "an app"'),
        ("deploy docker", "-docker deploy swarm", "docker deploy swarm"),
        ("部署应用", "部署「应用」程序", "部署 应用 程序"),
        ("App bereitstellen", "App „sofort starten“ -Windows", "App sofort starten Windows"),
        ("-rf", "delete -rf recursively", "delete rf recursively"),
    ],
)
def test_a_variant_has_no_signs_of_its_own(query, variant, expected):
    """GN-5: a model that writes -foo must not exclude anything, nor demand a phrase."""
    found = lexical([variant], query)

    assert found == ((expected,) if expected != query else ())


@pytest.mark.parametrize(
    ("query", "language", "variant"),
    [
        ("how to deploy the app", "en", "deployment of applications"),
        ("Häuser kaufen", "de", "Haus Kauf"),
        ("Häuser kaufen", "", "Haus erwerben"),
        ("why does load_config fail", "en", "config file error"),
        ("如何部署应用程序", "zh", "应用发布步骤"),
        ("كيف أنشر التطبيقات", "ar", "نشر التطبيق"),
        ("как развернуть приложения", "ru", "приложение установка"),
    ],
)
def test_a_variant_that_shares_a_stem_stays_without_asking(query, language, variant):
    """GN-5: stems are those of the query's language; the cosine is not even asked for."""
    found = lexical([variant], query, language=language, cosine=never)

    assert found[0].startswith(variant)


@pytest.mark.parametrize(
    ("query", "language", "variant"),
    [
        ("how to deploy the app", "en", "how to bake the bread"),
        ("how to deploy the app", "", "banana bread"),
        ("deploy -docker", "en", "docker"),
        ("wie richte ich das Netzwerk ein", "de", "ich backe das Brot"),
        ("如何部署应用程序", "zh", "面包烘焙"),
        ("كيف أنشر التطبيقات", "ar", "خبز طازج"),
        ("why does load_config fail", "en", "yeast dough"),
    ],
)
@pytest.mark.parametrize(
    ("near", "stays"), [(0.29, False), (0.3, True), (-1.0, False), (None, True)]
)
def test_a_variant_without_a_common_stem_needs_to_be_near(query, language, variant, near, stays):
    """GN-5: under cosine 0.3 it is dropped; function words and negated ones are nothing in common."""
    asked = []

    def cosine(text):
        asked.append(text)
        return near

    found, notes = guarded(Expansion((variant,)), query, language=language, cosine=cosine)

    assert asked == [variant]
    assert bool(found.lexical) is stays
    assert any("no word in common" in note for note in notes) is not stays


def test_sentences_and_passages_are_exempt():
    """GN-5: meaning may be put in any words; only what repeats the query goes."""
    query = 'deploy "my app" to production'
    given_ = Expansion(
        (), ("baking bread", "Deploy my app to  PRODUCTION?", "-x"), "Bread is baked."
    )

    found, notes = guarded(given_, query, language="en", cosine=never)

    assert found == Expansion((), ("baking bread", "-x"), "Bread is baked.")
    assert notes == (
        "semantic variant 'Deploy my app to  PRODUCTION?' dropped: it adds nothing to the query",
    )


@pytest.mark.parametrize(
    ("query", "variants", "expected"),
    [
        ("deploy app", ("Deploy  App", "deploy an app"), ("deploy an app",)),
        ("deploy -docker", ("deploy",), ()),
        ("deploy -docker", ("-docker", "docker -docker"), ("docker -docker",)),
        (
            "deploy app",
            ('"deploy app"', "deploy service", 'deploy "service"'),
            ("deploy service",),
        ),
        ("deploy app", ('""', "- *"), ()),
        ("部署应用", ("部署应用", "应用部署"), ("应用部署",)),
    ],
)
def test_what_says_no_more_than_the_query_goes(query, variants, expected):
    """GN-5: a variant equal to the query, or to another once it is guarded, is only a search twice."""
    assert lexical(variants, query) == expected


def test_every_change_is_told():
    """GN-5: the explanation says what was done to which variant, and why."""
    given_ = Expansion(("ship -it load_config", "deployment", "bread", "DEPLOY load_config"))

    found, notes = guarded(
        given_,
        "deploy load_config",
        language="en",
        cosine=lambda text: 0.9 if text != "bread" else 0.123,
    )

    assert found.lexical == ("ship it load_config", "deployment load_config")
    assert notes == (
        "lexical variant 'ship -it load_config': operators that the query does not have were removed",
        "lexical variant 'deployment': added load_config",
        "lexical variant 'bread' dropped:"
        " no word in common with the query, and its cosine 0.12 is under 0.3",
        "lexical variant 'DEPLOY load_config' dropped: it adds nothing to the query",
    )


def test_what_is_good_stays_as_it_is():
    """GN-5: nothing to do, nothing said."""
    given_ = Expansion(("deploy service",), ("How is it shipped?",), "Ship it.")

    assert guarded(given_, "deploy app", language="", cosine=never) == (given_, ())


MARKS = (
    '"',
    "-",
    "*",
    " ",
    " -",
    ' "',
    '" ',
    "“",
    "”",
    "«",
    "「",
    "」",
    "a_b",
    "Foo",
    "部署",
    "x.y",
    "خطأ",
)
text = st.one_of(st.text(max_size=30), st.lists(st.sampled_from(MARKS), max_size=12).map("".join))


@given(text, text)
@example("(-v) x", "y")
@example('"a" b', 'c "')
@example("deploy -a", '-"a" -b "-c"')
@settings(deadline=None, max_examples=200)
def test_no_variant_excludes_or_demands_what_the_query_does_not(query, variant):
    """GN-5: for any two strings; and what must be kept is in what is left."""
    found, _ = guarded(Expansion((variant,)), query, language="", cosine=lambda _text: None)

    wanted = parse_query(query)
    for one in found.lexical:
        made = parse_query(one)
        assert not made.literal
        assert set(made.lacks) == set(wanted.lacks)
        assert set(made.holds) <= set(wanted.holds)
        for kept in must_keep(query):
            assert all(fold(word) in fold(one) for word in words(kept.strip('-*"“”„«»「」『』')))
