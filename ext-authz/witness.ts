/**
 * Counts the calls that Envoy has ended and that have a receipt, by account and minute, and states the counts in Postgres. The control plane
 * compares them with the ledger (docs/decisions/0067).
 *
 * Invariants: the counts go to Postgres by a way of their own, past Redis and the sidecars. Each statement is stored once, however often it is
 * sent. It fails open: no call waits for it. While Postgres is unavailable counts stay in memory, up to a limit; what may have gone uncounted
 * is stated as a time, so that it is no alarm.
 */
import { randomBytes } from 'node:crypto';
import { minuteOfReceipt, statementCode, type WitnessStatement } from '@gw/contract/internal/witness';
import type { Statements } from '@gw/prisma/statements';
import type { Logger } from '@gw/service/log';
import { gauge, registering } from '@gw/service/metric';
import type { Registry } from 'prom-client';

export interface Witness {
  /** Takes texts of Envoy's log: an account and the id of a receipt. */
  count(texts: readonly string[]): void;
  /** A connection of Envoy has ended: it may have had entries that were not sent. */
  connectionEnded(): void;
  register(registry: Registry): void;
  /** States what is left, as the last statement. */
  stop(): Promise<void>;
}

export interface WitnessOptions {
  readonly db: Pick<Statements, '$executeRaw'>;
  readonly key: Buffer;
  readonly log: Logger;
  /** Monotonic clock, ms. */
  readonly now: () => number;
}

const tickMs = 1000;
/** The control plane takes a life that says nothing for longer as ended (control-plane/ledger/witness/lives.ts). */
const idleStatementMs = 5000;
const statementEveryMs = 2000;
/** Envoy sends its entries every second; an export that fails may have been under way for some seconds. */
const unsentMs = 15_000;
/** A tick that comes this late: the process stood still, and Envoy may have given up exports meanwhile. */
const stillMs = 3000;
/** Counts that are kept while Postgres is unavailable. */
const mostCounts = 100_000;
/** Counts in one statement, some 500 kB. */
const mostStated = 10_000;
const mostUnsure = 100;

type Span = readonly [fromMs: number, toMs: number];
interface CallsOfMinute {
  readonly minute: number;
  readonly accountId: string;
  calls: number;
}
interface Content {
  readonly calls: readonly CallsOfMinute[];
  readonly unsure: readonly Span[];
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: short functions over one state: the counts that no statement has yet.
export function openWitness({ db, key, log, now }: WitnessOptions): Witness {
  const life = randomBytes(9).toString('base64url');
  /** The calls that no statement has, by `<minute> <account>`. */
  const counts = new Map<string, CallsOfMinute>();
  let unsure: Span[] = [];
  let uncounted = 0;
  let seq = 1;
  /** The content of the statement `seq`, while it is not certain that it is stored. */
  let sent: Content | null = null;
  let storedMs = Number.NEGATIVE_INFINITY;
  let tickedMs = now();
  let isFailing = false;

  const addUnsure = (fromMs: number): void => {
    const toMs = now() + tickMs;
    const last = unsure.at(-1);
    if (last === undefined || (last[1] < fromMs && unsure.length < mostUnsure)) unsure.push([fromMs, toMs]);
    else unsure[unsure.length - 1] = [Math.min(last[0], fromMs), toMs];
  };
  const addCall = (text: string): void => {
    const [accountId, receiptId] = text.split(' ');
    const minute = receiptId === undefined ? null : minuteOfReceipt(receiptId);
    const name = `${minute} ${accountId}`;
    const known = counts.get(name);
    if (known !== undefined) known.calls += 1;
    else if (accountId && minute !== null && counts.size < mostCounts)
      counts.set(name, { minute, accountId, calls: 1 });
    else {
      uncounted += 1;
      addUnsure(now() - unsentMs);
    }
  };
  const taken = (): Content => {
    const some = [...counts].slice(0, mostStated);
    for (const [name] of some) counts.delete(name);
    const content = { calls: some.map(([, calls]) => calls), unsure };
    unsure = [];
    return content;
  };
  const textOf = (content: Content, isLast: boolean): string => {
    const writtenMs = now();
    const age = (ms: number) => Math.round(writtenMs - ms);
    return JSON.stringify({
      calls: content.calls.map(({ accountId, calls, minute }) => [minute, accountId, calls]),
      unsure: content.unsure.map(([fromMs, toMs]) => [age(fromMs), age(toMs)]),
      isLast,
    } satisfies WitnessStatement);
  };
  /** Returns whether it is stored. A statement that was stored although its answer was lost stays as it is. */
  const store = async (isLast: boolean): Promise<boolean> => {
    sent ??= taken();
    const statement = textOf(sent, isLast);
    const code = statementCode(key, { life, seq }, statement);
    try {
      await db.$executeRaw`
        INSERT INTO witness_statements (life, seq, statement, code) VALUES (${life}, ${seq}, ${statement}, ${code})
        ON CONFLICT DO NOTHING`;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'Postgres does not take the counts of calls; they wait in memory');
      isFailing = true;
      return false;
    }
    if (isFailing) log.info('the counts of calls are stored again');
    isFailing = false;
    sent = null;
    seq += 1;
    storedMs = now();
    return true;
  };
  let storing: Promise<unknown> | null = null;
  const tick = (): void => {
    if (now() - tickedMs > stillMs) addUnsure(tickedMs - unsentMs);
    tickedMs = now();
    const isNews = sent !== null || counts.size > 0 || unsure.length > 0;
    if (storing !== null || now() - storedMs < (isNews ? statementEveryMs : idleStatementMs)) return;
    storing = store(false).finally(() => {
      storing = null;
    });
  };
  const timer = setInterval(tick, tickMs);
  // Nobody knows of this life before its first statement, so it does not wait.
  tick();
  return {
    count: (texts) => {
      for (const text of texts) addCall(text);
    },
    connectionEnded: () => addUnsure(now() - unsentMs),
    register: registering(
      gauge('gw_witness_counts_kept', 'Counts of calls, by account and minute, that Postgres does not have yet', () => {
        return counts.size + (sent === null ? 0 : sent.calls.length);
      }),
      gauge(
        'gw_witness_calls_uncounted_total',
        'Calls that could not be counted for the comparison with the ledger',
        () => {
          return uncounted;
        },
      ),
    ),
    async stop() {
      clearInterval(timer);
      await storing;
      // The statement that was sent before may be stored without the word that it is the last.
      while (sent !== null || counts.size > 0) if (!(await store(false))) return;
      await store(true);
    },
  };
}
