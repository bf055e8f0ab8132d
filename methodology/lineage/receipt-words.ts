/**
 * Derives everything that a receipt says about its call, apart from the numbers, from the call and the facts.
 *
 * Invariant: of a receipt with numbers each field is looked at, but for `request_id`, which follows from nothing, and for
 * which of its endings a call had that was not cut short. So a field that is left out is as wrong as one that is altered.
 */

import { findMethodology } from '../documents/methodologies.ts';
import type { CallFacts } from '../facts/facts.ts';
import type { Impact } from '../generated/receipt.ts';
import type { Mismatches } from './checks.ts';
import type { Lineage } from './lineage-form.ts';

export type Receipt = Readonly<Record<string, unknown>>;

/** Whether the receipts of a methodology state the digest of their lineage, and who counted their tokens. */
export const statesDigest = (methodology: string): boolean => findMethodology(methodology)?.isOwn === true;

const ofCall = ['id', 'version', 'created_at', 'model', 'provider', 'region'] as const;
/** The fields of a call that only a receipt has; the numbers by themselves, as `assess` gives them, have none of them. */
const ofHead = [
  ...ofCall,
  ...([
    'object',
    'supersedes',
    'request_id',
    'status',
    'requested_tier',
    'usage_source',
    'pinned_region',
    'api',
    'project',
  ] as const),
] as const;
/** Fields that some receipts have; where the numbers do not give them, the receipt has none. */
const optional = [
  'modelled_energy_wh',
  'measured_by',
  'water_low_ml',
  'water_high_ml',
  'grid_basis',
  'grid_vintage',
] as const;
const ofDegraded = ['degraded_reason', 'explanation', 'recalculable'] as const;
const absentFields: readonly string[] = [...optional, ...ofDegraded];

/** `follows`: the lineage, made again. */
export function compareCall(found: Mismatches, receipt: Receipt, follows: Lineage): void {
  const { call, digest, facts, methodology } = follows;
  const compare = (field: string, value: unknown) => found.compare(`receipt.${field}`, receipt[field], value);
  for (const field of ofCall) {
    if (call !== undefined || Object.hasOwn(receipt, field)) compare(field, call?.[field]);
  }
  if (call === undefined && !ofHead.some((field) => Object.hasOwn(receipt, field))) return;
  const { version = 1 } = call ?? {};
  compare('pinned_region', call?.pinned_region ?? null);
  compare('api', call?.api);
  // Receipts from before there were projects have no such field.
  found.compare('receipt.project', receipt.project ?? null, call?.project ?? null);
  compare('object', 'gw.receipt');
  compare('supersedes', version === 1 ? null : version - 1);
  compare('requested_tier', facts.requestedTier);
  const isBound = statesDigest(methodology);
  if (isBound || Object.hasOwn(receipt, 'lineage_digest')) compare('lineage_digest', digest);
  if (!isBound) return;
  compare('usage_source', usageSource(facts));
  const endings = facts.isCutShort
    ? ['client_aborted', 'upstream_error']
    : ['complete', 'client_aborted', 'upstream_error'];
  const [ending] = endings;
  if (!endings.includes(String(receipt.status))) compare('status', ending);
}

/** Who counted the tokens. */
export const usageSource = ({ usage }: Pick<CallFacts, 'usage'>): 'provider' | 'estimated' | null =>
  usage === null ? null : usage.estimated ? 'estimated' : 'provider';

/** Every number, and every word that the methodology gives. */
export function compareNumbers(found: Mismatches, receipt: Receipt, impact: Impact, simulated: true | undefined): void {
  const follows = impact as unknown as Receipt;
  const compare = (field: string, value: unknown): void => {
    // The ledger compares every receipt so, and nearly all are right.
    if (receipt[field] !== value) found.compare(`receipt.${field}`, receipt[field], value);
  };
  for (const field of Object.keys(follows)) compare(field, follows[field]);
  for (const field of absentFields) if (!Object.hasOwn(follows, field)) compare(field, undefined);
  compare('simulated', simulated);
}
