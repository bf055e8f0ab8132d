/**
 * Whether an evidence pack holds, from the pack alone and a key that was had from elsewhere.
 *
 * Invariants: nothing in a pack is believed. What its head says of the receipts is made again of them; the numbers of a receipt
 * are made again of its lineage, by the methodology that it names. Anything gives an answer, never an exception. The key that
 * a pack brings along is never trusted for that alone.
 */
import { methodologyOfHash } from '@gw/methodology/methodologies';
import { packContext } from './context.ts';
import { methodologiesOf, packFormat, packTypes } from './pack.ts';
import { statedQuantities } from './quantities.ts';
import { isNode, type Node, ofPack, type PackMismatch, shown } from './receipt-node.ts';
import { checkSignature, type SignatureCheck, type Trust } from './signature.ts';
import { sourcesOf } from './sources.ts';
import { aggregatesOf, coverage } from './sums.ts';
import { LogCheck, type LogVerification, noLog } from './verify-log.ts';
import { checkManifest, differences, type Form, formOf } from './verify-manifest.ts';
import { checkExclusion, checkNode, checkNumbers, exclusionsOf, VersionCheck } from './verify-receipts.ts';
import { SelectionCheck, temporalOf } from './verify-selection.ts';

export type { PackMismatch } from './receipt-node.ts';
export type { Trust } from './signature.ts';

export interface PackVerification {
  readonly signature: SignatureCheck;
  readonly mismatches: readonly PackMismatch[];
  readonly receipts: number;
  /** Whose numbers were made again. The others came without a lineage, or are degraded and have none. */
  readonly recomputed: number;
  readonly log: Omit<LogVerification, 'mismatches'>;
  /** Of a long pack: mismatches that are not in the list, which would have no end. */
  readonly untold?: number;
  /** Likewise of what was left out. */
  readonly untoldExcluded?: number;
  /** What the gateway says that it left out, whether or not that is a mismatch too; the first thousand. */
  readonly excluded: readonly {
    readonly receipt_id: string;
    readonly version: number | null;
    readonly reason: string;
  }[];
  readonly about: {
    readonly account: string | null;
    /** What was asked for, in words. */
    readonly selection: string;
    /** By what receipts say: of a part that was left out the log knows nothing. */
    readonly isFiltered: boolean;
  };
}

export interface VerifyOptions {
  readonly trust: Trust;
  /** Parsed JSON of what somebody has kept: a checkpoint of the account's log, or a pack. */
  readonly earlier?: unknown;
  /** Whose pack it has to be; absent: anybody's. */
  readonly account?: string;
}

/** `pack`: parsed JSON. */
export async function verifyPack(pack: unknown, options: VerifyOptions): Promise<PackVerification> {
  try {
    const form = formOf(pack);
    return 'fault' in form ? failed(form.fault) : await checkForm(form, options);
  } catch {
    return failed(ofPack('pack', packFormat, 'something else'));
  }
}

export const failed = (mismatch: PackMismatch): PackVerification => ({
  ...{ signature: 'invalid', mismatches: [mismatch], receipts: 0, recomputed: 0, excluded: [] },
  ...{ log: noLog, about: { account: null, selection: 'not stated', isFiltered: false } },
});

async function checkForm(form: Form, { account, earlier, trust }: VerifyOptions): Promise<PackVerification> {
  const { head, manifest, receipts, signature } = form;
  const excluded = exclusionsOf(head.excluded);
  const lineages = receipts.map(checkNumbers);
  const check = new LogCheck(earlier);
  const ofEntries = receipts.flatMap((node) => check.add(node, head));
  for (const each of excluded) check.exclude(each);
  const { mismatches: ofLog, ...log } = await check.finish(head, trust);
  return {
    signature: await checkSignature(manifest, signature, trust),
    mismatches: [
      ...checkAccount(head, account),
      ...checkManifest(form),
      ...checkHead(head, receipts),
      ...checkPeriod(head, receipts),
      ...receipts.flatMap((node) => checkNode(head, node)),
      ...checkVersions(head, receipts),
      ...excluded.flatMap(checkExclusion),
      ...lineages.flatMap(({ mismatches }) => mismatches),
      ...ofEntries,
      ...ofLog,
    ],
    receipts: receipts.length,
    recomputed: lineages.filter(({ recomputed }) => recomputed).length,
    log,
    excluded: excluded.map(shownExclusion),
    about: aboutOf(head),
  };
}

export const checkAccount = (head: Node, account: string | undefined): PackMismatch[] =>
  account === undefined || head.account === account ? [] : [ofPack('account', shown(account), shown(head.account))];

export const shownExclusion = ({ reason, receipt_id, version }: Node): PackVerification['excluded'][number] => ({
  ...{ receipt_id: String(receipt_id), reason: String(reason) },
  version: typeof version === 'number' ? version : null,
});

export const aboutOf = ({ account, selection }: Node): PackVerification['about'] => ({
  account: typeof account === 'string' ? account : null,
  selection: shown(selection),
  isFiltered: isNode(selection) && (selection.model ?? selection.region) !== undefined,
});

/** What of a head follows from anything else, member by member. */
export const checkFollows = (head: Node, follows: Node): PackMismatch[] => {
  const all = { type: packTypes, temporal: temporalOf(head.selection), quantities: statedQuantities, ...follows };
  const unknown = (follows.methodologies as readonly Node[]).filter(
    ({ hash }) => methodologyOfHash(String(hash)) === null,
  );
  return [
    ...Object.entries(all).flatMap(([field, value]) => differences(field, value, head[field])),
    ...unknown.map(({ hash }) => ofPack('methodologies', 'a methodology that is known here', String(hash))),
  ];
};

const checkHead = (head: Node, receipts: readonly Node[]): PackMismatch[] =>
  checkFollows(head, {
    '@context': packContext,
    coverage: coverage(receipts, Array.isArray(head.excluded) ? head.excluded.length : 0),
    aggregates: aggregatesOf(receipts),
    sources: sourcesOf(receipts),
    methodologies: methodologiesOf(receipts),
  });

/** Whether they are those that were asked for, in all their versions. */
function checkVersions(head: Node, receipts: readonly Node[]): PackMismatch[] {
  const [versions, selection] = [new VersionCheck(), new SelectionCheck()];
  const faults = receipts.toSorted(byVersion).flatMap((node) => {
    selection.add(node);
    return versions.add(node);
  });
  for (const each of exclusionsOf(head.excluded)) {
    versions.exclude(each);
    selection.exclude(each);
  }
  return [...faults, ...versions.finish(), ...selection.finish(head)];
}

function byVersion(one: Node, other: Node): number {
  const [a, b] = [String(one.receipt_id), String(other.receipt_id)];
  return a === b ? Number(one.version) - Number(other.version) : a < b ? -1 : 1;
}

function checkPeriod({ temporal }: Node, receipts: readonly Node[]): PackMismatch[] {
  if (!isNode(temporal)) return [];
  const [start, end] = [Date.parse(String(temporal.start)), Date.parse(String(temporal.end))];
  return receipts.flatMap((node) => {
    const at = Date.parse(String(node.created_at));
    if (at >= start && at < end) return [];
    const expected = `from ${temporal.start} to before ${temporal.end}`;
    return [{ receipt: String(node.id), field: 'created_at', expected, found: shown(node.created_at) }];
  });
}
