"""What counts as a definition in each language, and the package that brings its grammar: data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Grammar(NamedTuple):
    """A language: its package, the function in it, and the nodes that matter.

    `definitions` maps a node to the word before its name; `inside` names those that others may stand in;
    `leading` are comments and attributes, which belong to the definition they stand above; `around`
    are nodes that wrap a definition and begin before it.
    """

    package: str
    definitions: Mapping[str, str]
    inside: tuple[str, ...]
    leading: tuple[str, ...] = ("comment",)
    around: tuple[str, ...] = ()
    function: str = "language"


_JAVASCRIPT = {
    "class_declaration": "class",
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "method_definition": "method",
    "variable_declarator": "const",
}
_TYPESCRIPT = _JAVASCRIPT | {
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "type_alias_declaration": "type",
    "internal_module": "namespace",
}
_JAVASCRIPT_INSIDE = ("class_declaration", "abstract_class_declaration", "internal_module")
_C = {
    "function_definition": "function",
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
    "type_definition": "typedef",
}

LANGUAGES: Mapping[str, Grammar] = {
    "python": Grammar(
        "tree_sitter_python",
        {"class_definition": "class", "function_definition": "def"},
        inside=("class_definition",),
        around=("decorated_definition",),
    ),
    "javascript": Grammar(
        "tree_sitter_javascript",
        _JAVASCRIPT,
        inside=_JAVASCRIPT_INSIDE[:1],
        leading=("comment", "decorator"),
        around=("export_statement", "lexical_declaration", "variable_declaration"),
    ),
    "typescript": Grammar(
        "tree_sitter_typescript",
        _TYPESCRIPT,
        inside=_JAVASCRIPT_INSIDE,
        leading=("comment", "decorator"),
        around=("export_statement", "lexical_declaration", "variable_declaration"),
        function="language_typescript",
    ),
    "tsx": Grammar(
        "tree_sitter_typescript",
        _TYPESCRIPT,
        inside=_JAVASCRIPT_INSIDE,
        leading=("comment", "decorator"),
        around=("export_statement", "lexical_declaration", "variable_declaration"),
        function="language_tsx",
    ),
    "go": Grammar(
        "tree_sitter_go",
        {"function_declaration": "func", "method_declaration": "func", "type_spec": "type"},
        inside=(),
        around=("type_declaration",),
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        {
            "function_item": "fn",
            "function_signature_item": "fn",
            "struct_item": "struct",
            "enum_item": "enum",
            "union_item": "union",
            "trait_item": "trait",
            "impl_item": "impl",
            "mod_item": "mod",
            "type_item": "type",
            "macro_definition": "macro",
        },
        inside=("trait_item", "impl_item", "mod_item"),
        leading=("line_comment", "block_comment", "attribute_item"),
    ),
    "java": Grammar(
        "tree_sitter_java",
        {
            "class_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "record",
            "annotation_type_declaration": "@interface",
            "method_declaration": "method",
            "constructor_declaration": "constructor",
            "compact_constructor_declaration": "constructor",
        },
        inside=(
            "class_declaration",
            "interface_declaration",
            "enum_declaration",
            "record_declaration",
        ),
        leading=("line_comment", "block_comment"),
    ),
    "c": Grammar("tree_sitter_c", _C, inside=(), around=("type_definition",)),
    "cpp": Grammar(
        "tree_sitter_cpp",
        _C | {"class_specifier": "class", "namespace_definition": "namespace"},
        inside=("class_specifier", "struct_specifier", "namespace_definition"),
        around=("template_declaration",),
    ),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        {
            "namespace_declaration": "namespace",
            "class_declaration": "class",
            "interface_declaration": "interface",
            "struct_declaration": "struct",
            "record_declaration": "record",
            "enum_declaration": "enum",
            "delegate_declaration": "delegate",
            "method_declaration": "method",
            "constructor_declaration": "constructor",
        },
        inside=(
            "namespace_declaration",
            "class_declaration",
            "interface_declaration",
            "struct_declaration",
            "record_declaration",
        ),
    ),
    "ruby": Grammar(
        "tree_sitter_ruby",
        {"class": "class", "module": "module", "method": "def", "singleton_method": "def"},
        inside=("class", "module"),
    ),
    "php": Grammar(
        "tree_sitter_php",
        {
            "class_declaration": "class",
            "interface_declaration": "interface",
            "trait_declaration": "trait",
            "enum_declaration": "enum",
            "function_definition": "function",
            "method_declaration": "function",
        },
        inside=(
            "class_declaration",
            "interface_declaration",
            "trait_declaration",
            "enum_declaration",
        ),
        function="language_php",
    ),
    "bash": Grammar("tree_sitter_bash", {"function_definition": "function"}, inside=()),
}
