/** The log of a pack, as far as no database is needed; with one: control-plane/ledger/evidence/proven-packs.pg.test.ts. */
import { readFileSync } from 'node:fs';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import type { Receipt } from '@gw/contract/receipt';
import { cases } from '@gw/testing/cases';
import { bytesOf, registerOf, spanHashOf } from '@gw/testing/evidence/made-packs';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { canonicalText } from './canonical.ts';
import { type Checkpoint, signedCheckpoint } from './checkpoint.ts';
import { consistencySpans, inclusionSpans, leafHash } from './merkle.ts';
import type { PackContents } from './pack.ts';
import { PackFileError } from './pack-file.ts';
import { packText } from './pack-writer.ts';
import { signed } from './signature.ts';
import { type PackVerification, type VerifyOptions, verifyPack } from './verify.ts';

const example = new URL('../docs/examples/receipt.json', import.meta.url);
const receipt = JSON.parse(readFileSync(example, 'utf8')) as Receipt;
const key = signingKeyOf('01'.repeat(32));
const trust = { thumbprint: key.publicJwk.kid };
const receipts = Array.from({ length: 6 }, (_, at) => ({
  ...receipt,
  id: `rcpt_01a1fd70-f1c0-7000-8000-00000000000${at}`,
  model: at % 2 === 0 ? 'even' : 'odd',
}));
const leaves = receipts.map((each) => leafHash(canonicalText(each)));
const hash = spanHashOf(leaves);
/** The first was signed within the hour of the calls, so the others are not late. */
const issuedAt = (size: number) => new Date(size === 3 ? '2026-11-21T09:45:00Z' : '2026-11-30T00:00:00Z');
const completeUntil = (size: number) => new Date(size === 3 ? '2026-11-21T09:00:00Z' : '2026-11-29T23:00:00Z');
const registerAt = (size: number) => registerOf(receipts.slice(0, size).map(({ created_at }) => created_at));
const checkpointOf = (size: number, signer = key, account = 'acct_1'): Promise<Checkpoint> =>
  signedCheckpoint(
    {
      account,
      baseUrl: 'https://gw.example',
      size,
      root: hash({ begin: 0, end: size }),
      hoursRoot: registerAt(size).root,
      completeUntil: completeUntil(size),
      issued: issuedAt(size),
    },
    signer,
  );

