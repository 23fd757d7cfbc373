// Health view: the state of the store and its server, refreshed every 30 seconds while it is visible.

import { call, Problem, send } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { moment } from "../app/format.js";
import { currentLogin } from "../app/login.js";
import { navigate } from "../app/route.js";
import { attempt } from "../app/toast.js";
import { expiring, learned, learns, topicCounts, typeCounts } from "./about.js";
import { clock, SPANS, since } from "./buckets.js";
import { doctorPanel } from "./doctor.js";
import { hitsPanel, hoursOf } from "./hits.js";
import { queriesPanel, stageTimes, tenantTable } from "./load.js";
import { panel, redrawOnChange } from "./panels.js";
import { problemsOf, summary } from "./state.js";
import { fileCoverage, models, pendingWork, sizes, tierList } from "./store.js";

const REFRESH_MS = 30_000;
const ADMIN_ONLY =
  "Queries per hour and times of stages are figures of the whole server. Your login gives access to your own store only.";
const CHEAP_BYTES = 200_000_000; // doctor reads the whole file: a larger one is examined only on request
// Each panel has a fixed column: with a layout by height, a panel that grows would move others.
const COLUMNS = [
  ["waiting", "sizes", "store", "expiring"],
  ["models", "learned", "files"],
  ["kinds", "grouped"],
];
const LEARNING_PROFILES = ["vault", "novamem"];

/** Make the view; `show` starts the refresh, `hide` stops it. */
export function make(root) {
  const at = { span: "24h", tenant: "", got: {}, loadedAt: 0, refused: null };
  let controller = null;
  let timer = 0;

  const hits = hitsPanel((chosen) => navigate("health", routeParams({ ...at, ...chosen })));
  const queries = queriesPanel();
  const doctor = doctorPanel(() => drawSummary());
  const fixed = (title, part) => panel(title, () => part.node, { wide: true });
  const large = {
    hits: fixed("Hits per source", hits),
    queries: panel("Queries per hour", () => queries.node),
    stages: panel("Time of each stage", stageTimes),
    tenants: panel("Tenants", tenantTable, { wide: true }),
    doctor: fixed("Doctor", doctor),
  };
  const small = {
    waiting: panel("Pending work", pendingWork),
    sizes: panel("Contents", sizes),
    models: panel("Models", models),
    store: panel("Databases and replicas", tierList),
    kinds: panel("Types and namespaces", typeCounts),
    grouped: panel("Topics and collections", topicCounts),
    expiring: panel("Expires soon", expiring),
    learned: panel("Learned weights", learned),
    files: panel("Ingested files", fileCoverage),
  };
  const parts = { ...large, ...small };
  const verdict = h("div", { class: "summary" }, h("p", { class: "hint" }, "Loading…"));
  const sum = redrawOnChange(verdict, ({ items, status }) =>
    summary(items, status, (about) => focusPanel(parts[about])),
  );
  const asOf = h("span", { class: "hint" });
  const again = h("button", { type: "button", title: "Refresh (r)", onclick: () => refresh() }, "Refresh");
  const whole = h("p", { class: "hint", hidden: true });
  put(
    root,
    h("header", { class: "health-top" }, h("h1", {}, "Health"), h("div", { class: "actions" }, asOf, again)),
    h("div", { class: "panel" }, verdict),
    whole,
    h(
      "div",
      { class: "parts" },
      Object.values(large).map((part) => part.node),
    ),
    h(
      "div",
      { class: "columns" },
      COLUMNS.map((names) =>
        h(
          "div",
          {},
          names.map((name) => small[name].node),
        ),
      ),
    ),
  );
  parts.tenants.node.hidden = true;
  parts.learned.node.hidden = true;
  parts.hits.show({});
  parts.doctor.show({});

  // Load everything; while the server is away, the old data stays on the screen.
  async function load() {
    controller?.abort();
    clearTimeout(timer);
    const mine = new AbortController();
    controller = mine;
    root.setAttribute("aria-busy", "true");
    const got = await loadAll(at.span, mine.signal, at.refused);
    if (mine.signal.aborted) return;
    if (got.figures.kind === "not-allowed") at.refused = got.figures; // do not ask again until the view is opened again
    root.setAttribute("aria-busy", "false");
    timer = setTimeout(() => document.visibilityState === "visible" && load(), REFRESH_MS);
    if (Object.values(got).some((answer) => answer instanceof Problem && answer.kind === "away")) return;
    at.got = got;
    at.loadedAt = Date.now();
    draw();
  }

  function draw() {
    const { status, figures, tiers, topics, collections } = at.got;
    drawHits();
    drawFigures(figures);
    const given = { sizes: status, kinds: status, expiring: at.got.expiring, files: at.got.coverage };
    for (const [name, data] of Object.entries(given)) parts[name].show(data);
    showOrProblem(parts.grouped, [topics, collections], () => ({
      topics: topics.topics,
      collections: collections.collections,
    }));
    showOrProblem(parts.store, [tiers, status], () => ({ tiers: tiers.tiers, servers: status.servers }));
    const learning = at.got.weights.filter((weights) => answerOrUndefined(weights) && learns(weights));
    parts.learned.node.hidden = !learning.length;
    parts.learned.show(learning);
    put(asOf, `as of ${clock(at.loadedAt)}`);
    asOf.title = moment(at.loadedAt);
    drawSummary();
  }

  function drawHits() {
    const tenants = answerOrUndefined(at.got.figures)?.tenants ?? [];
    const chosen = tenants.find((entry) => entry.tenant === at.tenant && at.tenant);
    const own = at.got.hits;
    parts.hits.show(own instanceof Problem ? own : {});
    if (own instanceof Problem) return;
    hits.show(chosen ? hoursOf(chosen.hits) : own.hours, { span: at.span, tenant: at.tenant, tenants });
  }

  function drawFigures(figures) {
    const may = !(figures instanceof Problem);
    for (const name of ["queries", "stages"]) parts[name].node.hidden = !may;
    parts.tenants.node.hidden = !may || figures.tenants.length < 2;
    whole.hidden = may;
    if (!may) return put(whole, figures.kind === "not-allowed" ? ADMIN_ONLY : figures.detail);
    parts.queries.show({});
    queries.show(figures);
    parts.stages.show(figures);
    parts.tenants.show(figures);
  }

  // Draw the panels that combine the status and the findings of doctor.
  function drawSummary() {
    const { status } = at.got;
    if (!status) return;
    const findings = doctor.findings();
    const answered = Object.entries(at.got).map(([name, answer]) => [name, answerOrUndefined(answer)]);
    sum({ items: problemsOf({ ...Object.fromEntries(answered), findings }), status: answerOrUndefined(status) });
    showOrProblem(parts.waiting, [status], () => ({ status, findings }));
    showOrProblem(parts.models, [status], () => ({ status, findings }));
  }

  async function examine({ again = false } = {}) {
    const scopes = (await attempt(currentLogin))?.scopes;
    if (!scopes) return; // the server is away; the view is shown again when it is back
    const examines = scopes.includes("admin");
    parts.doctor.node.hidden = !examines;
    drawSummary();
    const cheap = answerOrUndefined(at.got.status)?.size_bytes < CHEAP_BYTES;
    if (examines && (doctor.findings() ? again : cheap)) await doctor.run();
  }

  // A refresh by the user runs doctor, too: it shows whether a problem is fixed.
  async function refresh() {
    await load();
    if (!controller.signal.aborted) await examine({ again: true });
  }

  const returned = () => document.visibilityState === "visible" && Date.now() - at.loadedAt >= REFRESH_MS && load();
  return {
    async show(params) {
      at.span = params.get("span") in SPANS ? params.get("span") : "24h";
      at.tenant = params.get("tenant") ?? "";
      document.addEventListener("visibilitychange", returned);
      await load();
      if (!controller.signal.aborted) await examine();
    },
    hide() {
      at.refused = null;
      controller?.abort();
      doctor.stop();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", returned);
    },
    keys: [{ keys: "r", does: "Refresh", act: () => refresh() }],
  };
}

