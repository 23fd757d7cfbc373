// Settings of a profile: suggestions, syntax, and which of them a server error refers to.

/** Explanation of the syntax, shown with an error. */
export const SYNTAX_HINT =
  "A setting is stage.number=value, such as rrf.k=30; weights are given together, such as weigh.weights={keyword=0.9, vector=0.5}; " +
  "rerank=false skips a stage.";

const settingName = (set) => set.split("=")[0].trim();

/** True if two settings change the same number: the later one wins. */
export const sameSetting = (setting, other) => settingName(setting) === settingName(other);

/** Return the settings of a profile with their current values: weights first, then `rrf.k=60`; including nested stages. */
export function offeredSettings(profile) {
  const stages = profile?.stages ?? [];
  const whole = stages.flatMap(({ name, numbers }) =>
    Object.entries(numbers)
      .filter(([, value]) => isWeights(value))
      .map(([number, value]) => `${name}.${number}=${formatWeights(value)}`),
  );
  const skipped = stages.some(({ name }) => name === "rerank") ? ["rerank=false"] : [];
  const calls = [
    ...stages
      .map(({ text }) => text)
      .join(" ")
      .matchAll(/(\w+)\(([^()]*)\)/g),
  ];
  const plain = (args) => [...args.replace(/\{[^}]*\}/g, "").matchAll(/\w+=-?[\d.]+/g)].map(String);
  const single = calls.flatMap(([, stage, args]) => plain(args).map((arg) => `${stage}.${arg}`));
  return [...new Set([...whole.sort(weightsFirst), ...skipped, ...single])];
}

const isWeights = (value) =>
  value && typeof value === "object" && !Array.isArray(value) && Object.values(value).every(Number.isFinite);
const weightsFirst = (a, b) => Number(b.includes(".weights=")) - Number(a.includes(".weights="));
const formatWeights = (weights) =>
  `{${Object.entries(weights)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ")}}`;

/** Expand one weight, `weigh.weights.keyword=0.9`, to all weights of the stage, as the server needs them. */
export function expandWeight(set, profile) {
  const [, stage, number, name, value] = /^(\w+)\.(\w+)\.(\w+)\s*=\s*(-?[\d.]+)$/.exec(set) ?? [];
  const now = profile?.stages.find((candidate) => candidate.name === stage)?.numbers[number];
  return isWeights(now) ? `${stage}.${number}=${formatWeights({ ...now, [name]: Number(value) })}` : set;
}

/** Return the settings that a server error refers to, by their names; a single setting even if it is not named. */
export function refusedSettings(sets, detail) {
  const meant = sets.filter((set) => isMentioned(settingName(set), detail));
  return meant.length || sets.length !== 1 ? meant : sets;
}

function isMentioned(name, detail) {
  const [stage, ...number] = name.split(".");
  if (stage === "weights") return /\bweights?\b/.test(detail);
  const inStage = detail.includes(`stage ${stage} `) && detail.includes(`'${number.join(".")}'`);
  return inStage || detail.includes(`${name} `) || detail.includes(`stage '${stage}'`);
}