const year = { from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' };

interface Made {
  readonly checkpoint: Checkpoint;
  readonly selection?: Record<string, string>;
  readonly only?: (each: Receipt) => boolean;
  /** Changes to the second receipt that its log entry does not know of. */
  readonly changed?: Partial<Receipt>;
}
async function packWith({ changed, checkpoint, only = () => true, selection = {} }: Made): Promise<unknown> {
  const contents: PackContents = {
    id: '00000000-0000-4000-8000-000000000001',
    issuedAt: new Date(0),
    baseUrl: 'https://gw.example',
    accountId: 'acct_1',
    selection: { ...year, ...selection },
    excluded: [],
    period: { from: new Date(year.from), to: new Date(year.to) },
    receipts: receipts
      .map((each, index) => ({ index, receipt: each }))
      .filter((each) => only(each.receipt) && each.index < checkpoint.tree_size)
      .map(({ index, receipt: each }) => {
        const path = inclusionSpans(index, checkpoint.tree_size).map(hash);
        const said = index === 1 ? { ...each, ...changed } : each;
        return { receipt: said, lineage: null, log: { index, path } };
      }),
    log: {
      checkpoint,
      ...(Object.keys(selection).length === 0 && { hours: registerAt(checkpoint.tree_size).hours(year) }),
      consistency: { from: 3, path: consistencySpans(3, checkpoint.tree_size).map(hash) },
    },
  };
  return JSON.parse(await packText(contents, key));
}

const verified = (pack: unknown, options: Omit<VerifyOptions, 'trust'> = {}): Promise<PackVerification> =>
  verifyPack(bytesOf(pack), { trust, ...options });

const fieldsOf = ({ mismatches }: PackVerification) => mismatches.map(({ field }) => field);

describe('the log of a pack', () => {
  let earlier: unknown;
  let pack: unknown;
  beforeAll(async () => {
    earlier = await packWith({ checkpoint: await checkpointOf(3) });
    pack = await packWith({ checkpoint: await checkpointOf(6) });
  });

  it('proves its receipts, and goes on from the earlier one', async () => {
    expect(await verified(pack, { earlier })).toMatchObject({
      mismatches: [],
      log: { proven: 6, late: [] },
    });
  });

  it('is believed of a trusted key and of its account alone', async () => {
    const foreign = await checkpointOf(6, signingKeyOf('02'.repeat(32)));
    expect(fieldsOf(await verified(await packWith({ checkpoint: foreign })))).toEqual(['log.checkpoint.signature']);
    const other = await checkpointOf(6, key, 'acct_2');
    expect(fieldsOf(await verified(await packWith({ checkpoint: other })))).toEqual(['log.checkpoint.account']);
    const unsigned = { ...(await checkpointOf(6)), issued: '2026-12-01T00:00:00.000Z' };
    expect(fieldsOf(await verified(pack, { earlier: unsigned }))).toEqual(['earlier.signature']);
  });

  it('of some receipts alone lacks none of the earlier pack', async () => {
    const only = ({ model }: Receipt) => model === 'odd';
    const checkpoint = await checkpointOf(6);
    const some = await packWith({ checkpoint, only, selection: { model: 'odd' } });
    expect(await verified(some, { earlier })).toMatchObject({ mismatches: [], log: { proven: 3 } });
    // The same, and nobody asked for less.
    const lacking = await verified(await packWith({ checkpoint, only }), { earlier });
    expect(lacking.mismatches.map(({ found, receipt: name }) => [name, found])).toEqual([
      [null, 'not in the pack'],
      ...[0, 2].map((at) => [`urn:gw:receipt:${receipts[at]?.id}:1`, 'nothing']),
    ]);
  });

  it('names what a kept pack has otherwise, and believes of that only what is signed', async () => {
    const checkpoint = await checkpointOf(6);
    const kept = Object(earlier);
    const altered = Object(await packWith({ checkpoint, changed: { energy_wh: 7 } }));
    const { mismatches } = await verified(altered, { earlier: kept });
    const named = { receipt: `urn:gw:receipt:${receipts[1]?.id}:1`, expected: 'as it was in the earlier pack' };
    expect(mismatches).toContainEqual({ ...named, field: 'receipt', found: 'another content' });
    const alone = await verified(altered);
    expect(alone.mismatches).toMatchObject([{ receipt: named.receipt, field: 'log' }]);
    // The same, if the kept one was altered instead.
    const [first, ...others] = kept.receipts;
    const made = { ...kept, receipts: [{ ...first, energy_wh: '7' }, ...others] };
    expect(fieldsOf(await verified(pack, { earlier: made }))).toContain('earlier.sha256');
    const foreign = await signed(kept.manifest, signingKeyOf('02'.repeat(32)));
    expect(fieldsOf(await verified(pack, { earlier: { ...kept, signature: foreign } }))).toEqual(['earlier.signature']);
  });

  it('that is anything at all gets an answer', async () => {
    const onFault = vi.fn();
    const isRefused = (answer: Promise<PackVerification>): Promise<boolean> =>
      answer.then(
        ({ mismatches }) => mismatches.length > 0,
        (error) => error instanceof PackFileError,
      );
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (value, kept) => {
        const log = { ...Object(pack).log, consistency: value };
        for (const each of [value, log])
          expect(await isRefused(verified({ ...Object(pack), log: each }, { earlier: kept, onFault }))).toBe(true);
      }),
      { numRuns: cases(300, 25) },
    );
    expect(onFault).not.toHaveBeenCalled();
  });
});
