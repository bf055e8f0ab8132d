/**
 * Whether what an entry states follows from its facts, before it becomes a row.
 *
 * Invariant: each receipt with numbers is calculated again, by its facts and its methodology, and every number compared; that takes
 * some 11 µs. The digest of its lineage, which binds the facts to the call and takes twice that, is made again for one receipt of
 * sixteen, and for all that come by an earlier key or late; so is the text of the receipt. One that is written otherwise and is not looked at becomes a
 * row that is altered, since its digest takes it to be written so (seal.ts). A lineage takes milliseconds: it is made when somebody asks for it.
 */
import { errorText } from '@gw/contract/internal/error-text';
import type { CallFacts } from '@gw/methodology/assess';
import { findMethodology } from '@gw/methodology/methodologies';
import { compareDigest, compareResult } from '@gw/methodology/recompute';
import type { ReceiptRow } from './entry-row.ts';

/** From this age on an entry has come by a spool or a long outage, ms. */
const lateMs = 10 * 60_000;

interface HowItCame {
  readonly byEarlierKey: boolean;
  readonly nowMs: number;
  /** The text of the receipt. */
  readonly written: string;
}

/** Returns what contradicts itself, or null. */
export function contradictionOf(
  { body, created_at, facts, id, tier }: ReceiptRow,
  { byEarlierKey, nowMs, written }: HowItCame,
): string | null {
  const receipt = body as Readonly<Record<string, unknown>>;
  const method = typeof receipt.methodology === 'string' ? findMethodology(receipt.methodology) : null;
  const isLooked = byEarlierKey || id.endsWith('0') || nowMs - Date.parse(created_at) > lateMs;
  if ((isLooked || tier === 'degraded') && JSON.stringify(body) !== written)
    return 'its receipt is not written as a sidecar writes it';
  // There is nothing to calculate, or it was by a methodology of a later release.
  if (tier === 'degraded' || method === null) return null;
  if (facts === null) return 'it has numbers and no facts';
  try {
    const found = [
      ...compareResult(receipt, facts as CallFacts, method.id),
      ...(isLooked ? compareDigest(receipt, facts as CallFacts) : []),
    ];
    return found.length === 0 ? null : `its facts do not give its numbers: ${fieldsOf(found)}`;
  } catch (error) {
    return `its facts give no numbers: ${errorText(error)}`;
  }
}

/** The fields alone, of which three are enough: values may be a customer's. */
const fieldsOf = (mismatches: readonly string[]): string =>
  mismatches
    .slice(0, 3)
    .map((text) => text.split(':', 1)[0])
    .join(', ');
