"""Help that lists all commands, ready to be printed: importing their records takes three times as long.

It is generated from the records by `make docs`.
"""

# [[[cog
# from tools.docs import main_help
# main_help()
# ]]]
MAIN_HELP = """\
usage: scrubjay [--db PLACE] [--json] COMMAND ...

Memory and hybrid search for AI agents: store texts, find them by keyword and by meaning.

Write:
  add          store a text, or ingest files and folders
  remember     alias for add
  update       change fields of a memory
  undo         take the last change of a memory back
  say          store a message of a session
  ingest       read files and folders, and follow their changes
  import       import what export wrote, or with --from what another product stored
  extract      extract facts from messages, with the configured language model
  done         mark memories as done
  undone       mark memories as not done
  forget       delete memories permanently

Search:
  search       search by keyword; needs no model
  vsearch      search by meaning
  query        search by keyword and meaning together
  landscape    print an overview of what is stored, for the start of a conversation

Read:
  get          show memories in full
  history      return the versions of a memory, newest first
  ls           list memories, newest first
  sessions     list the sessions, the one with the newest message first
  expiring     list memories that expire soon, or have expired
  changes      list which memory was taken to replace which, the latest first
  export       write memories as Markdown files or JSON lines

Organise:
  files        keep memories as text files below /memories: view, edit, search them
  topics       list topics, or rename one
  collections  list collections; create, rename or remove one; list its members
  link         link two memories, remove a link, or show linked memories
  unlink       remove the links between two memories; a detected change is not detected again
  feedback     record whether a result helped; list or undo feedback
  weights      show the weights of a profile, and the feedback they were learned from

Share:
  share        invite a person into a collection, or change their role
  unshare      remove a person from a collection
  publish      copy a memory into a shared collection
  unpublish    remove the copy of a memory from a shared collection
  key          create, list or revoke API keys for a server, or open it without
  token        alias for key

Connect:
  connect      let an agent use your store: edit its settings and instructions

Operate:
  status       show what is stored, the models, and what is waiting
  doctor       check every part and show how to fix problems
  verify       check every row, index, vector and link of the store
  hits         count the results of each source, by the hour
  profiles     list profiles with their stages and numbers
  tiers        list the databases that are searched together
  reindex      rebuild indexes from the stored memories
  backup       copy the database into another file while it is in use
  restore      put a backup in the place of the database, and keep the earlier file
  promote      move the store from its file to Postgres while it is in use
  demote       move the store from Postgres to a file while it is in use
  models       list or download models, change that of the store, measure the reranker
  embed        embed everything that is pending, and show rate and time left
  eval         measure how well your questions find their answers
  demo         show scrubjay on sample memories, in a temporary store
  serve        serve the store over HTTP and MCP, with a web UI, until Ctrl-C
  signin       print a link that signs a browser in to a running server of yours
  mcp          serve the store to an agent as MCP tools over standard input and output

options, before or after the command:
  --db PLACE        the database: a file or postgres://… (SCRUBJAY_DB)
  --vectors URL     a replica: qdrant://host:6333/collection (SCRUBJAY_VECTORS)
  --graph URL       a replica: falkordb://host:6379/graph (SCRUBJAY_GRAPH)
  --tenant NAME     the tenant, if several share a database (SCRUBJAY_TENANT)
  --user NAME       the user who calls (SCRUBJAY_USER)
  --json            print JSON
  --version         print the version

Help on a command: scrubjay COMMAND --help
exit codes: 0 ok, 1 failed, 2 wrong usage, 3 nothing found"""
# [[[end]]]
