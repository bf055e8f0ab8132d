/**
 * Checks an evidence pack of any length, from the pack alone and a key that came from elsewhere, in one pass.
 *
 * Invariants: nothing in a pack is believed. What its head says of the receipts is computed again from them; the numbers of a receipt are
 * computed again from its lineage, by the methodology that it names. A key that a pack brings along is not trusted for that.
 * Nothing is kept that grows with the receipts, except a digest of each thousand. The versions of a receipt stand one after the other and receipts by
 * time and id, so that a duplicate is found without remembering all of them.
 */
import { errorText } from '@gw/contract/internal/error-text';
import { exclusionSchema, packedReceiptSchema, packFormat, packHeadSchema } from '@gw/contract/pack/schema';
import { CappedList } from './capped-list.ts';
import { checkManifest } from './differences.ts';
import { Followed, type FollowedHead, listNames, listPart } from './followed.ts';
import { type JsonPart, jsonParts, parsePart } from './json-parts.ts';
import { manifestOf } from './manifest.ts';
import type { NoteKey } from './note.ts';
import { PackFileError, readBytes } from './pack-file.ts';
import { amounts } from './quantities.ts';
import { isNode, type Node, ofPack, type PackMismatch, shown } from './receipt-node.ts';
import { ListDigest } from './running-digest.ts';
import { checkSeal, noSeal, type SealCheck, type SealTrust } from './seal.ts';
import { withForm } from './verify-form.ts';
import { checkAccount, checkHead, checkPeriod, type PackSubject, subjectOf } from './verify-head.ts';
import { LogCheck, type LogVerification, noLog } from './verify-log.ts';
import { checkExclusion, checkNode, checkNumbers, excludedName, VersionCheck } from './verify-receipts.ts';
import { noRouting, RoutingCheck, type RoutingVerification } from './verify-routing.ts';
import { SelectionCheck } from './verify-selection.ts';

export type { PackMismatch } from './receipt-node.ts';
export type { SealCheck, SealTrust } from './seal.ts';
export type { Trust } from './signature.ts';

export interface PackVerification extends SealCheck {
  /** The first thousand. */
  readonly mismatches: readonly PackMismatch[];
  /** How many more mismatches there are; absent: none. */
  readonly untold?: number;
  /** Versions of receipts. */
  readonly receipts: number;
  /** How many receipts had their numbers computed again. The others came without a lineage, or are degraded and have none. */
  readonly recomputed: number;
  /** How many state numbers and have no lineage to compute them from: only the signer vouches for these. Absent: none. */
  readonly onlyStated?: number;
  readonly routing: RoutingVerification;
  readonly log: Omit<LogVerification, 'mismatches'>;
  /** The receipts that the gateway says it left out, whether or not that is a mismatch too; the first thousand. */
  readonly excluded: readonly {
    readonly receipt_id: string;
    readonly version: number | null;
    readonly reason: string;
  }[];
  /** How many more exclusions there are; absent: none. */
  readonly untoldExcluded?: number;
  readonly about: PackSubject;
}

export interface VerifiedPack extends PackVerification {
  /** All members but the receipts, the lists and the exclusions; empty if the file is no pack. */
  readonly head: Node;
}

export interface VerifyOptions {
  readonly trust: SealTrust;
  /** A checkpoint of the account's log, or a pack, that somebody has kept, as `earlierIn` reads it. */
  readonly earlier?: unknown;
  /** The witnesses that have to have cosigned the checkpoint. */
  readonly witnesses?: readonly NoteKey[];
  /** Whose pack it has to be; absent: anybody's. */
  readonly account?: string;
  /** Gets an error of this program. The pack then counts as one that does not hold. */
  readonly onFault?: (error: unknown) => void;
}

/** Rejects with a PackFileError alone: a file that cannot be read, or is no JSON. */
export async function verifyPack(bytes: AsyncIterable<Uint8Array>, options: VerifyOptions): Promise<VerifiedPack> {
  const reading = new PackReading(options);
  try {
    for await (const part of jsonParts(readBytes(bytes), isSplit)) reading.take(part);
    return await reading.finish();
  } catch (error) {
    if (error instanceof PackFileError) throw error;
    if (error instanceof NoPackError) return failed(error.mismatch);
    options.onFault?.(error);
    return failed(ofPack('pack', packFormat, `something that cannot be checked: ${errorText(error)}`));
  }
}

/** The file is no pack, so nothing else can be said of it. */
class NoPackError extends Error {
  readonly mismatch: PackMismatch;

  constructor(field: string, expected: string, found: unknown) {
    super(`${field}: expected ${expected}`);
    this.mismatch = ofPack(field, expected, shown(found));
  }
}

const failed = (mismatch: PackMismatch): VerifiedPack => ({
  head: {},
  ...noSeal,
  mismatches: [mismatch],
  receipts: 0,
  recomputed: 0,
  routing: noRouting,
  log: noLog,
  excluded: [],
  about: { account: null, selection: 'not stated', isFiltered: false, isOfAll: false },
});

const listPaths: readonly string[] = listNames.map(listPart);
const split: ReadonlySet<string> = new Set(['', 'receipts', 'excluded', 'listed', ...listPaths]);
const isSplit = (path: string): boolean => split.has(path);

/** These members are needed for each receipt, so they stand in front of the receipts. */
const first = ['issued', 'log', 'publisher'] as const;

