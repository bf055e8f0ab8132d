/**
 * Builds a long pack, window by window.
 *
 * Invariant: it holds the receipts of one window, whatever was asked for. It stops where somebody else has the pack, or nobody wants
 * it any more; another try begins from nothing.
 */
import { setImmediate } from 'node:timers/promises';
import { errorText } from '@gw/contract/internal/error-text';
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { LongPack, sections } from '@gw/evidence/long-pack';
import type { PackAbout } from '@gw/evidence/pack';
import type { Context } from '../../shared/context.ts';
import { goingOn } from '../log/routes.ts';
import { newestCheckpoint } from '../log/tree.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { ChunkWriter } from './chunks.ts';
import { packedOf } from './make-pack.ts';
import { finishPack, leavePack, notePack, type PackLimits, PackLostError, type PackRow, quotaReason } from './packs.ts';
import { selectReceipts } from './select.ts';
import { countVersions, windowsOf } from './windows.ts';

export interface BuildOptions extends Pick<Context, 'addresses' | 'db' | 'log'> {
  readonly seals: Seals;
  readonly key: SigningKey;
  readonly limits: PackLimits;
}

/** Receipts of a window; with their lineages, each of which is as long as ten receipts. */
const windowSize = { plain: 500, withLineage: 50 } as const;

/** It is not to be tried again. The message is for the client. */
class PackFailedError extends Error {}

/** Builds a pack that was claimed. Rejects only if not even its failure can be noted; then its lease ends. */
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
  const { db, key, limits } = options;
  const about = aboutOf(options, pack);
  const { asked } = pack.request;
  const { account_id: accountId } = pack;
  // Before the receipts: whatever it counts was stored by then.
  const checkpoint = await newestCheckpoint(db, accountId);
  const { earlier_tree_size: from = null } = asked;
  const consistency = checkpoint === null || from === null ? null : await goingOn(db, checkpoint, from);
  const writer = new ChunkWriter(db, pack);
  const text = new LongPack({ ...about, log: checkpoint && { checkpoint, consistency } }, (section, piece) =>
    writer.write(sections.indexOf(section), Buffer.from(piece)),
  );
  const selection = { accountId, asked, period: about.period };
  const total = await countVersions(db, selection);
  let done = 0;
  const size = asked.include_lineage ? windowSize.withLineage : windowSize.plain;
  for await (const window of windowsOf(db, selection, size)) {
    signal.throwIfAborted();
    const selected = await selectReceipts(options, accountId, { ...window, most: Number.MAX_SAFE_INTEGER });
    if (selected === null) throw new Error('A window has too many receipts.');
    const choice = { selected, checkpoint, earlierSize: null, withLineage: asked.include_lineage };
    const found = await packedOf(options, { about: { ...about, period: window.period }, ...choice });
    if (found.log?.fault !== undefined)
      options.log.error({ pack: pack.id, fault: found.log.fault }, 'an evidence pack lacks proofs');
    for (const [at, each] of found.receipts.entries()) {
      // Others wait.
      if (at % 25 === 0) await setImmediate();
      text.add(each);
    }
    for (const each of found.excluded) text.exclude(each);
    done += found.receipts.length;
    await writer.flush();
    const kept = await notePack(db, pack, { done, total, keptBytes: writer.keptBytes });
    if (kept > limits.quotaBytes) throw new PackFailedError(quotaReason(limits));
  }
  await text.finish(key);
  await writer.flush('all');
  const { bytes, keptBytes } = writer;
  await notePack(db, pack, { done, total: done, keptBytes });
  await finishPack(db, pack, { bytes, keptBytes, keepDays: limits.keepDays });
}

function aboutOf({ addresses }: BuildOptions, { account_id, created_at, id, request }: PackRow): PackAbout {
  const { asked, from, until } = request;
  const period = from === null || until === null ? null : { from: new Date(from), to: new Date(until) };
  return {
    ...{ id: id.replace('pack_', ''), issuedAt: created_at, baseUrl: addresses.baseUrl, accountId: account_id, period },
    selection: { ...asked, ...(from !== null && { from, to: until }) },
  };
}
