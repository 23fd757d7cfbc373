// Asks a server over its pipes, or over HTTP where it is given a URL, with the client of the TypeScript SDK.
// node client.mjs FOLDER VERSION (URL | PROGRAM ARGUMENTS...); prints what it was answered as one JSON object.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, version, ...where] = process.argv.slice(2);
const found = createRequire(pathToFileURL(join(folder, "x.cjs")));
const { Client, StreamableHTTPClientTransport } = found("@modelcontextprotocol/client");
const { StdioClientTransport } = found("@modelcontextprotocol/client/stdio");

const token = process.env.SCRUBJAY_TEST_TOKEN;
const transport = /^https?:/.test(where[0])
  ? new StreamableHTTPClientTransport(new URL(where[0]), {
      requestInit: token ? { headers: { Authorization: `Bearer ${token}` } } : {},
    })
  : new StdioClientTransport({ command: where[0], args: where.slice(1), env: process.env });
const mode = version < "2026" ? "legacy" : { pin: version };
const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
await client.connect(transport);

const call = (name, args) => client.callTool({ name, arguments: args });
const said = {};
said.version = client.getNegotiatedProtocolVersion();
said.tools = (await client.listTools()).tools.map((one) => one.name);
said.stored = await call("memory_store", { text: "The kettle whistles at eight", topics: ["kitchen"] });
said.found = await call("memory_search", { query: "kettle", explain: true });
said.refused = await call("memory_search", { qury: "kettle" });
said.unknown = await call("memory_serch", {}).catch((error) => error.message);
said.resources = (await client.listResources()).resources.map((one) => one.uri);
said.memory = await client.readResource({ uri: said.found.structuredContent.hits[0].uri });
said.prompt = await client.getPrompt({ name: "context", arguments: { question: "kettle" } });
said.forgotten = await call("memory_forget", { ids: [said.stored.structuredContent.memory.id] });
await client.close();
console.log(JSON.stringify(said));
