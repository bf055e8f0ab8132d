/**
 * The books after the chaos: what the clients saw, what the provider was asked, what the ledger holds and what the day has counted
 * are held against each other. Each difference is a line; there may be none.
 */

import { minuteMs } from '@gw/contract/internal/durations';
import type { Receipt } from '@gw/contract/receipt';
import { receiptInReply } from '@gw/testing/receipt-in-reply';
import { grouped, newest, notAsShown, notRecomputed, type ReceiptRow } from '../long/ledger-claims.ts';
import { type DayCount, wronglyCounted } from './day-count.ts';
import type { Trouble } from './schedule.ts';
import { type Attempt, isReplay } from './traffic.ts';
import type { Blow } from './troubles.ts';

/** An Envoy ended and another one took its place. */
export interface EnvoyEnd {
  /** The address of its listener. */
  readonly url: string;
  readonly atMs: number;
  /** When the one that was started in its place had taken a connection. */
  readonly backMs: number;
}

/** Calls of a minute, as ext-authz has counted them. */
export interface CountedMinute {
  readonly minute: Date;
  readonly calls: number;
}

export interface Books extends DayCount {
  readonly rows: readonly ReceiptRow[];
  /** The count of the second witness. */
  readonly counted: readonly CountedMinute[];
  readonly envoyEnds: readonly EnvoyEnd[];
}

/** Replies that no client may see; waiting does not mend them. */
export const oddReplies = (books: Pick<Books, 'attempts' | 'envoyEnds'>): string[] => [
  ...withoutMeaning(books),
  ...brokenWithoutCause(books),
];

/** Where the books do not balance, or not yet. */
export const differencesOf = (books: Books): string[] => [
  ...notAsShown(shownReceipts(books), books.rows).map((line) => `shown: ${line}`),
  ...idsWithoutReceipt(books),
  ...unequalCounts(books),
  ...keysThatRanTwice(books),
  ...notRecomputed(books.rows).map((line) => `recomputed: ${line}`),
  ...wronglyCounted(books),
  ...wronglyWitnessed(books),
];

const told = ({ kind, marker, status, text, fault, beganMs, endedMs }: Attempt): string =>
  `${kind} ${marker} ${new Date(beganMs).toISOString()} for ${endedMs - beganMs} ms: ${status ?? fault} ${text.slice(-200)}`;

/** The receipts in whole replies. */
export const shownReceipts = ({ attempts }: Pick<Books, 'attempts'>): Receipt[] =>
  attempts.flatMap((attempt) => {
    if (isReplay(attempt)) return [];
    const receipt = receiptIn(attempt);
    return receipt ? [receipt] : [];
  });

/** The codes that a client may see while parts are broken. */
const allowedCodes = new Set([
  ...['internal_error', 'overloaded', 'upstream_error', 'upstream_timeout', 'upstream_invalid_response'],
  ...['upstream_rate_limited', 'region_degraded', 'region_saturated'],
  ...[
    'idempotency_in_progress',
    'idempotency_unavailable',
    'idempotency_reply_not_kept',
    'requests_per_second_exceeded',
  ],
]);

