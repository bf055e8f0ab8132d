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

const tokens = ['prompt_tokens', 'completion_tokens'] as const;
const isCount = (value: unknown): value is number => typeof value === 'number';

/** Sums of receipts, of which each is added once, in its newest version. */
export class RunningSum {
  #requests = 0;
  #degraded = 0;
  readonly #sums = [...tokens, ...summed].map((name) => ({ name, sum: new ExactSum(), known: 0 }));

  add(node: Node): void {
    this.#requests += 1;
    if (node.tier === 'degraded') this.#degraded += 1;
    for (const each of this.#sums) {
      const value = node[each.name];
      const isToken = each.name === 'prompt_tokens' || each.name === 'completion_tokens';
      if (isToken ? !isCount(value) : !isDecimal(value)) continue;
      each.known += 1;
      each.sum.add(String(value));
    }
  }

  result(): Node {
    const missing = this.#sums.filter(({ known }) => known < this.#requests);
    return {
      requests: this.#requests,
      requests_degraded: this.#degraded,
      ...Object.fromEntries(this.#sums.map(({ known, name, sum }) => [name, known === 0 ? null : String(sum)])),
      missing: Object.fromEntries(missing.map(({ known, name }) => [name, this.#requests - known])),
    };
  }
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
export class RunningAggregates {
  readonly #groups = new Map<string, { readonly keys: Node; readonly sum: RunningSum }>();

  add(node: Node): void {
    const keys = keysOf(node);
    const name = JSON.stringify(apart.map((key) => keys[key]));
    const group = this.#groups.get(name) ?? { keys, sum: new RunningSum() };
    group.sum.add(node);
    this.#groups.set(name, group);
  }

  list(): Node[] {
    return [...this.#groups]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, { keys, sum }]) => ({ type: ['gw:Aggregate'], ...keys, ...sum.result() }));
  }
}

export function aggregatesOf(nodes: readonly Node[]): Node[] {
  const aggregates = new RunningAggregates();
  for (const node of newestOf(nodes)) aggregates.add(node);
  return aggregates.list();
}

const coverageOf = { telemetry: 'measured', parametric: 'modelled', proxy: 'estimated', degraded: 'degraded' } as const;
const isTier = (tier: unknown): tier is keyof typeof coverageOf => typeof tier === 'string' && tier in coverageOf;

/** How many receipts there are of each kind, and how much energy each kind has. Simulated calls are of none. */
export class RunningKinds {
  readonly #sums = Object.entries(coverageOf).map(([tier, kind]) => ({ tier, kind, sum: new RunningSum() }));

  add(node: Node): void {
    if (node.simulated === true || !isTier(node.tier)) return;
    this.#sums.find(({ tier }) => tier === node.tier)?.sum.add(node);
  }

  result(): Node {
    const kinds = this.#sums.map(({ kind, sum }) => {
      const { energy_wh, requests } = sum.result();
      return [kind, { requests, energy_wh }];
    });
    return Object.fromEntries(kinds);
  }
}

/** How many receipts there are of each kind, how much energy each kind has, and which receipts are to be looked at. */
export function coverage(nodes: readonly Node[], excluded: number): Node {
  const newest = newestOf(nodes);
  const idsOf = (members: readonly Node[]) => members.map(({ receipt_id }) => receipt_id);
  const kinds = new RunningKinds();
  for (const node of newest) kinds.add(node);
  const isNewest = new Set(newest);
  return {
    receipts: newest.length,
    versions: nodes.length,
    excluded,
    ...kinds.result(),
    simulated: idsOf(newest.filter(({ simulated }) => simulated === true)),
    degraded_receipts: idsOf(newest.filter(({ tier }) => tier === 'degraded')),
    restated: idsOf(newest.filter(({ version }) => Number(version) > 1)),
    superseded: nodes.filter((node) => !isNewest.has(node)).map(({ id }) => id),
  };
}