class PackReading {
  readonly #options: VerifyOptions;
  readonly #mismatches = new CappedList<PackMismatch>();
  /** Without a prototype, so that a member named `__proto__` is one as any other. */
  readonly #head: Record<string, unknown> = Object.create(null);
  readonly #followed = new Followed();
  /** The lists as the pack states them. */
  readonly #stated = new Map(listPaths.map((path) => [path, new ListDigest()]));
  readonly #excluded = new CappedList<PackVerification['excluded'][number]>();
  readonly #versions = new VersionCheck();
  readonly #selection = new SelectionCheck();
  readonly #routing = new RoutingCheck();
  readonly #log: LogCheck;
  #earliest: Node | null = null;
  #latest: Node | null = null;
  #recomputed = 0;
  #onlyStated = 0;

  constructor(options: VerifyOptions) {
    this.#options = options;
    this.#log = new LogCheck(options.earlier);
  }

  take({ bytes, isItem, path }: JsonPart): void {
    const { text, value } = parsePart(bytes);
    const list = this.#stated.get(path);
    if (!isSplit(path)) this.#head[path] = value;
    else if (!isItem || path === '') throw new NoPackError(path || 'pack', 'of the form of a pack', value);
    else if (list !== undefined) list.add(text);
    else if (!isNode(value)) throw new NoPackError(path, 'objects', value);
    else if (path === 'receipts') this.#receipt(value, text);
    else this.#exclusion(value, text);
  }

  #receipt(node: Node, text: string): void {
    const behind = first.find((name) => !Object.hasOwn(this.#head, name));
    if (behind !== undefined) throw new NoPackError(behind, 'in front of the receipts', undefined);
    this.#followed.add(node, text);
    this.#checkOrder(node);
    this.#selection.add(node);
    const { mismatches, recomputed } = checkNumbers(node, this.#options.onFault);
    if (recomputed) this.#recomputed += 1;
    else if (amounts.some((amount) => node[amount] != null)) this.#onlyStated += 1;
    const found = [
      ...checkNode(this.#head, node),
      ...this.#versions.add(node),
      ...mismatches,
      ...this.#routing.add(node),
      ...this.#log.add(node, this.#head),
    ];
    this.#mismatches.addAll(withForm(packedReceiptSchema, node, String(node.id), found));
  }

  #checkOrder(node: Node): void {
    const last = this.#latest;
    if (last !== null && !isBefore(last, node))
      this.#mismatches.add({
        receipt: String(node.id),
        field: 'receipt',
        expected: `behind ${last.receipt_id}, version ${last.version}`,
        found: 'in front of it, or once more',
      });
    this.#earliest ??= node;
    this.#latest = node;
  }

  #exclusion(node: Node, text: string): void {
    const { reason, receipt_id, version } = node;
    this.#followed.exclude(text);
    this.#excluded.add({
      receipt_id: String(receipt_id),
      version: typeof version === 'number' ? version : null,
      reason: String(reason),
    });
    for (const check of [this.#versions, this.#selection, this.#log]) check.exclude(node);
    this.#mismatches.addAll(withForm(exclusionSchema, node, excludedName(node), checkExclusion(node)));
  }

  async finish(): Promise<VerifiedPack> {
    const { manifest, signature, ...head } = this.#head;
    const { account, trust, witnesses } = this.#options;
    if (head.format !== packFormat) throw new NoPackError('format', packFormat, head.format);
    const follows = this.#followed.finish();
    const { mismatches: ofLog, ...log } = await this.#log.finish(head, trust, witnesses);
    const { mismatches: ofSeal, ...seal } = await checkSeal(manifest, signature, { issued: head.issued, trust });
    const [mismatches, excluded] = [this.#mismatches, this.#excluded];
    const found = [
      ...checkAccount(head, account),
      ...this.#checkLists(follows),
      ...checkManifest(manifest, manifestOf(head, follows)),
      ...checkHead(head, follows.head),
      ...this.#versions.finish(),
      ...this.#selection.finish(head),
      ...checkPeriod(head, [this.#earliest, this.#latest].filter(isNode)),
      ...ofLog,
      ...ofSeal,
    ];
    mismatches.addAll(withForm(packHeadSchema, this.#head, null, found));
    return {
      head,
      ...seal,
      mismatches: mismatches.list,
      receipts: this.#followed.versions,
      recomputed: this.#recomputed,
      ...(this.#onlyStated > 0 && { onlyStated: this.#onlyStated }),
      routing: this.#routing.result(),
      log,
      excluded: excluded.list,
      about: subjectOf(head),
      ...(mismatches.untold > 0 && { untold: mismatches.untold }),
      ...(excluded.untold > 0 && { untoldExcluded: excluded.untold }),
    };
  }

  #checkLists({ lists }: FollowedHead): PackMismatch[] {
    return listNames.flatMap((name) =>
      this.#stated.get(listPart(name))?.hex() === lists[name]
        ? []
        : [ofPack(listPart(name), 'the receipts that are', 'others')],
    );
  }
}

function isBefore(one: Node, other: Node): boolean {
  const [time, otherTime] = [String(one.created_at), String(other.created_at)];
  if (time !== otherTime) return time < otherTime;
  const [id, otherId] = [String(one.receipt_id), String(other.receipt_id)];
  return id !== otherId ? id < otherId : Number(one.version) < Number(other.version);
}
