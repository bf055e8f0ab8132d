/** The timing of replies. */
import type { Directives } from './directives.ts';
import type { Reply } from './reply.ts';

/** JSON replies are fast by default, for people who try the gateway. */
const JSON_BASE_MS = 20;
const JSON_MS_PER_TOKEN = 0.2;

/** Returns the milliseconds from the end of the request to the response headers. */
export function delayMs(reply: Reply, directives: Directives): number {
  const { tokensPerSecond } = directives;
  if (directives.delayMs !== null) return directives.delayMs;
  if (tokensPerSecond === 0 || (reply.kind === 'json' && reply.status >= 400)) return 0;
  if (reply.kind === 'stream') return reply.firstTokenMs;
  if (tokensPerSecond === null) return JSON_BASE_MS + reply.completionTokens * JSON_MS_PER_TOKEN;
  return (reply.completionTokens * 1000) / tokensPerSecond;
}

export interface Paced {
  readonly count: number;
  /** Above 0. */
  readonly perSecond: number;
  /** Gets the half-open range that is due now; it has several items if the timer was late. */
  readonly emit: (from: number, to: number) => void;
  readonly done: () => void;
}

/**
 * Emits the first item immediately and then `perSecond`, measured from the start, so that late timers do not slow the stream down.
 * Returns a function that stops it.
 */
export function startPace({ count, perSecond, emit, done }: Paced, now: () => number): () => void {
  const start = now();
  let sent = 0;
  let timer: NodeJS.Timeout | undefined;
  const tick = (): void => {
    const due = Math.min(count, Math.floor(((now() - start) * perSecond) / 1000) + 1);
    if (due > sent) emit(sent, due);
    sent = due;
    if (sent >= count) done();
    else timer = setTimeout(tick, Math.ceil(start + (sent * 1000) / perSecond - now()));
  };
  tick();
  return () => clearTimeout(timer);
}
