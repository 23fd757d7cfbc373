"""Files of the web UI: served from the package, cached, under a strict content security policy."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest

from scrubjay.surfaces.render.facts import verdict_words
from scrubjay.types import VERDICTS

FOLDER = files("scrubjay.surfaces") / "web"
FILES = {
    path.relative_to(FOLDER).as_posix(): path.read_text("utf-8")
    for path in Path(str(FOLDER)).rglob("*")
    if path.is_file()
}
SCRIPTS = {name: text for name, text in FILES.items() if name.endswith(".js")}
TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


def test_browsers_get_the_web_ui_and_programs_json(shared):
    """At one address, by the Accept header; without an API key."""
    page = shared.get("/", Accept="text/html,application/xhtml+xml,*/*;q=0.8")
    assert page.body.decode() == FILES["index.html"]
    assert page.headers["content-type"] == TYPES["html"]
    assert shared.get("/", Accept="*/*").json["name"] == "scrubjay"
    assert {shared.get("/", Accept=one).headers["vary"] for one in ("text/html", "*/*")} == {
        "Accept"
    }


def test_every_file_is_served_as_what_it_is_and_never_run_as_another(shared):
    """With the content security policy: own scripts only, no frames, no forms, no HTML from text."""
    for name, text in FILES.items():
        answer = shared.get(f"/ui/{name}")
        assert answer.body.decode() == text
        assert answer.headers["content-type"] == TYPES[name.rpartition(".")[2]]
        assert answer.headers["x-content-type-options"] == "nosniff"
        policy = answer.headers["content-security-policy"].split("; ")
        assert {"default-src 'none'", "script-src 'self'", "connect-src 'self'"} <= set(policy)
        assert {"frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"} <= set(policy)
        assert "require-trusted-types-for 'script'" in policy
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert not any("unsafe" in one or "*" in one for one in policy)


def test_the_window_has_no_opener(shared):
    """Only over TLS: elsewhere the header would be an error in the browser's console."""
    opener = "cross-origin-opener-policy"
    for path in ("/", "/ui/index.html"):
        by_tls = shared.get(path, Accept="text/html", Sec_Fetch_Dest="document")
        assert by_tls.headers[opener] == "same-origin"
        assert opener not in shared.get(path, Accept="text/html").headers


def test_an_unchanged_file_is_not_sent_again(shared):
    """A browser revalidates each time, so that an upgrade is visible at once."""
    first = shared.get("/ui/app/main.js")
    tag = first.headers["etag"]
    assert first.headers["cache-control"] == "no-cache"
    for known in (tag, f'"other", W/{tag}'):
        again = shared.get("/ui/app/main.js", If_None_Match=known)
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
        assert again.headers["cache-control"] == "no-cache"
    assert shared.get("/ui/app/main.js", If_None_Match='"other"').status == 200
    assert shared.get("/", Accept="text/html", If_None_Match=tag).status == 200
    head = shared.ask("HEAD", "/ui/app/main.js")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(first.body))


@pytest.mark.parametrize(
    "name", ["nothing.js", "__init__.py", "app", "app/main.js/", "main.js", "", "Main.js", "index"]
)
def test_there_are_no_other_files(shared, name):
    """Names are looked up in a list, not on the disk."""
    assert shared.get(f"/ui/{name}").status == 404


def test_scripts_make_no_html():
    """Stored text stays text: no script turns it into elements or code."""
    forbidden = r"(?:inner|outer)HTML|insertAdjacentHTML|document\.write|eval\(|new Function"
    for name, text in SCRIPTS.items():
        assert re.findall(forbidden, text) == [], name
    inline = r"<script(?! type=\"module\" src)|<style|\sstyle=|\son\w+="
    assert re.findall(inline, FILES["index.html"]) == []


def imported(name: str, static: bool) -> set[str]:
    """The scripts that a script imports, statically or dynamically."""
    way = r"^(?:import|export)[^;]*?" if static else r"import\("
    found = re.findall(way + r"[\"'](\.{1,2}/[\w./-]+\.js)[\"']", SCRIPTS[name], re.M)
    return {normpath(join(dirname(name), path)) for path in found}


def test_every_file_that_is_loaded_exists():
    """Files named in index.html and in imports; and no script is unused."""
    named = set(re.findall(r"/ui/([\w./-]+)", FILES["index.html"]))
    for name in SCRIPTS:
        named |= imported(name, static=True) | imported(name, static=False)
    assert {"app/main.js", "app/sign_in.js", "app/style.css"} < named <= set(FILES)
    assert set(SCRIPTS) <= named


def test_what_the_first_view_needs_is_preloaded():
    """Without this a browser finds the modules one level of imports after the other."""
    needed, left = {"app/main.js"}, {"app/main.js", "search/search.js"}
    while left:
        name = left.pop()
        needed.add(name)
        left |= imported(name, static=True) - needed
    listed = re.findall(r'<link rel="modulepreload" href="/ui/([\w./-]+)">', FILES["index.html"])
    assert sorted(listed) == sorted(needed - {"app/main.js"})


def test_the_words_in_the_scripts_are_those_of_the_package():
    """The JSON of a search has no words for its verdict, so a script repeats them."""
    verdicts = re.search(r"const VERDICTS = {(.*?)};", SCRIPTS["search/answer.js"], re.S)
    assert verdicts is not None
    words = re.findall(r'"?(\w[\w ]*?)"?: "([\w ]+)"', verdicts[1])
    assert dict(words) == {verdict: verdict_words(verdict) for verdict in VERDICTS}
