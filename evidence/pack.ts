/**
 * An evidence pack has receipts of one account, the methodologies that made them, and their sums, as JSON-LD 1.1 that needs nothing from
 * elsewhere. A detached signature (RFC 7797) covers the manifest of its parts.
 */
import { packContext } from '@gw/contract/pack/context';
import { packFormat } from '@gw/contract/pack/schema';
import { methodologyOfHash } from '@gw/methodology/methodologies';
import type { ArchivedMonth } from './archived-month.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { HourLeaf } from './hours.ts';
import { statedQuantities } from './quantities.ts';
import { gatewayOf, type Node, type PackedReceipt, planOf } from './receipt-node.ts';

export type { PackedReceipt } from './receipt-node.ts';

export const packTypes = ['dcat:Dataset', 'prov:Entity', 'gw:EvidencePack'] as const;

/**
 * `not_found`: the account has no such receipt, or not yet. `no_lineage`: the receipt is in the pack, its lineage is not. `contradiction`: the
 * facts that are stored with the receipt do not give its numbers, so nobody signs it. `not_genuine`: the stored receipt is not the one
 * that was issued. `not_stored`: the log has the receipt, the database does not. No honest history leads to the last three.
 */
export type ExclusionCode = 'contradiction' | 'no_lineage' | 'not_found' | 'not_genuine' | 'not_stored';

/** A receipt that is not in the pack although it was asked for. */
export interface Excluded {
  readonly receipt_id: string;
  readonly version: number | null;
  readonly code: ExclusionCode;
  /** In words. */
  readonly reason: string;
  /** The receipt's entry in the account's log, if it is stored no more, or not as it was. */
  readonly log_index?: number;
}

/** The place of an entry that is no receipt. */
export interface ArchivedInLog {
  readonly index: number;
  readonly path: readonly string[];
  readonly month: ArchivedMonth;
}

/** An hour as a pack shows it. */
export interface ShownHour extends HourLeaf {
  /** The times of its calls in the order of the entries, in milliseconds since 1970, if the period begins or ends within the hour. */
  readonly times?: readonly number[];
}

export interface PackHours {
  readonly shown: readonly ShownHour[];
  /** The hashes of the other parts of the register, in their order. */
  readonly path: readonly string[];
}

/** The state of the account's log when the pack was made. */
export interface PackLog {
  /** Null: it cannot be read. */
  readonly checkpoint: Checkpoint | null;
  /** Proves that the log continues the one of the first `from` entries; null: nobody asked for that. */
  readonly consistency: { readonly from: number; readonly path: readonly string[] } | null;
  /** The hours of the period and the way from them to the checkpoint; absent: the pack is not of all receipts of a period. */
  readonly hours?: PackHours;
  /** All entries of archived months, in the order of the log; absent: none. */
  readonly archived?: readonly ArchivedInLog[];
  /** Why there are no proofs, in words. */
  readonly fault?: string;
}

/** The part of a pack that is known before its receipts are read. */
export interface PackAbout {
  /** A UUID. */
  readonly id: string;
  readonly issuedAt: Date;
  readonly baseUrl: string;
  readonly accountId: string;
  /** The request for the pack. */
  readonly selection: Node;
  /** Half-open; null if receipts were asked for by their ids alone. */
  readonly period: { readonly from: Date; readonly to: Date } | null;
}

export interface PackContents extends PackAbout {
  /** All versions of each receipt, by time, id and version. */
  readonly receipts: readonly PackedReceipt[];
  readonly excluded: readonly Excluded[];
  /** Null: the account has no log yet. */
  readonly log: PackLog | null;
}

export function aboutPack({ accountId, baseUrl, id, issuedAt, period, selection }: PackAbout): Node {
  return {
    '@context': packContext,
    id: `urn:uuid:${id}`,
    type: packTypes,
    format: packFormat,
    title: 'Environmental receipts of calls to language models',
    issued: issuedAt.toISOString(),
    publisher: { id: gatewayOf(baseUrl), type: ['prov:SoftwareAgent', 'dct:Agent'] },
    account: accountId,
    selection,
    ...(period && {
      temporal: { type: ['dct:PeriodOfTime'], start: period.from.toISOString(), end: period.to.toISOString() },
    }),
    quantities: statedQuantities,
  };
}

/** The making of a pack. `methodologies`: their nodes. */
export const makingOf = (gateway: unknown, methodologies: readonly Node[]): Node => ({
  type: ['prov:Activity'],
  wasAssociatedWith: gateway,
  used: methodologies.map(({ id }) => id),
});

export const exclusionNode = (each: Excluded): Node => ({ type: ['gw:Exclusion'], ...each });

/** Each with its document: all constants and formulas, in the text that the hash is over. */
export function methodologiesNamed(hashes: ReadonlySet<string>): Node[] {
  return [...hashes].toSorted().map((hash) => {
    const known = methodologyOfHash(hash);
    return {
      id: planOf(hash),
      type: ['prov:Plan', 'prov:Entity'],
      name: known?.id ?? null,
      version: known?.version ?? null,
      hash,
      document: known?.document ?? null,
    };
  });
}
