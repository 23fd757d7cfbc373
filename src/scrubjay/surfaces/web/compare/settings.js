// What may be set about a way of searching, how it is written, and which of several the server meant.

/** How a setting is written, for who wrote one that is not understood. */
export const SYNTAX_HINT =
  "A setting is stage.number=value, such as rrf.k=30; weights stand together, such as weigh.weights={keyword=0.9, vector=0.5}; " +
  "rerank=false leaves a stage out.";

const settingName = (set) => set.split("=")[0].trim();

/** True when two settings are of the same number: the later one holds. */
export const sameSetting = (setting, other) => settingName(setting) === settingName(other);

/** What may be changed about a way of searching, as it is now: weights first, then `rrf.k=60`; stages within others, too. */
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
  const plain = (said) => [...said.replace(/\{[^}]*\}/g, "").matchAll(/\w+=-?[\d.]+/g)].map(String);
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

/** One weight of several, `weigh.weights.keyword=0.9`, as it has to be said: with the others as they are. */
export function expandWeight(set, profile) {
  const [, stage, number, name, value] = /^(\w+)\.(\w+)\.(\w+)\s*=\s*(-?[\d.]+)$/.exec(set) ?? [];
  const now = profile?.stages.find((candidate) => candidate.name === stage)?.numbers[number];
  return isWeights(now) ? `${stage}.${number}=${formatWeights({ ...now, [name]: Number(value) })}` : set;
}

/** Which settings of a side the server refused, by the names in what it said; the only one, where it names none. */
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
