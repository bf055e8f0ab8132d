/**
 * Whether a long pack holds, read from its beginning to its end.
 *
 * Invariants: as for short packs (verify.ts). Nothing is kept that grows with the receipts, but a digest of each thousand. The
 * versions of a receipt stand one after the other and receipts by time and id, so that one that is there twice is found without
 * remembering all.
 */
import { errorText } from '@gw/contract/internal/error-text';
import { parseStrictJson } from '@gw/contract/internal/strict-json';
import { canonicalText } from './canonical.ts';
import { longPackContext } from './context.ts';
import { Followed, listNames, listPart } from './followed.ts';
import { type JsonPart, jsonParts, textIn } from './json-parts.ts';
import { longManifest, longPackFormat } from './long-pack.ts';
import { entryOf, type ManifestEntry } from './manifest.ts';
import { PackFileError } from './pack-file.ts';
import { isNode, type Node, ofPack, type PackMismatch, shown } from './receipt-node.ts';
import { ListDigest } from './running-digest.ts';
import { checkSignature } from './signature.ts';
import { Told } from './told.ts';
import {
  aboutOf,
  checkAccount,
  checkFollows,
  failed,
  type PackVerification,
  shownExclusion,
  type VerifyOptions,
} from './verify.ts';
import { LogCheck } from './verify-log.ts';
import { checkExclusion, checkNode, checkNumbers, VersionCheck } from './verify-receipts.ts';
import { SelectionCheck } from './verify-selection.ts';

/** What the page for people is made of. */
export interface LongVerification extends PackVerification {
  /** All members but the receipts, the lists and the exclusions; empty if it is no pack. */
  readonly head: Node;
}

/** Rejects with a PackFileError alone: what could not be read says nothing of the pack. */
export async function verifyLongPack(
  bytes: AsyncIterable<Uint8Array>,
  options: VerifyOptions,
): Promise<LongVerification> {
  const reading = new LongReading(options);
  try {
    for await (const part of jsonParts(bytes, isSplit)) reading.take(part);
    return await reading.finish();
  } catch (error) {
    if (error instanceof PackFileError) throw error;
    const fault = ofPack('pack', longPackFormat, `something that cannot be read: ${errorText(error)}`);
    return { head: {}, ...failed(fault) };
  }
}

/** The checkpoint that a long pack has, without looking at the rest. Undefined: it has none. */
export async function checkpointOf(bytes: AsyncIterable<Uint8Array>): Promise<unknown> {
  for await (const part of jsonParts(bytes, isSplit)) {
    if (part.path !== 'log') continue;
    const { value } = parsed(part.bytes);
    return isNode(value) ? value.checkpoint : undefined;
  }
  return undefined;
}

const split: ReadonlySet<string> = new Set(['', 'receipts', 'excluded', 'listed', ...listNames.map(listPart)]);
const isSplit = (path: string): boolean => split.has(path);

/** What is said once for all receipts, and needed for each: it stands in front of them. */
const first = ['issued', 'log', 'publisher'] as const;

class LongReading {
  readonly #options: VerifyOptions;
  readonly #mismatches = new Told<PackMismatch>();
  readonly #head: Record<string, unknown> = {};
  readonly #followed = new Followed();
  readonly #stated = new Map<string, ListDigest>();
  readonly #excluded = new ListDigest();
  readonly #left = new Told<PackVerification['excluded'][number]>();
  readonly #versions = new VersionCheck();
  readonly #selection = new SelectionCheck();
  readonly #log: LogCheck;
  #place: readonly [string, string, number] | null = null;
  #earliest: Node | null = null;
  #latest: Node | null = null;
  #recomputed = 0;

  constructor(options: VerifyOptions) {
    this.#options = options;
    this.#log = new LogCheck(options.earlier);
  }

  take({ bytes, path }: JsonPart): void {
    const { text, value } = parsed(bytes);
    if (path === 'receipts') this.#receipt(node(value), text);
    else if (path === 'excluded') this.#exclusion(node(value), text);
    else if (path.startsWith('listed/')) this.#listed(path, text);
    else if (path === 'listed') throw new TypeError('listed is no object of lists');
    else this.#head[path] = value;
  }

