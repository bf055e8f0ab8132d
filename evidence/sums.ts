/**
 * What follows from the receipts of a pack: its sums and its coverage. Whoever checks a pack makes them again.
 *
 * Invariants: each receipt counts once, in its newest version. Simulated calls, and values that count different things
 * (`grid_basis`), are in no row with others. What is unknown is in no sum, and `missing` says of how many receipts.
 * The bounds of a sum are the sums of the bounds, as if all were off in the same direction: the errors of calls at one place
 * have the same causes.
 */
import { ExactSum, isDecimal } from './decimal.ts';
import { summed } from './quantities.ts';
import type { Node } from './receipt-node.ts';

/** The newest version of each receipt, in the order of the nodes. */
export function newestOf(nodes: readonly Node[]): Node[] {
  const newest = new Map<unknown, Node>();
  for (const node of nodes) {
    const other = newest.get(node.receipt_id);
    if (other === undefined || Number(other.version) < Number(node.version)) newest.set(node.receipt_id, node);
  }
  return nodes.filter((node) => newest.get(node.receipt_id) === node);
}

const apart = ['date', 'model', 'provider', 'region', 'grid_basis', 'simulated'] as const;

const keysOf = (node: Node): Node => ({
  date: String(node.created_at).slice(0, 10),
  model: node.model ?? null,
  provider: node.provider ?? null,
  region: node.region ?? null,
  grid_basis: node.grid_basis ?? null,
  simulated: node.simulated === true,
});

/** Rows by day (UTC), model, provider, region, basis and whether simulated, in that order. */
export function aggregatesOf(nodes: readonly Node[]): Node[] {
  const groups = new Map<string, { keys: Node; members: Node[] }>();
  for (const node of newestOf(nodes)) {
    const keys = keysOf(node);
    const name = JSON.stringify(apart.map((key) => keys[key]));
    const group = groups.get(name) ?? { keys, members: [] };
    group.members.push(node);
    groups.set(name, group);
  }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { keys, members }]) => ({ type: ['gw:Aggregate'], ...keys, ...sumsOf(members) }));
}

export function sumsOf(nodes: readonly Node[]): Node {
  const missing: Record<string, number> = {};
  const sums = summed.map((amount) => {
    const known = nodes.map((node) => node[amount]).filter(isDecimal);
    if (known.length < nodes.length) missing[amount] = nodes.length - known.length;
    return [amount, known.length === 0 ? null : totalOf(known)];
  });
  const tokens = (['prompt_tokens', 'completion_tokens'] as const).map((field) => {
    const known = nodes.map((node) => node[field]).filter((count) => typeof count === 'number');
    if (known.length < nodes.length) missing[field] = nodes.length - known.length;
    return [field, known.length === 0 ? null : totalOf(known.map(String))];
  });
  return {
    requests: nodes.length,
    requests_degraded: nodes.filter(({ tier }) => tier === 'degraded').length,
    ...Object.fromEntries(tokens),
    ...Object.fromEntries(sums),
    missing,
  };
}

function totalOf(known: readonly string[]): string {
  const sum = new ExactSum();
  for (const text of known) sum.add(text);
  return sum.toString();
}

const coverageOf = { telemetry: 'measured', parametric: 'modelled', proxy: 'estimated', degraded: 'degraded' } as const;

/** How many receipts there are of each kind, how much energy each kind has, and which receipts are to be looked at. */
export function coverage(nodes: readonly Node[], excluded: number): Node {
  const newest = newestOf(nodes);
  const real = newest.filter(({ simulated }) => simulated !== true);
  const idsOf = (members: readonly Node[]) => members.map(({ receipt_id }) => receipt_id);
  const kinds = Object.entries(coverageOf).map(([tier, kind]) => {
    const { requests, energy_wh } = sumsOf(real.filter((node) => node.tier === tier));
    return [kind, { requests, energy_wh }];
  });
  const isNewest = new Set(newest);
  return {
    receipts: newest.length,
    versions: nodes.length,
    excluded,
    ...Object.fromEntries(kinds),
    simulated: idsOf(newest.filter(({ simulated }) => simulated === true)),
    degraded_receipts: idsOf(newest.filter(({ tier }) => tier === 'degraded')),
    restated: idsOf(newest.filter(({ version }) => Number(version) > 1)),
    superseded: nodes.filter((node) => !isNewest.has(node)).map(({ id }) => id),
  };
}
