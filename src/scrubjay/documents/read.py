"""Read a file into documents: choose the reader by the file's name, and decode its bytes."""

from __future__ import annotations

import codecs
import os
import re
from functools import cache
from importlib.util import find_spec

from scrubjay.documents import Document, Unreadable, docx, html, pdf
from scrubjay.documents.chat import read_chat
from scrubjay.documents.code import has_parser
from scrubjay.documents.markup import read_markdown, read_rst

INSTALL = 'pip install "scrubjay[files]"'
# Raised when a reader returns other documents for the same bytes: stored files are then read again.
_VERSION = 1
_LATER_VERSIONS = {"markdown": 1}  # added for single readers
_NEEDS = {"html": html.PACKAGES, "pdf": pdf.PACKAGES, "docx": docx.PACKAGES}

# Reader → extensions. A file with any other extension is text, unless its bytes are binary.
_READERS = {
    "markdown": "md markdown mdown mkd mkdn mdx qmd rmd",
    "html": "html htm xhtml",
    "rst": "rst rest",
    "pdf": "pdf",
    "docx": "docx docm",
    "chat": "json jsonl ndjson",
    "text": "txt text log csv tsv org adoc asciidoc tex bib srt vtt",
}
# Language → extensions. Languages with a grammar in `code` get an outline.
_CODE = {
    "python": "py pyi pyw",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c",
    "cpp": "cc cpp cxx c++ h hh hpp hxx ipp inl cu cuh",
    "csharp": "cs csx",
    "ruby": "rb rake gemspec ru",
    "php": "php phtml",
    "bash": "sh bash zsh ksh",
    "fish": "fish",
    "powershell": "ps1 psm1 psd1",
    "batch": "bat cmd",
    "kotlin": "kt kts",
    "swift": "swift",
    "scala": "scala sc sbt",
    "groovy": "groovy gradle",
    "clojure": "clj cljs cljc edn",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "haskell": "hs lhs",
    "ocaml": "ml mli",
    "fsharp": "fs fsx fsi",
    "visualbasic": "vb vbs bas",
    "lua": "lua",
    "perl": "pl pm",
    "r": "r",
    "julia": "jl",
    "dart": "dart",
    "zig": "zig",
    "nim": "nim",
    "crystal": "cr",
    "d": "d",
    "objectivec": "m mm",
    "pascal": "pas pp",
    "fortran": "f f77 f90 f95 f03 for",
    "ada": "adb ads",
    "cobol": "cob cbl",
    "lisp": "lisp lsp cl el",
    "scheme": "scm ss rkt",
    "prolog": "pro",
    "assembly": "asm s",
    "verilog": "v sv svh",
    "vhdl": "vhd vhdl",
    "solidity": "sol",
    "glsl": "glsl vert frag hlsl wgsl",
    "sql": "sql",
    "graphql": "graphql gql",
    "protobuf": "proto",
    "thrift": "thrift",
    "css": "css scss sass less styl",
    "vue": "vue",
    "svelte": "svelte",
    "astro": "astro",
    "xml": "xml xsd xsl xslt svg plist rss atom",
    "yaml": "yaml yml",
    "toml": "toml",
    "ini": "ini cfg conf properties env editorconfig",
    "json5": "json5 jsonc",
    "hcl": "tf tfvars hcl",
    "nix": "nix",
    "cmake": "cmake",
    "make": "mk mak",
    "diff": "diff patch",
    "awk": "awk",
    "vim": "vim",
    "jinja": "j2 jinja jinja2 tmpl",
}
_NAMES = {
    "makefile": "make",
    "gnumakefile": "make",
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "jenkinsfile": "groovy",
    "vagrantfile": "ruby",
    "gemfile": "ruby",
    "rakefile": "ruby",
    "podfile": "ruby",
    "cmakelists.txt": "cmake",
    "license": "text",
    "licence": "text",
    "copying": "text",
    "notice": "text",
    "authors": "text",
    "contributors": "text",
    "changelog": "text",
    "readme": "text",
    "todo": "text",
    "install": "text",
    "news": "text",
}
_BINARY = frozenset(
    """png jpg jpeg jpe gif bmp ico icns tif tiff webp avif heic heif psd ai eps raw cr2 nef xcf
    mp3 wav flac ogg oga opus m4a aac wma aiff mid midi mp4 m4v mkv mov avi wmv webm mpg mpeg flv 3gp
    zip gz tgz bz2 tbz xz txz zst lz lz4 lzma 7z rar tar cab iso dmg img jar war ear apk aar deb rpm
    msi whl egg exe dll so dylib o a obj lib bin com elf ko wasm class pyc pyo pyd beam node
    sqlite sqlite3 db db3 db-wal db-shm mdb accdb dbf ldb parquet arrow feather orc avro h5 hdf5 npy npz
    pkl pickle joblib pt pth ckpt safetensors onnx tflite gguf ggml mlmodel
    woff woff2 ttf otf eot ttc doc dot xls xlsx xlsm xlsb ppt pptx pps odt ods odp odg pages numbers
    key epub mobi azw azw3 djvu chm ps rtfd swf fla blend fbx glb stl dwg dxf keystore jks p12 pfx der
    crx xpi snap swp ds_store mo gmo rdb aof pcap cap dmp""".split()
)

