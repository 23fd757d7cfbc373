"""All targets, in the order in which they are run."""

from tools.fuzz.doors import HTTP, MCP
from tools.fuzz.importers import CHATS, LINES, MARKDOWN
from tools.fuzz.texts import QUERIES, TIMES

TARGETS = {one.name: one for one in (QUERIES, TIMES, LINES, MARKDOWN, CHATS, HTTP, MCP)}
