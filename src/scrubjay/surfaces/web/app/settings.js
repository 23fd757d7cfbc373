// Settings of one search, in the syntax of the CLI: `rrf.k=30`, `rerank=false`, `weights.keyword=1`, `weights={title=2}`.

import { Problem } from "./api.js";

const WEIGHTS = "weights";

/** Split `rrf.k=30, rerank=false` into single settings. */
export function splitSettings(text) {
  return text
    .split(/[\s,]+(?=[\w.]+\s*=(?![^{]*\}))/)
    .map((setting) => setting.trim().replace(/,$/, ""))
    .filter(Boolean);
}

/** `["rrf.k=30", "weights.keyword=1"]` → `{overrides: {"rrf.k": 30}, weights: {keyword: 1}}`, as a search takes them. */
export function parseSettings(sets) {
  const out = {};
  for (const setting of sets) {
    const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.+?)\s*$/s.exec(setting) ?? [];
    if (value === undefined) throw new Problem("invalid", `“${setting}” is not a setting; write it as rrf.k=30.`);
    if (name === WEIGHTS) out.weights = parseValue(value);
    else if (name.startsWith(`${WEIGHTS}.`))
      out.weights = { ...out.weights, [name.slice(WEIGHTS.length + 1)]: parseValue(value) };
    else out.overrides = { ...out.overrides, [name]: parseValue(value) };
  }
  return out;
}

/** Parse a value in the syntax of the CLI: 30, false, semantic, {title=2}. */
function parseValue(text) {
  try {
    return JSON.parse(text.replace(/([{,]\s*)(\w+)\s*=/g, '$1"$2":'));
  } catch {
    return text; // a word
  }
}