_BY_EXTENSION = {
    extension: kind for kind, names in (_READERS | _CODE).items() for extension in names.split()
}
_HEAD_BYTES = 8192
_DECLARED = re.compile(
    rb"""charset\s*=\s*["']?\s*([\w.:-]+)|encoding\s*=\s*["']([\w.:-]+)["']""", re.I
)
# Browsers read these two as cp1252. Other codecs of Python (`unicode_escape`, `zip`) are not charsets.
_AS_BROWSERS = {"iso8859-1": "cp1252", "ascii": "cp1252"}
_CHARSETS = re.compile(
    r"iso8859-\d+|cp125\d|cp866|cp874|cp932|cp949|koi8-[ru]|gb2312|gbk|gb18030|big5|big5hkscs"
    r"|shift_jis|euc_jp|euc_kr|iso2022_jp|tis-620|mac-\w+"
)


def reader_of(path: str) -> str:
    """Return the reader of a path with its version; if that changes, the file is read again."""
    kind = kind_of(path)
    if not _is_installed(kind):
        return f"{kind}/0"
    return f"{kind}/{_VERSION + _LATER_VERSIONS.get(kind, 0)}{'+tree-sitter' if has_parser(kind) else ''}"


def read(path: str, data: bytes) -> list[Document]:
    """Return the documents in a file; raise Unreadable, and nothing else, if there are none."""
    if is_binary_name(path):
        raise Unreadable("binary, not text", failed=False)
    kind = kind_of(path)
    if not data.strip():
        raise Unreadable("empty", failed=False)
    if not _is_installed(kind):
        raise Unreadable(f"needs: {INSTALL}", failed=True)
    return _read(kind, data)


def _read(kind: str, data: bytes) -> list[Document]:
    match kind:
        case "pdf":
            return [pdf.read_pdf(data)]
        case "docx":
            return [docx.read_docx(data)]
        case "html":
            return [html.read_html(decode_html(data))]
    text = decode(data)
    match kind:
        case "markdown":
            return [read_markdown(text)]
        case "rst":
            return [read_rst(text)]
        case "chat":
            return read_chat(text)
    return [Document(text, format=kind if is_code(kind) else "text")]


def kind_of(path: str) -> str:
    """Return the reader of a path, or the language of a code file; `text` for an unknown name."""
    name, extension = _name_and_extension(path)
    return _NAMES.get(name) or _BY_EXTENSION.get(extension, "text")


def is_binary_name(path: str) -> bool:
    """True when the extension is that of an image, sound, archive, program …"""
    return _name_and_extension(path)[1] in _BINARY


def is_code(kind: str) -> bool:
    """True when a kind is a programming language."""
    return kind not in _READERS


def _name_and_extension(path: str) -> tuple[str, str]:
    name = os.path.basename(path).lower()
    return name, name.rpartition(".")[2] if "." in name else ""


@cache
def _is_installed(kind: str) -> bool:
    return all(find_spec(package) is not None for package in _NEEDS.get(kind, ()))


def decode(data: bytes) -> str:
    """Return UTF-8 text, or UTF-16 with a BOM; raise Unreadable for anything else and for empty text."""
    return _not_empty(_unicode(data))


def decode_html(data: bytes) -> str:
    """Return the text of an HTML page in the charset that it declares, unless it has a BOM."""
    declared = None if _is_utf16(data) else _declared(data[:_HEAD_BYTES])
    if declared is None or b"\0" in data:
        return decode(data)
    try:
        return _not_empty(data.decode(declared))
    except UnicodeError:
        return decode(data)


def _unicode(data: bytes) -> str:
    if not _is_utf16(data) and b"\0" in data:
        raise Unreadable("binary, not text", failed=False)
    try:
        text = data.decode("utf-16" if _is_utf16(data) else "utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8 text; convert it first", failed=True) from None
    if "\0" in text:
        raise Unreadable("binary, not text", failed=False)
    return text


def _is_utf16(data: bytes) -> bool:
    return data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _not_empty(text: str) -> str:
    if not text.strip():
        raise Unreadable("empty", failed=False)
    return text


def _declared(head: bytes) -> str | None:
    found = _DECLARED.search(head)
    if found is None:
        return None
    label = (found[1] or found[2]).decode("ascii", "replace")
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return None
    name = _AS_BROWSERS.get(name, name)
    return name if _CHARSETS.fullmatch(name) else None