function receiptIn({ status, whole, text }: Attempt): Receipt | null {
  if (status !== 200 || !whole) return null;
  const found = text.startsWith('{')
    ? [JSON.parse(text) as unknown]
    : text.split('\n\n').flatMap((event) => (/^data: \{/.test(event) ? [JSON.parse(event.slice(6)) as unknown] : []));
  const all = found.flatMap((part) => (part as { gw?: unknown }).gw ?? []);
  return all.length === 1 ? receiptInReply.parse(all[0]) : null;
}

/** Each reply is whole with its receipt, or an error with a code that the client can do something with. */
function withoutMeaning({ attempts }: Pick<Books, 'attempts'>): string[] {
  return attempts.flatMap((attempt) => {
    const { status, whole, aborted, headers, text, kind, marker } = attempt;
    if (marker === '') return told(attempt);
    if (aborted || !whole) return [];
    if (status === 200) {
      const receipt = receiptIn(attempt);
      const isOpen = kind === 'cutByProvider';
      if (receipt === null) return isOpen ? [] : `a reply without a receipt: ${told(attempt)}`;
      return receipt.id === headers.get('x-gw-receipt-id') ? [] : `another id in the header: ${told(attempt)}`;
    }
    const code = /"code":"(\w+)"/.exec(text)?.[1] ?? 'none';
    // A provider's 200 that is no JSON, while no sidecar is there: nothing can be given (docs/degraded-receipts.md).
    const isUnreadable = kind === 'refusedByProvider' && code === 'receipt_generation_failed';
    return allowedCodes.has(code) || isUnreadable ? [] : `an odd error: ${told(attempt)}`;
  });
}

/** The system reports a refused connection a moment later to a busy client. */
const tellingMs = 5000;

/** Connections break if their Envoy ends, and streams if the provider cuts them; for nothing else. */
function brokenWithoutCause({ attempts, envoyEnds }: Pick<Books, 'attempts' | 'envoyEnds'>): string[] {
  return attempts.flatMap((attempt) => {
    const { fault, aborted, kind, url, beganMs, endedMs } = attempt;
    if (fault === null || aborted || kind === 'cutByProvider') return [];
    const isCause = (end: EnvoyEnd) => end.url === url && end.atMs <= endedMs && end.backMs + tellingMs >= beganMs;
    return envoyEnds.some(isCause) ? [] : `broken although its Envoy ran: ${told(attempt)} ${fault}`;
  });
}

/** Also who got an error, or half of a reply, has the id of a receipt that is there. */
function idsWithoutReceipt({ attempts, rows }: Books): string[] {
  const ids = new Set(rows.map(({ id }) => id));
  return attempts.flatMap((attempt) => {
    const id = attempt.headers.get('x-gw-receipt-id');
    return id === null || ids.has(id) ? [] : `no receipt ${id} of ${told(attempt)}`;
  });
}

const requestOf = ({ headers }: Attempt): string | null => headers.get('x-request-id');

/**
 * Each call that reached the provider has one receipt, and each receipt is of such a call. The name of a request is in its
 * reply; those without one, whose connection broke or whose client left, are counted. Who leaves at the moment in which
 * the call goes out may have a receipt, without numbers, of a call that the provider never read.
 */
function unequalCounts({ attempts, providerCalls, rows }: Books): string[] {
  const asked = new Set(providerCalls.map(({ marker }) => marker));
  const all = newest(rows).map(({ body }) => body);
  const receipts = grouped(all, ({ request_id }) => request_id);
  const named = new Map(
    attempts.flatMap((attempt) => {
      const name = requestOf(attempt);
      return name === null ? [] : [[name, attempt] as const];
    }),
  );
  const wrong = [...named].flatMap(([name, attempt]) => {
    const its = receipts.get(name) ?? [];
    if (its.length === (asked.has(attempt.marker) ? 1 : 0)) return [];
    // Its sidecar died at the moment in which it handed the call over, and nobody else knows whether it went out.
    if (its.length === 1 && its[0]?.degraded_reason === 'sidecar_unavailable' && attempt.status === 503) return [];
    return `${its.length} receipts of ${told(attempt)}: ${its.map(wordsOf).join(', ')}`;
  });
  const unanswered = attempts.filter((attempt) => requestOf(attempt) === null);
  const reached = unanswered.filter(({ marker }) => asked.has(marker));
  const others = all.filter(({ request_id }) => request_id === null || !named.has(request_id));
  const withNumbers = others.filter(({ energy_wh }) => energy_wh !== null);
  const fits =
    withNumbers.length <= reached.length && reached.length <= others.length && others.length <= unanswered.length;
  if (fits) return wrong;
  const count = `${unanswered.length} calls were not answered, of which ${reached.length} reached the provider; they have ${others.length} receipts, ${withNumbers.length} with numbers: `;
  return [...wrong, count + others.map(wordsOf).join(', ')];
}

const wordsOf = ({ id, created_at, status, degraded_reason, request_id, model }: Receipt): string =>
  `${id} ${Date.parse(created_at)} ${status} ${degraded_reason} ${model} of ${request_id}`;

/** With one key the provider is asked again only where the reply says so. */
function keysThatRanTwice({ attempts, providerCalls }: Books): string[] {
  const asked = new Set(providerCalls.map(({ marker }) => marker));
  const keys = grouped(attempts, ({ idempotencyKey }) => idempotencyKey);
  return [...keys].flatMap(([key, ofKey]) => {
    if (key === null) return [];
    const ran = ofKey.filter(({ marker }) => asked.has(marker));
    const silent = ran.filter(({ headers, status, whole, aborted }) => {
      // Who never saw an answer was told nothing, and no one else either.
      return status === 200 && whole && !aborted && !headers.has('idempotent-reexecuted');
    });
    const replayed = new Set(ofKey.filter(isReplay).map(({ headers }) => headers.get('x-gw-receipt-id')));
    // The first reply among them.
    const same = ofKey.filter(({ headers, whole }) => whole && replayed.has(headers.get('x-gw-receipt-id')));
    const replies = new Set(same.map(({ text }) => text));
    const lines =
      silent.length > 1 ? [`${key} ran ${silent.length} times without a word: ${ofKey.map(told).join(' | ')}`] : [];
    if (replies.size > replayed.size) lines.push(`${key} has different replies: ${[...replies].join(' and ')}`);
    return lines;
  });
}

/** Entries that Envoy had not sent yet may be so old, and calls may end so long after a part is back. */
const unsentMs = 30_000;
/** Where counts of calls may be lost. */
const losesCounts: readonly Trouble[] = ['kill', 'away', 'restart', 'pause', 'slow'];

/**
 * Each call that ext-authz has counted has its receipt, minute by minute, whatever died. Receipts with numbers that it has not counted are no
 * more than the calls that ended while an Envoy or an ext-authz was broken, or before a replica of Postgres was promoted, which lacks the last
 * counts.
 */
function wronglyWitnessed({ attempts, blows, counted, rows }: Books): string[] {
  const minuteOf = (at: Date): number => Math.floor(at.getTime() / minuteMs);
  const issued = grouped(
    rows.filter(({ version }) => version === 1),
    ({ createdAt }) => minuteOf(createdAt),
  );
  const missing = counted.flatMap(({ calls, minute }) => {
    const receipts = issued.get(minuteOf(minute))?.length ?? 0;
    return calls <= receipts
      ? []
      : `${calls} calls were counted in ${minute.toISOString()}, which has ${receipts} receipts`;
  });
  const calls = new Map(counted.map((each) => [minuteOf(each.minute), each.calls]));
  const uncounted = [...issued].reduce((sum, [minute, receipts]) => {
    const measured = receipts.filter(({ body }) => body.energy_wh !== null).length;
    return sum + Math.max(0, measured - (calls.get(minute) ?? 0));
  }, 0);
  const isBreak = ({ part, trouble }: Blow): boolean =>
    trouble === 'promote' || (/^(envoy|ext-authz)/.test(part) && losesCounts.includes(trouble));
  const breaks = blows.filter(isBreak);
  const excused = attempts.filter(({ endedMs }) =>
    breaks.some(({ atMs, forMs }) => endedMs >= atMs - unsentMs && endedMs <= atMs + forMs + unsentMs),
  ).length;
  return uncounted <= excused
    ? missing
    : [
        ...missing,
        `${uncounted} receipts with numbers were not counted; ${excused} calls ended while counts may be lost`,
      ];
}
