/**
 * The sums and the coverage of a pack, as they follow from its receipts. Verification computes them again.
 *
 * Invariants: each receipt counts once, in its newest version. Simulated calls have rows of their own, and so has
 * each `grid_basis`, because its values count different things. An unknown value is in no sum; `missing` says how many receipts lack it.
 * The bounds of a sum are the sums of the bounds, as if all errors had the same direction, because calls at one place share the causes of
 * their errors.
 */
import { summed } from '@gw/contract/pack/measures';
import { ExactSum, isDecimal, plainDecimal } from './decimal.ts';
import { isNode, type Node } from './receipt-node.ts';

const tokens = ['prompt_tokens', 'completion_tokens'] as const;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value);

/** Sums receipts. Each is added once, in its newest version. */
export class RunningSum {
  #requests = 0;
  #degraded = 0;
  /** Receipts with a routing trace, or the word that they have none. */
  #routed = 0;
  readonly #saved = { sum: new ExactSum(), known: 0 };
  readonly #sums = [...tokens, ...summed].map((name) => ({ name, sum: new ExactSum(), known: 0 }));

  add(node: Node): void {
    this.#requests += 1;
    if (node.tier === 'degraded') this.#degraded += 1;
    this.#save(node.routing);
    for (const each of this.#sums) {
      const value = node[each.name];
      const isToken = each.name === 'prompt_tokens' || each.name === 'completion_tokens';
      if (isToken ? !isCount(value) : !isDecimal(value)) continue;
      each.known += 1;
      each.sum.add(String(value));
    }
  }

  /** Packs without traces say nothing of savings. */
  #save(routing: unknown): void {
    if (routing === undefined) return;
    this.#routed += 1;
    const saving = isNode(routing) ? routing.estimated_saving_g : null;
    if (typeof saving !== 'number') return;
    this.#saved.known += 1;
    this.#saved.sum.add(plainDecimal(saving));
  }

  result(): Node {
    const saved = { name: 'carbon_saved_g', ...this.#saved };
    const sums = this.#routed === 0 ? this.#sums : [...this.#sums, saved];
    const missing = sums.filter(({ known }) => known < this.#requests);
    return {
      requests: this.#requests,
      requests_degraded: this.#degraded,
      ...Object.fromEntries(sums.map(({ known, name, sum }) => [name, known === 0 ? null : String(sum)])),
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

/** Sums in rows by day (UTC), model, provider, region, grid basis and simulation, sorted in that order. */
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

const coverageOf = { telemetry: 'measured', parametric: 'modelled', proxy: 'estimated', degraded: 'degraded' } as const;
const isTier = (tier: unknown): tier is keyof typeof coverageOf => typeof tier === 'string' && tier in coverageOf;

/** Counts the receipts and the energy of each kind. Simulated calls belong to no kind. */
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
