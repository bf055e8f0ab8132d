/**
 * Builds a pack or a table, window by window.
 *
 * Invariants: it holds the receipts of one window, whatever was asked for. It stops when another instance has the pack, or when the pack was
 * cancelled; another try begins from nothing. While the store of objects does not answer it waits where it is, and says so.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { PackFormat } from '@gw/contract/evidence';
import { errorText } from '@gw/contract/internal/error-text';
import { KeyAwayError } from '@gw/contract/internal/evidence-keys';
import type { PackAbout } from '@gw/evidence/pack';
import type { Context } from '../../../shared/context.ts';
import { ObjectsUnavailableError } from '../../../shared/objects/objects.ts';
import { retentionOf } from '../../retention/policy.ts';
import { ChunkWriter } from '../chunks.ts';
import {
  finishPack,
  leavePack,
  notePack,
  type PackLimits,
  PackLostError,
  type PackRow,
  quotaReason,
  waitPack,
} from '../packs.ts';
import { countVersions, windowsOf } from '../windows.ts';
import { csvTable } from './csv.ts';
import { jsonLdProduct } from './json-ld.ts';
import type { Product, ProductOrder, ProductStores } from './product.ts';
import { tableProduct } from './table.ts';

export interface BuildOptions extends Pick<Context, 'addresses'>, ProductStores {
  readonly limits: PackLimits;
}

/** Receipts in a window. A lineage is as long as ten receipts. */
const windowSize = { plain: 500, withLineage: 50 } as const;

/** The pack must not be tried again. The message is for the client. */
class PackFailedError extends Error {}

/** Builds a pack that was claimed. Rejects only if not even the failure can be stored; the lease then runs out. */
export async function buildPack(options: BuildOptions, pack: PackRow, signal: AbortSignal): Promise<void> {
  const { db, log } = options;
  try {
    await build(options, pack, signal);
    log.info({ pack: pack.id, account: pack.account_id }, 'an evidence pack is ready');
  } catch (error) {
    if (error instanceof PackLostError) return;
    const failed = error instanceof PackFailedError;
    if (!failed && !signal.aborted) log.warn({ pack: pack.id, err: error }, 'an evidence pack could not be built');
    await leavePack(db, pack, failed ? errorText(error) : null);
  }
}

async function build(options: BuildOptions, pack: PackRow, signal: AbortSignal): Promise<void> {
  const { db, limits } = options;
  const about = aboutOf(options, pack);
  const { asked } = pack.request;
  const { key, objects } = patientParts(options, pack, signal);
  const writer = new ChunkWriter(objects, pack);
  const product = await products[pack.format]({ ...options, key, objects }, { about, pack, writer });
  const selection = { accountId: about.accountId, asked, period: about.period };
  const total = await countVersions(db, selection);
  let done = 0;
  const size = asked.include_lineage ? windowSize.withLineage : windowSize.plain;
  for await (const window of windowsOf(db, selection, size)) {
    signal.throwIfAborted();
    done += await product.take(window);
    await writer.flush();
    const kept = await notePack(db, pack, { done, total, keptBytes: writer.keptBytes });
    if (kept > limits.quotaBytes) throw new PackFailedError(quotaReason(limits));
  }
  const statement = await product.finish();
  const chunksSha256 = await writer.finish();
  const { bytes, keptBytes } = writer;
  await notePack(db, pack, { done, total: done, keptBytes });
  const keepDays = (await retentionOf(db, 'evidence_packs')).of(pack.account_id);
  await finishPack(db, pack, { bytes, chunksSha256, keptBytes, keepDays, statement });
}

/** Shorter than the lease, together with the time that a store takes to be found away. */
const restMs = 3000;

/** The store and the key for a build: they answer late rather than reject while theirs does not answer. */
function patientParts({ db, key, log, objects }: BuildOptions, pack: PackRow, signal: AbortSignal) {
  const patient = async <T>(ask: () => Promise<T>): Promise<T> => {
    for (;;)
      try {
        return await ask();
      } catch (error) {
        const reason = reasonOf(error);
        if (reason === null) throw error;
        log.warn({ pack: pack.id, err: error }, 'an evidence pack waits for what it is built with');
        await waitPack(db, pack, reason);
        await delay(restMs, undefined, { signal });
      }
  };
  return {
    key: { ...key, sign: (bytes: Uint8Array) => patient(() => key.sign(bytes)) },
    objects: {
      ...objects,
      get: (name: string, most?: number) => patient(() => objects.get(name, most)),
      put: (name: string, bytes: Buffer) => patient(() => objects.put(name, bytes)),
    },
  };
}

/** Says in a sentence for the client why a pack waits; null: it does not wait for an error of this kind. */
function reasonOf(error: unknown): string | null {
  if (error instanceof ObjectsUnavailableError) return 'It waits for the object store, which does not answer.';
  return error instanceof KeyAwayError ? 'It waits for the key that signs it, whose service does not answer.' : null;
}

const products: Readonly<
  Record<PackFormat, (stores: ProductStores, order: ProductOrder) => Product | Promise<Product>>
> = {
  jsonld: jsonLdProduct,
  csv: (stores, order) => tableProduct(stores, order, csvTable),
  // It is loaded here, so that a gateway without tables does not need the memory.
  parquet: async (stores, order) => tableProduct(stores, order, (await import('./parquet.ts')).parquetTable),
};

function aboutOf({ addresses }: BuildOptions, { account_id, created_at, id, request }: PackRow): PackAbout {
  const { asked, from, until } = request;
  const period = from === null || until === null ? null : { from: new Date(from), to: new Date(until) };
  return {
    id: id.replace('pack_', ''),
    issuedAt: created_at,
    baseUrl: addresses.baseUrl,
    accountId: account_id,
    period,
    selection: { ...asked, ...(from !== null && { from, to: until }) },
  };
}
