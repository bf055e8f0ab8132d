/** Holds the day's count of calls in Valkey against the calls that were let in. */
import type { ProviderCall } from './provider-calls.ts';
import type { Trouble } from './schedule.ts';
import { type Attempt, connections, isReplay } from './traffic.ts';
import type { Blow } from './troubles.ts';
import type { Forgotten } from './valkey-memory.ts';

export interface DayCount {
  readonly attempts: readonly Attempt[];
  readonly providerCalls: readonly ProviderCall[];
  readonly blows: readonly Blow[];
  /** Lost writes of Valkey. */
  readonly forgotten: readonly Forgotten[];
  /** The account's count of the day. */
  readonly usedToday: number;
}

/**
 * A call that was let in counts once in the day; nobody knows it of one whose connection broke. Calls under way to a part that died
 * may be counted a second time, and a Valkey that has demonstrably lost acknowledged writes has lost their counts with them
 * (docs/failure-modes.md). A call with a lease has the headers of the lease before a sidecar has counted it, so a 503 with them may have
 * met no sidecar. Otherwise no count is missing.
 */
export function wronglyCounted({ attempts, blows, forgotten, providerCalls, usedToday }: DayCount): string[] {
  const asked = new Set(providerCalls.map(({ marker }) => marker));
  const sent = attempts.filter((each) => each.marker !== '' && !isReplay(each));
  const isAnswered = ({ headers, status }: Attempt) => status !== 503 && headers.has('x-ratelimit-remaining-day');
  const sure = sent.filter((each) => asked.has(each.marker) || isAnswered(each));
  const lost = [...forgotten.map((span) => withDebts(span, blows)), ...debtsOfSidecars(blows)];
  const uncounted = sure.filter(({ beganMs, endedMs }) => lost.some((s) => beganMs <= s.toMs && endedMs >= s.fromMs));
  const deaths = blows.filter(({ part, trouble }) => countTwice[part.replace('-2', '')]?.includes(trouble)).length;
  const isWithin = usedToday >= sure.length - uncounted.length && usedToday <= sent.length + deaths * connections;
  if (isWithin) return [];
  const counts = `the day counts ${usedToday}; ${sure.length} calls were let in for sure, ${sent.length} were sent`;
  return [`${counts}, Valkey may have lost ${uncounted.length}, and ${deaths} times calls may have counted twice`];
}

/** Where a question about a limit may be put a second time, after its first answer was lost. */
const countTwice: Readonly<Record<string, readonly Trouble[]>> = {
  'ext-authz': ['kill', 'away'],
  valkey: ['kill', 'away', 'restart', 'cut', 'failover'],
};

const ends: readonly Trouble[] = ['kill', 'away', 'restart'];

/** A sidecar that ends while Valkey is away takes with it what it has let in of calls with a lease. */
function debtsOfSidecars(blows: readonly Blow[]): Forgotten[] {
  const ended = blows.filter(({ part, trouble }) => part.startsWith('receipt-sidecar') && ends.includes(trouble));
  return blows.flatMap(({ atMs, forMs, part }) => {
    if (part !== 'valkey') return [];
    const after = ended.filter((end) => end.atMs >= atMs && end.atMs <= atMs + forMs + settledMs);
    return after.map((end) => ({ fromMs: atMs, toMs: end.atMs }));
  });
}

/** Until each ext-authz has settled what it admitted without Valkey. */
const settledMs = 6000;

/** An ext-authz settles the calls of a whole outage with one write; if that is lost, so are their counts. */
function withDebts({ fromMs, toMs }: Forgotten, blows: readonly Blow[]): Forgotten {
  const ofValkey = blows.filter(({ part }) => part === 'valkey');
  const before = ofValkey.filter(({ atMs, forMs }) => atMs < fromMs && atMs + forMs + settledMs >= fromMs);
  const begin = Math.min(fromMs, ...before.map(({ atMs }) => atMs));
  return begin === fromMs ? { fromMs, toMs } : withDebts({ fromMs: begin, toMs }, blows);
}
