/**
 * A pack of any number of receipts, made in one pass: its text comes in sections, each of which grows while the receipts are read.
 *
 * Invariant: the sections one after the other, in the order of `sections`, are the pack. Its manifest has a digest of each
 * thousand receipts, because what Ed25519 signs has to be in memory as a whole.
 */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { canonicalText } from './canonical.ts';
import { longPackContext } from './context.ts';
import { Followed, type ListName, listNames, receiptsPerPart } from './followed.ts';
import { entryOf, type ManifestEntry } from './manifest.ts';
import { aboutPack, type Excluded, exclusionNode, type PackAbout, type PackedReceipt, type PackLog } from './pack.ts';
import { receiptNode } from './receipt-node.ts';
import { ListDigest } from './running-digest.ts';
import { signed } from './signature.ts';

export const longPackFormat = 'gw.evidence_pack/2';

export const sections = ['begin', 'receipts', ...listNames, 'excluded', 'end'] as const;
export type Section = (typeof sections)[number];

export interface LongManifest {
  readonly digest: 'SHA-256 over RFC 8785';
  readonly receipts_per_part: number;
  readonly parts: readonly ManifestEntry[];
}

export const longManifest = (parts: readonly ManifestEntry[]): LongManifest => ({
  digest: 'SHA-256 over RFC 8785',
  receipts_per_part: receiptsPerPart,
  parts,
});

/** `log`: as it was before the receipts were read. */
export type LongPackAbout = PackAbout & { readonly log: PackLog | null };

export class LongPack {
  readonly #write: (section: Section, text: string) => void;
  readonly #about: LongPackAbout;
  readonly #begin: Readonly<Record<string, unknown>>;
  readonly #excluded = new ListDigest();
  readonly #followed: Followed;

  /** `write` gets the texts of each section in their order. */
  constructor(about: LongPackAbout, write: (section: Section, text: string) => void) {
    this.#about = about;
    this.#write = write;
    this.#begin = { ...aboutPack(about, { context: longPackContext, format: longPackFormat }), log: about.log };
    const begun = new Set<ListName>();
    this.#followed = new Followed((list, text) => {
      write(list, begun.has(list) ? `,${text}` : text);
      begun.add(list);
    });
    write('begin', `${JSON.stringify(this.#begin).slice(0, -1)},"receipts":[`);
    // The names of the lists stand at the ends of the sections before them, whose order is fixed.
    for (const [at, name] of listNames.entries()) write(name, `]${at === 0 ? ',"listed":{' : ','}"${name}":[`);
    write('excluded', ']},"excluded":[');
  }

  /** By time, id and version. */
  add(each: PackedReceipt): void {
    const node = receiptNode(each, this.#about.baseUrl);
    const text = canonicalText(node);
    this.#write('receipts', this.#followed.versions === 0 ? text : `,${text}`);
    this.#followed.add(node, text);
  }

  exclude(each: Excluded): void {
    const text = canonicalText(exclusionNode(each));
    this.#write('excluded', this.#excluded.length === 0 ? text : `,${text}`);
    this.#excluded.add(text);
  }

  async finish(key: SigningKey): Promise<void> {
    const { head, lists, parts } = this.#followed.finish(this.#excluded.length);
    const excluded = { part: 'excluded', sha256: this.#excluded.hex() };
    const whole = entryOf('head', canonicalText({ ...this.#begin, ...head }));
    const manifest = longManifest([whole, ...parts, ...lists, excluded]);
    const last = { ...head, manifest, signature: await signed(manifest, key) };
    this.#write('end', `],${JSON.stringify(last).slice(1)}`);
  }
}