  #receipt(each: Node, text: string): void {
    const behind = first.find((name) => !Object.hasOwn(this.#head, name));
    if (behind !== undefined) throw new TypeError(`${behind} does not stand in front of the receipts`);
    this.#followed.add(each, text);
    this.#order(each);
    this.#selection.add(each);
    const { mismatches, recomputed } = checkNumbers(each);
    this.#mismatches.add(...checkNode(this.#head, each), ...this.#versions.add(each), ...mismatches);
    if (recomputed) this.#recomputed += 1;
    this.#mismatches.add(...this.#log.add(each, this.#head));
  }

  #order(each: Node): void {
    const place = [String(each.created_at), String(each.receipt_id), Number(each.version)] as const;
    if (this.#place !== null && !isBefore(this.#place, place)) {
      const expected = `behind ${this.#place[1]}, version ${this.#place[2]}`;
      this.#mismatches.add({
        receipt: String(each.id),
        field: 'receipt',
        expected,
        found: 'in front of it, or once more',
      });
    }
    this.#place = place;
    this.#earliest ??= each;
    this.#latest = each;
  }

  #exclusion(each: Node, text: string): void {
    this.#excluded.add(text);
    this.#left.add(shownExclusion(each));
    for (const check of [this.#versions, this.#selection, this.#log]) check.exclude(each);
    this.#mismatches.add(...checkExclusion(each));
  }

  #listed(path: string, text: string): void {
    const digest = this.#stated.get(path) ?? new ListDigest();
    this.#stated.set(path, digest);
    digest.add(text);
  }

  async finish(): Promise<LongVerification> {
    const { manifest, signature, ...head } = this.#head;
    const { account, trust } = this.#options;
    if (head.format !== longPackFormat) throw new TypeError(`its format is ${shown(head.format)}`);
    const follows = this.#followed.finish(this.#excluded.length);
    const { mismatches: ofLog, ...log } = await this.#log.finish(head, trust);
    const mismatches = this.#mismatches;
    mismatches.add(
      ...checkAccount(head, account),
      ...this.#checkManifest(manifest, head, follows),
      ...checkFollows(head, { '@context': longPackContext, ...follows.head }),
      ...this.#versions.finish(),
      ...this.#selection.finish(head),
      ...this.#checkPeriod(head),
      ...ofLog,
    );
    return {
      head,
      signature: await checkSignature(manifest, signature, trust),
      mismatches: mismatches.list,
      receipts: this.#followed.versions,
      recomputed: this.#recomputed,
      log,
      excluded: this.#left.list,
      about: aboutOf(head),
      ...(mismatches.untold > 0 && { untold: mismatches.untold }),
      ...(this.#left.untold > 0 && { untoldExcluded: this.#left.untold }),
    };
  }

  #checkManifest(
    manifest: unknown,
    head: Node,
    { lists, parts }: { readonly parts: readonly ManifestEntry[]; readonly lists: readonly ManifestEntry[] },
  ): PackMismatch[] {
    const excluded = { part: 'excluded', sha256: this.#excluded.hex() };
    const follows = longManifest([entryOf('head', canonicalText(head)), ...parts, ...lists, excluded]);
    const listed = lists.flatMap(({ part, sha256 }) => {
      const stated = (this.#stated.get(part) ?? new ListDigest()).hex();
      return stated === sha256 ? [] : [ofPack(part, 'the receipts that are', 'others')];
    });
    if (canonicalText(manifest ?? null) === canonicalText(follows)) return listed;
    const stated = isNode(manifest) && Array.isArray(manifest.parts) ? manifest.parts.filter(isNode) : [];
    const digests = new Map(stated.map(({ part, sha256 }) => [part, sha256]));
    const altered = follows.parts.filter(({ part, sha256 }) => digests.get(part) !== sha256);
    const told = altered.map(({ part, sha256 }) => ofPack(part, shown(digests.get(part)), sha256));
    // More parts than follow, in another order, or with something beside them.
    return [...listed, ...(told.length > 0 ? told : [ofPack('manifest', shown(manifest), shown(follows))])];
  }

  /** They stand by time, so the first and the last one are enough. */
  #checkPeriod({ temporal }: Node): PackMismatch[] {
    if (!isNode(temporal)) return [];
    const [start, end] = [Date.parse(String(temporal.start)), Date.parse(String(temporal.end))];
    return [this.#earliest, this.#latest].flatMap((each) => {
      const at = each === null ? start : Date.parse(String(each.created_at));
      if (at >= start && at < end) return [];
      const expected = `from ${temporal.start} to before ${temporal.end}`;
      return [{ receipt: String(each?.id), field: 'created_at', expected, found: shown(each?.created_at) }];
    });
  }
}

type Place = readonly [string, string, number];
const isBefore = ([time, id, version]: Place, [otherTime, otherId, otherVersion]: Place): boolean =>
  time !== otherTime ? time < otherTime : id !== otherId ? id < otherId : version < otherVersion;

function node(value: unknown): Node {
  if (!isNode(value)) throw new TypeError(`${shown(value)} is no object`);
  return value;
}

/** With its text by RFC 8785. */
function parsed(bytes: Uint8Array): { readonly value: unknown; readonly text: string } {
  const written = textIn(bytes);
  const quick: unknown = JSON.parse(written);
  // What is written like that has no member twice, and nothing else that another program could read otherwise.
  if (canonicalText(quick) === written) return { value: quick, text: written };
  const strict = parseStrictJson(bytes, Number.POSITIVE_INFINITY);
  if (!strict.ok) throw new TypeError(strict.error.problem);
  return { value: strict.value, text: canonicalText(strict.value) };
}
