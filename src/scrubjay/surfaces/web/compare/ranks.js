// Comparison of two result lists: the ranks of each memory, and how far it moved.

const PERSISTENCE = 0.9; // probability that a reader looks at the next hit; the first ten then weigh most

/**
 * Compare two lists of hits. Returns a row for each memory, `{id, hit, a, b, moved}`: its ranks from 1
 * (null where it is missing), and how many ranks it rose from a to b.
 */
export function compareRanks(left, right) {
  const a = new Map(left.map((hit, index) => [hit.id, index + 1]));
  const b = new Map(right.map((hit, index) => [hit.id, index + 1]));
  const hits = new Map([...right, ...left].map((hit) => [hit.id, hit]));
  const rows = [...hits].map(([id, hit]) => {
    const [was, is] = [a.get(id) ?? null, b.get(id) ?? null];
    return { id, hit, a: was, b: is, moved: was && is ? was - is : null };
  });
  return rows.sort((rowA, rowB) => first(rowA) - first(rowB) || (rowA.b ?? Infinity) - (rowB.b ?? Infinity));
}

const first = (row) => Math.min(row.a ?? Infinity, row.b ?? Infinity);

/** Return how similar two result lists are: `{common, depth, overlap, weighted, mover}`. */
export function similarity(rows) {
  const common = rows.filter((row) => row.moved !== null);
  const depth = Math.max(0, ...rows.flatMap((row) => [row.a ?? 0, row.b ?? 0]));
  const mover = common.reduce((most, row) => (Math.abs(row.moved) > Math.abs(most?.moved ?? 0) ? row : most), null);
  const overlap = depth ? common.length / depth : 0;
  return { common: common.length, depth, overlap, weighted: rankBiased(common, depth), mover };
}

/** Rank-biased overlap, extrapolated beyond the last rank: 1 is the same order, 0 nothing in common. */
function rankBiased(common, depth) {
  if (!depth) return 0;
  const shared = (to) => common.filter((row) => row.a <= to && row.b <= to).length / to;
  let sum = 0;
  for (let to = 1; to <= depth; to += 1) sum += shared(to) * PERSISTENCE ** to;
  return shared(depth) * PERSISTENCE ** depth + ((1 - PERSISTENCE) / PERSISTENCE) * sum;
}

/** Return how a row moved, as a sign and in words: `{sign: "▲ 3", words: "up 3, from rank 5", kind: "up"}`. */
export function movement(row) {
  if (row.a === null) return { sign: "new", words: "only on the right", kind: "only" };
  if (row.b === null) return { sign: "missing", words: "only on the left", kind: "only" };
  if (row.moved === 0) return { sign: "=", words: `rank ${row.a} on both sides`, kind: "same" };
  const [sign, way, kind] = row.moved > 0 ? ["▲", "up", "up"] : ["▼", "down", "down"];
  const far = Math.abs(row.moved);
  return { sign: `${sign} ${far}`, words: `${way} ${far}, from rank ${row.a} to ${row.b}`, kind };
}
