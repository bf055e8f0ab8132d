/**
 * Writes a pack of any number of receipts in one pass. Its text comes in sections, each of which grows while the receipts are read.
 *
 * Invariant: the sections, one after the other in the order of `sections`, are the pack.
 */
import { canonicalText } from './canonical.ts';
import { Followed, type ListName, listNames } from './followed.ts';
import { manifestOf } from './manifest.ts';
import {
  aboutPack,
  type Excluded,
  exclusionNode,
  makingOf,
  type PackAbout,
  type PackContents,
  type PackLog,
} from './pack.ts';
import { gatewayOf, type PackedReceipt, receiptNode } from './receipt-node.ts';
import { type PackKey, sealed } from './seal.ts';

export const sections = ['begin', 'receipts', ...listNames, 'excluded', 'end'] as const;
export type Section = (typeof sections)[number];

/** This much text, in characters, takes some milliseconds. */
const pieceLength = 250_000;

export class PackWriter {
  readonly #write: (section: Section, text: string) => void;
  readonly #baseUrl: string;
  readonly #begin: Readonly<Record<string, unknown>>;
  readonly #followed: Followed;

  /** `log`: as it is before the receipts are read. `write` gets the texts of each section in their order. */
  constructor(about: PackAbout & { readonly log: PackLog | null }, write: (section: Section, text: string) => void) {
    this.#baseUrl = about.baseUrl;
    this.#write = write;
    this.#begin = { ...aboutPack(about), log: about.log };
    const begun = new Set<ListName>();
    this.#followed = new Followed((list, text) => {
      write(list, begun.has(list) ? `,${text}` : text);
      begun.add(list);
    });
    write('begin', `${JSON.stringify(this.#begin).slice(0, -1)},"receipts":[`);
    // The order of the sections is fixed, so each list begins by ending the section before it.
    for (const [at, name] of listNames.entries()) write(name, `]${at === 0 ? ',"listed":{' : ','}"${name}":[`);
    write('excluded', ']},"excluded":[');
  }

  /** `receipts`: by time, id and version. Waits for `pause` every few milliseconds, so that a service can look after its other requests. */
  async add(
    receipts: readonly PackedReceipt[],
    excluded: readonly Excluded[],
    pause: () => Promise<unknown>,
  ): Promise<void> {
    let lengthAtOnce = 0;
    for (const each of receipts) {
      const node = receiptNode(each, this.#baseUrl);
      const text = canonicalText(node);
      this.#write('receipts', this.#followed.versions === 0 ? text : `,${text}`);
      this.#followed.add(node, text);
      lengthAtOnce += text.length;
      if (lengthAtOnce < pieceLength) continue;
      await pause();
      lengthAtOnce = 0;
    }
    for (const each of excluded) {
      const text = canonicalText(exclusionNode(each));
      this.#write('excluded', this.#followed.excluded === 0 ? text : `,${text}`);
      this.#followed.exclude(text);
    }
  }

  /** To be called once, after the last receipt. */
  async finish(key: PackKey): Promise<void> {
    const { head: follows, ...digests } = this.#followed.finish();
    const wasGeneratedBy = makingOf(gatewayOf(this.#baseUrl), follows.methodologies);
    const head = { ...follows, wasGeneratedBy };
    const manifest = manifestOf({ ...this.#begin, ...head }, digests);
    const last = { ...head, manifest, signature: await sealed(manifest, key) };
    this.#write('end', `],${JSON.stringify(last).slice(1)}`);
  }
}

/** Resolves with the text of a pack that fits into memory. `pause`: as for `PackWriter.add`. */
export async function packText(
  contents: PackContents,
  key: PackKey,
  pause: () => Promise<unknown> = async () => undefined,
): Promise<string> {
  const texts = new Map<Section, string[]>(sections.map((section) => [section, []]));
  const writer = new PackWriter(contents, (section, text) => texts.get(section)?.push(text));
  await writer.add(contents.receipts, contents.excluded, pause);
  await writer.finish(key);
  return [...texts.values()].flat().join('');
}
