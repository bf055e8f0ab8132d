/**
 * Sends the newest checkpoint of each log to the witnesses, and keeps the cosignatures (https://c2sp.org/tlog-witness).
 *
 * Invariant: only what fits the key of a witness is kept. Open: a witness that is away, refuses, or answers anything else holds up neither the
 * signing nor another witness; packs then have the newest checkpoint without its line. Several instances can do it at once.
 */
import { type Checkpoint, checkpointIn, noteText } from '@gw/evidence/checkpoint';
import { cosignedAt, witnessName } from '@gw/evidence/cosignatures';
import { linesBy, type NoteKey, noteLine, noteLinesIn } from '@gw/evidence/note';
import { type Database, Prisma } from '@gw/prisma/client';
import { guardedRequest } from '@gw/service/guarded-request';
import { Gauge, type Registry } from 'prom-client';
import type { Context } from '../../shared/context.ts';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { consistencyPath, LogBrokenError } from './tree.ts';
import type { LogWitness } from './witnesses.ts';

const everyMs = 10_000;
const timeoutMs = 10_000;
const maxBytes = 65_536;
const firstRestMs = 30_000;
const longestRestMs = 3_600_000;

export interface CosignOptions extends Pick<Context, 'db' | 'guard' | 'log' | 'now'> {
  readonly witnesses: readonly LogWitness[];
}

export function startCosigning(options: CosignOptions): RepeatedJob {
  const stopping = new AbortController();
  const rests = new Rests(options);
  const run = () => cosignAll(options, rests, stopping.signal);
  const job = repeat({ name: 'cosignatures of witnesses', everyMs, log: options.log, run });
  return {
    stop: () => {
      stopping.abort();
      return job.stop();
    },
  };
}

/** How long what has failed is left alone, and what the log is told of it: the first failure, and its end. */
export class Rests {
  readonly #options: Pick<CosignOptions, 'log' | 'now'>;
  /** The account at whose log a witness failed last: the next round begins behind it, since the log may be why. */
  readonly failedAt = new Map<string, string>();
  readonly #failed = new Map<string, { readonly untilMs: number; readonly times: number }>();

  constructor(options: Pick<CosignOptions, 'log' | 'now'>) {
    this.#options = options;
  }

  mayTry(name: string): boolean {
    const failed = this.#failed.get(name);
    return failed === undefined || failed.untilMs <= this.#options.now().getTime();
  }

  fail(name: string, told: Readonly<Record<string, string>>): void {
    const { times = 0 } = this.#failed.get(name) ?? {};
    const untilMs = this.#options.now().getTime() + Math.min(firstRestMs * 2 ** times, longestRestMs);
    this.#failed.set(name, { untilMs, times: times + 1 });
    if (times === 0) this.#options.log.warn(told, 'a witness does not cosign a checkpoint, and is asked again');
  }

