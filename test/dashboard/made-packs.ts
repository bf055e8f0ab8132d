/** Two packs of one log, made as the gateway makes them, by a key of their own: one that is too long to be held, and the next one. */
import { readFileSync } from 'node:fs';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import type { Receipt } from '@gw/contract/receipt';
import { type Checkpoint, signedCheckpoint } from '@gw/evidence/checkpoint';
import { LongPack, type Section, sections } from '@gw/evidence/long-pack';
import {
  childrenOf,
  consistencySpans,
  inclusionSpans,
  joined,
  leafHash,
  type Place,
  type Span,
  spanHash,
} from '@gw/evidence/merkle';
import { inCheckout } from '@gw/stack/checkout';

const key = signingKeyOf('01'.repeat(32));
/** As somebody would have it from elsewhere. */
export const madeBy = key.publicJwk.kid;

/** Receipts of the first day, more than 32 MiB of them, and of the next one. */
const [before, after] = [10_500, 3];
const dayS = 86_400;

export interface MadePacks {
  readonly long: string;
  readonly next: string;
}

export async function madePacks(account: string): Promise<MadePacks> {
  const example = JSON.parse(readFileSync(inCheckout('docs', 'examples', 'receipt.json'), 'utf8')) as Receipt;
  const midnightS = Math.floor(Date.parse(example.created_at) / 1000 / dayS) * dayS;
  const at = (seconds: number) => new Date((midnightS + seconds) * 1000);
  const receipts = Array.from({ length: before + after }, (_, index): Receipt => {
    const id = `rcpt_01a1fd70-f1c0-7000-8000-${String(index).padStart(12, '0')}`;
    return { ...example, created_at: at(index < before ? 3600 : dayS + 3600).toISOString(), id };
  });
  const leaves = receipts.map((each) => leafHash(canonicalText(each)));
  const known = new Map<string, string>();
  const hashAt = (place: Place): string => {
    const name = `${place.level}:${place.index}`;
    const found = known.get(name) ?? hashOf(place);
    known.set(name, found);
    return found;
  };
  const hashOf = (place: Place): string =>
    place.level === 0 ? (leaves[place.index] ?? '') : joined(childrenOf(place).map(hashAt));
  const hash = (span: Span): string => spanHash(span, hashAt);
  const checkpointOf = (size: number, signedS: number): Promise<Checkpoint> => {
    const root = hash({ begin: 0, end: size });
    return signedCheckpoint({ account, size, root, completeUntil: at(signedS - 3600), issued: at(signedS) }, key);
  };
  const packOf = async (day: number, begin: number, end: number): Promise<string> => {
    const texts = new Map<Section, string[]>(sections.map((section) => [section, []]));
    const period = { from: at(day * dayS), to: at((day + 1) * dayS) };
    const selection = { from: period.from.toISOString(), to: period.to.toISOString() };
    const log = {
      checkpoint: await checkpointOf(end, (day + 1) * dayS + 3600),
      consistency: day === 0 ? null : { from: begin, path: consistencySpans(begin, end).map(hash) },
    };
    const about = { id: '00000000-0000-4000-8000-000000000001', issuedAt: at(2 * dayS), baseUrl: 'https://gw.example' };
    const pack = new LongPack({ ...about, accountId: account, selection, period, log }, (section, text) =>
      texts.get(section)?.push(text),
    );
    for (let index = begin; index < end; index += 1) {
      const receipt = receipts[index];
      if (receipt === undefined) break;
      pack.add({ receipt, lineage: null, log: { index, path: inclusionSpans(index, end).map(hash) } });
    }
    await pack.finish(key);
    return [...texts.values()].flat().join('');
  };
  return { long: await packOf(0, 0, before), next: await packOf(1, before, before + after) };
}
