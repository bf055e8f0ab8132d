/**
 * Limits in tokens per minute and per UTC day, of an account and of a key.
 *
 * Invariants: a call takes its estimate from all of these limits or from none, before a provider is asked, however many deployments it tries. When
 * it ends, the tokens that its receipt states replace the estimate, once. What is never replaced, because this process has died, refills in the
 * bucket within a minute and counts in the day. While Redis is unavailable, each instance goes on with its share of each limit
 * (`service/limits/limiter.ts`): never unlimited, never closed. A call without such limits asks nothing.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import { elementAt } from '@gw/contract/internal/defined';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { lack } from '@gw/service/limits/bucket';
import type { Decision } from '@gw/service/limits/decision';
import type { DrawnLimits, Level } from '@gw/service/limits/drawn-limits';
import { type LimitHeader, limitHeaders, ofTokens, wholeSeconds } from '@gw/service/limits/limit-headers';
import type { LimitMetrics } from '@gw/service/limits/limit-metrics';
import type { Limiter } from '@gw/service/limits/limiter';

export interface TokenEstimates {
  readonly promptTokens: number;
  /** The longest answer that the client allows, or one of typical length if the client sets no limit. */
  readonly completionTokens: number;
  /** Counts if the call ran and its receipt states no tokens: all of them, with an answer of typical length at most. */
  readonly assumed: number;
}

export interface TakenTokens {
  /** For the headers of the reply. */
  readonly shown: readonly LimitHeader[];
  /** Counts if the call ran and its receipt states no tokens. */
  readonly assumed: number;
  /** Replaces the estimate by the tokens that were used, once; 0 if no provider was asked. */
  settle(used: number): void;
}

export interface RefusedTokens {
  readonly error: ApiError;
  readonly shown: readonly LimitHeader[];
}

export interface TokenLimits {
  take(accountId: string, limits: DrawnLimits, estimate: TokenEstimates): Promise<Result<TakenTokens, RefusedTokens>>;
}

export interface TokenLimitOptions {
  readonly limiter: Pick<Limiter, 'correct' | 'decide'>;
  readonly metrics: Pick<LimitMetrics, 'decided'>;
  /** The clock, ms since 1970. */
  readonly now: () => number;
}

const kind = 'tokens';

/** Reads a limit from its text, `per minute/per day`; null: none. */
export function tokenLevel(of: Level['of'], id: string, text: string | undefined): Level | null {
  if (!text) return null;
  const [perMinute = null, perDay = null] = text.split('/').map((part) => (part === '' ? null : Number(part)));
  const rate = perMinute === null ? null : { perS: perMinute / 60, burst: perMinute };
  return { of, id, limit: { rate, perDay, owes: true } };
}

export function openTokenLimits({ limiter, metrics, now }: TokenLimitOptions): TokenLimits {
  return {
    async take(accountId, limits, estimate) {
      const cost = estimate.promptTokens + estimate.completionTokens;
      const drawn: DrawnLimits = { ...limits, cost };
      const decidedMs = now();
      const decision = await limiter.decide(accountId, kind, drawn);
      metrics.decided(accountId, kind, drawn, decision);
      const shown = limitHeaders(drawn, decision, ofTokens);
      if (!decision.admitted) return err({ error: refusalOf(drawn, decision, estimate), shown });
      let isSettled = false;
      return ok({
        shown,
        assumed: estimate.assumed,
        settle(used) {
          if (!isSettled && used !== cost)
            limiter.correct(accountId, kind, drawn, { lacking: decision.lacking, decidedMs }, used - cost);
          isSettled = true;
        },
      });
    },
  };
}

type Exceeded = 'rate' | 'day';
const codes = { rate: 'tokens_per_minute_exceeded', day: 'tokens_per_day_exceeded' } as const;

interface ExceededLimit {
  readonly level: Level;
  readonly exceeded: Exceeded;
}

/** Returns the first limit that is smaller than the call as a whole. */
function neverFits(levels: readonly Level[], cost: number): ExceededLimit | null {
  for (const level of levels) {
    const { perDay, rate } = level.limit;
    if (rate !== null && cost > rate.burst) return { level, exceeded: 'rate' };
    if (perDay !== null && cost > perDay) return { level, exceeded: 'day' };
  }
  return null;
}

/** An empty bucket is full again after this time, s. */
const refilledS = 60;

/** Returns the error for a limit that is too small for the call, for a spent day, else for the bucket with the longest wait. */
function refusalOf({ levels }: DrawnLimits, decision: Decision, estimate: TokenEstimates): ApiError {
  const tooLarge = neverFits(levels, estimate.promptTokens + estimate.completionTokens);
  if (tooLarge !== null) {
    const retryAfterS = tooLarge.exceeded === 'day' ? wholeSeconds(decision.untilMidnightMs) : refilledS;
    const message = neverMessage(tooLarge, estimate);
    return { ...apiError(codes[tooLarge.exceeded], { message, retryAfterS }), isFutile: true };
  }
  const { lacking, quotaStates, untilMidnightMs } = decision;
  const places = levels.map((level, index) => ({
    level,
    state: elementAt(quotaStates, index),
    lacks: lacking >> (2 * index),
  }));
  const spent = places.find(({ lacks }) => (lacks & lack.day) !== 0);
  if (spent) {
    const message = `${limitText({ level: spent.level, exceeded: 'day' })}: ${spent.state.remainingDay} are left, and ${needs(estimate)}. It begins anew at midnight UTC.`;
    return apiError(codes.day, { message, retryAfterS: wholeSeconds(untilMidnightMs) });
  }
  const [slowest] = places
    .filter(({ lacks }) => (lacks & lack.rate) !== 0)
    .sort((a, b) => b.state.nextTokenMs - a.state.nextTokenMs);
  if (!slowest) throw new Error('No limit of tokens has refused this call.');
  const { level, state } = slowest;
  const message = `${limitText({ level, exceeded: 'rate' })}: ${state.remaining} are left, and ${needs(estimate)}. Wait for the seconds in Retry-After, or allow a shorter answer.`;
  return apiError(codes.rate, { message, retryAfterS: wholeSeconds(state.nextTokenMs) });
}

function limitText({ exceeded, level: { limit, of } }: ExceededLimit): string {
  const whose = of === 'account' ? 'this account' : 'this API key';
  return exceeded === 'day'
    ? `The limit of ${whose} is ${limit.perDay} tokens per day`
    : `The limit of ${whose} is ${limit.rate?.burst} tokens per minute`;
}

const needs = ({ completionTokens, promptTokens }: TokenEstimates): string =>
  `this call needs ${promptTokens + completionTokens}, ${promptTokens} for its prompt and ${completionTokens} for its answer`;

const neverMessage = (limit: ExceededLimit, estimate: TokenEstimates): string =>
  `${limitText(limit)}, and ${needs(estimate)}. It can never be let in: send a shorter prompt, or allow a shorter answer.`;