const routeParams = ({ span, tenant }) => ({ span: span === "24h" ? "" : span, tenant });
const answerOrUndefined = (answer) => (answer instanceof Problem ? undefined : answer);

function showOrProblem(part, answers_, data) {
  part.show(answers_.find((answer) => answer instanceof Problem) ?? data());
}

function focusPanel(part) {
  const heading = part.node.querySelector("h2");
  heading.focus({ preventScroll: true });
  heading.scrollIntoView({ block: "start" });
}

// Load everything at once; a request that fails gives its Problem.
async function loadAll(span, signal, refused) {
  const or = (promise) =>
    promise.catch((error) => {
      if (error.name !== "AbortError" && !error.kind) throw error;
      return error;
    });
  const requests = {
    status: call("status", {}, { signal }),
    hits: call("hits", { since: since(span) }, { signal }),
    figures: refused ? Promise.reject(refused) : send("GET", "/v1/figures", undefined, signal),
    ready: send("GET", "/readyz", undefined, signal),
    tiers: call("tiers", {}, { signal }),
    topics: call("topics", { limit: 40 }, { signal }),
    collections: call("collections", {}, { signal }),
    coverage: call("coverage", { limit: 8 }, { signal }),
    expiring: call("expiring", { limit: 8 }, { signal }),
  };
  const weights = Promise.all(LEARNING_PROFILES.map((profile) => or(call("weights", { profile }, { signal }))));
  const all = await Promise.all([...Object.values(requests).map(or), weights]);
  return Object.fromEntries([...Object.keys(requests), "weights"].map((name, index) => [name, all[index]]));
}
