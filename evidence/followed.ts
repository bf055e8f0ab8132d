/**
 * What of a long pack follows from its receipts, while they pass: whoever makes one and whoever checks one compute it here.
 *
 * Invariants: nothing is kept that grows with the receipts, but a digest of each thousand. The versions of a receipt come one
 * after the other, the newest last.
 */
import { canonicalText } from './canonical.ts';
import type { ManifestEntry } from './manifest.ts';
import { methodologiesNamed } from './pack.ts';
import type { Node } from './receipt-node.ts';
import { ListDigest } from './running-digest.ts';
import { SourceList } from './sources.ts';
import { RunningAggregates, RunningKinds } from './sums.ts';

/** Receipts in one part of the manifest. */
export const receiptsPerPart = 1000;

/** Which receipts are to be looked at. */
export const listNames = ['simulated', 'degraded', 'restated', 'superseded'] as const;
export type ListName = (typeof listNames)[number];

export const listPart = (name: ListName): string => `listed/${name}`;

export class Followed {
  readonly #onListed: (list: ListName, text: string) => void;
  readonly #lists = new Map(listNames.map((name) => [name, new ListDigest()]));
  readonly #aggregates = new RunningAggregates();
  readonly #kinds = new RunningKinds();
  readonly #sources = new SourceList();
  readonly #hashes = new Set<string>();
  readonly #parts: ManifestEntry[] = [];
  #part = new ListDigest();
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
    this.#part.add(text);
    if (this.#part.length === receiptsPerPart) this.#closePart();
  }

  /** To be called once, behind the last receipt. `excluded`: how many were. */
  finish(excluded: number): FollowedHead {
    if (this.#last !== null) this.#count(this.#last);
    if (this.#part.length > 0) this.#closePart();
    const counted = [...this.#lists].map(([name, { length }]) => [name, length]);
    return {
      head: {
        coverage: {
          receipts: this.#receipts,
          versions: this.#versions,
          excluded,
          ...this.#kinds.result(),
          listed: Object.fromEntries(counted),
        },
        aggregates: this.#aggregates.list(),
        methodologies: methodologiesNamed(this.#hashes),
        sources: this.#sources.list(),
      },
      parts: this.#parts,
      lists: [...this.#lists].map(([name, digest]) => ({ part: listPart(name), sha256: digest.hex() })),
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
    const text = canonicalText(id);
    this.#lists.get(name)?.add(text);
    this.#onListed(name, text);
  }

  #closePart(): void {
    this.#parts.push({ part: `receipts/${this.#parts.length}`, sha256: this.#part.hex() });
    this.#part = new ListDigest();
  }
}

export interface FollowedHead {
  /** Members of the head. */
  readonly head: Node;
  /** The digests of the receipts, and of the lists. */
  readonly parts: readonly ManifestEntry[];
  readonly lists: readonly ManifestEntry[];
}