  end(name: string, told: Readonly<Record<string, string>>): void {
    if (this.#failed.delete(name)) this.#options.log.info(told, 'a witness cosigns again');
  }
}

/** Asks each witness for what it has not cosigned. Resolves when each has answered, or failed. */
export async function cosignAll(options: CosignOptions, rests: Rests, signal?: AbortSignal): Promise<void> {
  await Promise.all(options.witnesses.map((witness) => cosignBy(options, { rests, witness }, signal)));
}

async function cosignBy(
  options: CosignOptions,
  { rests, witness }: { readonly rests: Rests; readonly witness: LogWitness },
  signal?: AbortSignal,
): Promise<void> {
  const { db } = options;
  const name = witnessName(witness.key);
  if (!rests.mayTry(name)) return;
  const waiting = await uncosigned(db, name);
  const failedAt = rests.failedAt.get(name);
  const behind = failedAt === undefined ? 0 : waiting.findIndex(({ account_id }) => account_id > failedAt);
  const first = Math.max(0, behind);
  for (const { checkpoint: stored, old } of [...waiting.slice(first), ...waiting.slice(0, first)]) {
    const checkpoint = checkpointIn(stored);
    if (checkpoint === null || signal?.aborted) continue;
    const { account, tree_size } = checkpoint;
    const own = `${name} ${account}`;
    if (!rests.mayTry(own)) continue;
    const answer = await ask(options, witness, { checkpoint, old });
    const told = { witness: witness.key.name, account };
    if ('away' in answer) {
      rests.failedAt.set(name, account);
      return rests.fail(name, { ...told, reason: answer.away });
    }
    rests.end(name, { witness: witness.key.name });
    if ('refused' in answer) rests.fail(own, { ...told, reason: answer.refused });
    else {
      rests.end(own, told);
      await db.$executeRaw`
        INSERT INTO receipt_log_cosignatures (account_id, tree_size, witness, line)
        VALUES (${account}, ${tree_size}, ${name}, ${answer.line}) ON CONFLICT DO NOTHING`;
    }
  }
}

interface Uncosigned {
  readonly account_id: string;
  readonly checkpoint: unknown;
  /** The largest size that the witness has cosigned. */
  readonly old: number;
}

/** The newest checkpoints that a witness has not cosigned. */
const uncosigned = (db: Database, witness: string): Promise<Uncosigned[]> =>
  db.$queryRaw<Uncosigned[]>`${uncosignedBy(witness)} ORDER BY a.id COLLATE "C"`;

const uncosignedBy = (witness: string): Prisma.Sql => Prisma.sql`
  SELECT a.id AS account_id, c.checkpoint, s.old FROM accounts a
  CROSS JOIN LATERAL (
    SELECT tree_size, checkpoint FROM receipt_log_checkpoints WHERE account_id = a.id ORDER BY tree_size DESC LIMIT 1) c
  CROSS JOIN LATERAL (
    SELECT coalesce(max(tree_size), 0)::float8 AS old FROM receipt_log_cosignatures
    WHERE account_id = a.id AND witness = ${witness}) s
  WHERE s.old < c.tree_size`;

/** When the oldest of these was signed; null: there is none. */
async function oldestUncosigned(db: Database, witness: string): Promise<Date | null> {
  const [found] = await db.$queryRaw<{ issued: Date | null }[]>`
    SELECT min((checkpoint ->> 'issued')::timestamptz) AS issued FROM (${uncosignedBy(witness)}) waiting`;
  return found?.issued ?? null;
}

/** `away`: nothing can be had of the witness now. `refused`: it does not cosign this. */
type Answer = { readonly line: string } | { readonly away: string } | { readonly refused: string };

async function ask(
  options: CosignOptions,
  { key, url }: LogWitness,
  { checkpoint, old }: { readonly checkpoint: Checkpoint; readonly old: number },
): Promise<Answer> {
  let from = old;
  // Once more, if the witness knows of another size than we do.
  for (const isLast of [false, true]) {
    const body = await requestBody(options.db, checkpoint, from);
    if (body === null) return { refused: 'the log of receipts is broken' };
    const reply = await guardedRequest(options.guard, {
      method: 'POST',
      url: `${url}/add-checkpoint`,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'content-length': String(Buffer.byteLength(body)) },
      body,
      timeoutMs,
      maxBytes,
    });
    if (!reply.ok) return { away: reply.error.text };
    const { body: said, status } = reply.value;
    if (status >= 500 || status === 429) return { away: `it answers ${status}` };
    const known = status === 409 && /^(0|[1-9]\d{0,14})\n$/.test(said) ? Number(said) : null;
    if (known !== null && known > checkpoint.tree_size)
      return { refused: `it has cosigned ${known} entries of this log, which has ${checkpoint.tree_size}` };
    if (known !== null && !isLast) from = known;
    else if (status !== 200) return { refused: `it answers ${status} from ${from} to ${checkpoint.tree_size} entries` };
    else return (await lineIn(said, checkpoint, key)) ?? { refused: 'its reply has no cosignature that fits its key' };
  }
  return { refused: 'it names another size each time' };
}

/** Null: rows of the log that the proof follows from are gone. */
async function requestBody(
  db: Database,
  { account, note, tree_size }: Checkpoint,
  old: number,
): Promise<string | null> {
  try {
    const path = old === tree_size ? [] : await consistencyPath(db, account, old, tree_size);
    const proof = path.map((hash) => `${Buffer.from(hash, 'hex').toString('base64')}\n`);
    return `old ${old}\n${proof.join('')}\n${note}`;
  } catch (error) {
    if (error instanceof LogBrokenError) return null;
    throw error;
  }
}

async function lineIn(said: string, checkpoint: Checkpoint, key: NoteKey): Promise<{ readonly line: string } | null> {
  for (const line of linesBy(noteLinesIn(said) ?? [], key))
    if ((await cosignedAt(noteText(checkpoint), line, key)) !== null) return { line: noteLine(key, line.signature) };
  return null;
}

/** Adds to the metrics how far each witness is behind. */
export function registerCosigning(
  registry: Registry,
  { db, now, witnesses }: Pick<CosignOptions, 'db' | 'now' | 'witnesses'>,
): void {
  registry.registerMetric(
    new Gauge({
      name: 'gw_receipt_log_witness_lag_seconds',
      help: 'Age of the oldest of the newest checkpoints of logs that a witness has not cosigned; 0 if it has cosigned all',
      labelNames: ['witness'],
      registers: [],
      async collect() {
        this.reset();
        for (const { key } of witnesses) {
          const oldest = await oldestUncosigned(db, witnessName(key)).catch(() => undefined);
          if (oldest === undefined) continue;
          const lagMs = oldest === null ? 0 : now().getTime() - oldest.getTime();
          this.set({ witness: key.name }, Math.max(0, lagMs) / 1000);
        }
      },
    }),
  );
}
