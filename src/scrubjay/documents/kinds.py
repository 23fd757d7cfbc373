"""Which reader a file gets, by its name alone: tables, and the functions that look into them."""

from __future__ import annotations

import os

# Reader → extensions. What is in no table is text, unless its bytes say otherwise.
_READERS = {
    "markdown": "md markdown mdown mkd mkdn mdx qmd rmd",
    "html": "html htm xhtml",
    "rst": "rst rest",
    "pdf": "pdf",
    "docx": "docx docm",
    "chat": "json jsonl ndjson",
    "text": "txt text log csv tsv org adoc asciidoc tex bib srt vtt",
}
# A language and the extensions of its files; those with a grammar get an outline as well.
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
    extension: kind for kind, all_ in (_READERS | _CODE).items() for extension in all_.split()
}


def kind_of(path: str) -> str:
    """Return the reader of a path, or the language of a code file; `text` when nothing is known of it."""
    name, extension = _name_and_extension(path)
    return _NAMES.get(name) or _BY_EXTENSION.get(extension, "text")


def is_binary_name(path: str) -> bool:
    """True when a name promises pictures, sound, archives, programs …: no need to open the file."""
    return _name_and_extension(path)[1] in _BINARY


def is_code(kind: str) -> bool:
    """True when a kind is a language and not a reader of its own."""
    return kind not in _READERS


def _name_and_extension(path: str) -> tuple[str, str]:
    name = os.path.basename(path).lower()
    return name, name.rpartition(".")[2] if "." in name else ""
