/** Packs of few receipts, built as a job builds long ones. */
import { type EvidenceRequest, evidenceRequestSchema } from '@gw/contract/evidence';
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { buildPack } from '@gw/control-plane/internals/ledger/evidence/builds/build';
import { chunksOf } from '@gw/control-plane/internals/ledger/evidence/chunks';
import { claimPack, enterPack, findPack } from '@gw/control-plane/internals/ledger/evidence/packs';
import type { Database } from '@gw/prisma/client';
import { addresses, silentLog, testSeals } from './fixtures.ts';
import { memoryObjects } from './memory-objects.ts';

export interface LongPackOrder {
  readonly accountId: string;
  readonly asked: Partial<EvidenceRequest>;
  readonly now: Date;
}

/** Resolves with its text. */
export async function longPackOf(db: Database, key: SigningKey, { accountId, asked, now }: LongPackOrder) {
  const request = evidenceRequestSchema.parse(asked);
  const from = request.from === undefined ? null : new Date(request.from).toISOString();
  const until = from === null ? null : (request.to === undefined ? now : new Date(request.to)).toISOString();
  const limits = { quotaBytes: 1e9 };
  const entered = await enterPack(db, { accountId, now, request: { asked: request, from, until } }, limits);
  if ('refused' in entered) throw new Error(`The pack was refused: ${entered.refused}.`);
  const claimed = await claimPack(db, entered.id);
  if (claimed === null) throw new Error('Somebody else has the pack.');
  const objects = memoryObjects();
  const options = { db, addresses, key, limits, log: silentLog, objects, seals: testSeals };
  await buildPack(options, claimed, new AbortController().signal);
  const pack = await findPack(db, accountId, entered.id);
  if (pack?.state !== 'ready') throw new Error(`The pack is not ready: ${pack?.reason}.`);
  const bytes: Buffer[] = [];
  for await (const each of chunksOf(objects, pack, 0, Number(pack.bytes))) bytes.push(each);
  return Buffer.concat(bytes).toString();
}
