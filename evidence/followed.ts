/**
 * Derives from the receipts of a pack, as they pass, whatever the pack states about them. Making a pack and checking one both do it here.
 *
 * Invariants: nothing is kept that grows with the receipts, except a digest of each thousand. The versions of a receipt come one
 * after the other, the newest last.
 */
import { canonicalText } from './canonical.ts';
import { type PartDigests, ReceiptDigests } from './manifest.ts';
import { methodologiesNamed } from './pack.ts';
import type { Node } from './receipt-node.ts';
import { ListDigest } from './running-digest.ts';
import { SourceList } from './sources.ts';
import { RunningAggregates, RunningKinds } from './sums.ts';

/** The lists of receipts that need a look. */
export const listNames = ['simulated', 'degraded', 'restated', 'superseded'] as const;
export type ListName = (typeof listNames)[number];

export const listPart = (name: ListName): string => `listed/${name}`;

type Lists<T> = Readonly<Record<ListName, T>>;

export interface FollowedHead extends PartDigests {
  /** The members of the head that follow from the receipts. */
  readonly head: Node & { readonly methodologies: readonly Node[] };
  /** SHA-256 of each list. */
  readonly lists: Lists<string>;
}

export class Followed {
  readonly #onListed: (list: ListName, text: string) => void;
  readonly #lists = eachList(() => new ListDigest());
  readonly #excluded = new ListDigest();
  readonly #aggregates = new RunningAggregates();
  readonly #kinds = new RunningKinds();
  readonly #sources = new SourceList();
  readonly #hashes = new Set<string>();
  readonly #digests = new ReceiptDigests();
  #last: Node | null = null;
  #versions = 0;
  #receipts = 0;

  /** `onListed` gets each entry of a list, as JSON. */
  constructor(onListed: (list: ListName, text: string) => void = () => {}) {
    this.#onListed = onListed;
  }

  get versions(): number {
    return this.#versions;
  }

  get excluded(): number {
    return this.#excluded.length;
  }

  /** `text`: the node as JSON by RFC 8785. */
  add(node: Node, text: string): void {
    if (this.#last !== null) {
      if (this.#last.receipt_id === node.receipt_id) this.#list('superseded', this.#last.id);
      else this.#count(this.#last);
    }
    this.#last = node;
    this.#versions += 1;
    this.#sources.add(node);
    if (typeof node.methodology_hash === 'string') this.#hashes.add(node.methodology_hash);
    this.#digests.add(String(node.id), text);
  }

  /** `text`: the node of the exclusion as JSON by RFC 8785. */
  exclude(text: string): void {
    this.#excluded.add(text);
  }

  /** To be called once, after the last receipt and the last exclusion. */
  finish(): FollowedHead {
    if (this.#last !== null) this.#count(this.#last);
    const { parts, receiptsPerPart } = this.#digests.finish();
    const lists = eachList((name) => this.#lists[name].hex());
    const digests = listNames.map((name) => ({ part: listPart(name), sha256: lists[name] }));
    return {
      head: {
        coverage: {
          receipts: this.#receipts,
          versions: this.#versions,
          excluded: this.excluded,
          ...this.#kinds.result(),
          listed: eachList((name) => this.#lists[name].length),
        },
        aggregates: this.#aggregates.list(),
        methodologies: methodologiesNamed(this.#hashes),
        sources: this.#sources.list(),
      },
      lists,
      receiptsPerPart,
      parts: [...parts, ...digests, { part: 'excluded', sha256: this.#excluded.hex() }],
    };
  }

  #count(newest: Node): void {
    this.#receipts += 1;
    this.#aggregates.add(newest);
    this.#kinds.add(newest);
    if (newest.simulated === true) this.#list('simulated', newest.receipt_id);
    if (newest.tier === 'degraded') this.#list('degraded', newest.receipt_id);
    if (Number(newest.version) > 1) this.#list('restated', newest.receipt_id);
  }

  #list(name: ListName, id: unknown): void {
    // A forged receipt may have none.
    const text = canonicalText(id ?? null);
    this.#lists[name].add(text);
    this.#onListed(name, text);
  }
}

const eachList = <T>(get: (name: ListName) => T): Lists<T> =>
  Object.fromEntries(listNames.map((name) => [name, get(name)])) as Lists<T>;
