/** Packs of logs, made as the gateway makes them, by a key of their own. */
import { readFileSync } from 'node:fs';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import type { Receipt } from '@gw/contract/receipt';
import { signedCheckpoint } from '@gw/evidence/checkpoint';
import { consistencySpans, inclusionSpans, leafHash } from '@gw/evidence/merkle';
import { packText } from '@gw/evidence/pack-writer';
import { inCheckout } from '@gw/stack/checkout';
import { registerOf, spanHashOf } from '@gw/testing/evidence/made-packs';

const key = signingKeyOf('01'.repeat(32));
/** As somebody would have it from elsewhere. */
export const madeBy = key.publicJwk.kid;

const baseUrl = 'https://gw.example';
const dayMs = 86_400_000;

/** Two packs of one log: of the receipts of one day, and of three of the next day. `model` tells one log from another. */
export async function madePacks(
  account: string,
  { receipts: before, model }: { readonly receipts: number; readonly model: string },
): Promise<{ readonly first: string; readonly next: string }> {
  const example = JSON.parse(readFileSync(inCheckout('docs', 'examples', 'receipt.json'), 'utf8')) as Receipt;
  const midnightMs = Math.floor(Date.parse(example.created_at) / dayMs) * dayMs;
  const at = (days: number, hours: number) => new Date(midnightMs + days * dayMs + hours * 3_600_000);
  const receipts = Array.from({ length: before + 3 }, (_, index): Receipt => {
    const id = `rcpt_01a1fd70-f1c0-7000-8000-${String(index).padStart(12, '0')}`;
    return { ...example, id, model, created_at: at(index < before ? 0 : 1, 1).toISOString() };
  });
  const hash = spanHashOf(receipts.map((each) => leafHash(canonicalText(each))));
  const packOf = async (day: number, begin: number, end: number): Promise<string> => {
    const signed = { completeUntil: at(day + 1, 0), issued: at(day + 1, 1) };
    const root = hash({ begin: 0, end });
    const register = registerOf(receipts.slice(0, end).map(({ created_at }) => created_at));
    const hoursRoot = register.root;
    const checkpoint = await signedCheckpoint({ account, baseUrl, size: end, root, hoursRoot, ...signed }, key);
    const [from, to] = [at(day, 0), at(day + 1, 0)];
    const about = { id: '00000000-0000-4000-8000-000000000001', issuedAt: at(2, 0), baseUrl };
    const contents = {
      ...about,
      accountId: account,
      period: { from, to },
      excluded: [],
      selection: { from: from.toISOString(), to: to.toISOString() },
      receipts: receipts.slice(begin, end).map((receipt, place) => {
        const index = begin + place;
        return { receipt, lineage: null, log: { index, path: inclusionSpans(index, end).map(hash) } };
      }),
      log: {
        checkpoint,
        hours: register.hours({ from: from.toISOString(), to: to.toISOString() }),
        consistency: begin === 0 ? null : { from: begin, path: consistencySpans(begin, end).map(hash) },
      },
    };
    return packText(contents, key);
  };
  return { first: await packOf(0, 0, before), next: await packOf(1, before, before + 3) };
}
