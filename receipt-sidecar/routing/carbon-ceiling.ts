/**
 * Enforces `gw.max_carbon_g`, the ceiling of a call's estimated carbon.
 *
 * Nobody knows beforehand how long an answer will be, so no call is refused by a guess of that: it may go wherever a short answer stays
 * below the ceiling, and its answers are bounded to the length that does.
 *
 * Invariants: the longest answer that the provider is asked for is estimated below the ceiling. That is the central estimate, so a receipt can
 * come out higher, but not because of the length of an answer. Deployments at which an answer of the usual length stays below go before all
 * others. A call with a ceiling is not sent to a deployment whose carbon cannot be estimated.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { AnswerBound } from '@gw/contract/routing-trace';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { shapeOf } from '../api/shapes.ts';
import type { AttemptedRoute } from '../attempts/attempt-requests.ts';
import type { Candidate, Named } from '../catalogue/snapshot.ts';
import {
  estimateCall,
  everyModelWrites,
  longestAnswer,
  roomForAnswer,
  usualAnswer,
} from '../guards/budgets/estimate.ts';

/** A chain of deployments, and the bound with which all of them keep the ceiling; null: none is needed. */
export interface KeptRoute extends Pick<AttemptedRoute, 'failoverChain'> {
  readonly bound: AnswerBound | null;
}

export interface CarbonCeiling {
  /** Returns which of these deployments may serve the call; an error if none may, unless there are none. */
  readonly among: (
    candidates: readonly Candidate[],
    param: string,
  ) => Result<(candidate: Candidate) => boolean, ApiError>;
  /** Bounds the answers by what the first deployment may cause, and leaves out those that do not keep the ceiling with that bound. */
  readonly keptBy: (chain: AttemptedRoute['failoverChain']) => KeptRoute;
}

/** The shortest answer that is worth a call, in tokens: a word or two. A longer one here would refuse calls of ten tokens that stay below. */
const shortestAnswer = 5;

/** Returns null for a call without a ceiling. `at`: ms since 1970. */
export function carbonCeiling(request: ParsedRequest, modelOf: Named['modelOf'], at: number): CarbonCeiling | null {
  const most = request.options.max_carbon_g;
  if (most === undefined) return null;
  const { maxTokens } = request;
  const { kind, request: shape } = shapeOf(request.endpoint);
  const usual = maxTokens ?? usualAnswer(request);
  const shortest = Math.min(shortestAnswer, usual);
  const grams = new GramsByLength(request, modelOf, at);
  const longestAt = (candidate: Candidate) => grams.longestBelow(candidate, most);
  const isBelow = (candidate: Candidate) => grams.of(candidate, usual) <= most;
  const isNeverAbove = (candidate: Candidate) =>
    grams.of(candidate, maxTokens ?? longestAnswer(request, [modelOf(candidate)])) <= most;
  /** Returns the length, in tokens, to which each answer has to be bounded; null: none can be too long. */
  const boundAt = (candidate: Candidate): number | null => {
    if (isNeverAbove(candidate)) return null;
    const longest = Math.max(shortest, longestAt(candidate));
    if (maxTokens !== null) return longest;
    const room = Math.max(shortest, roomForAnswer(request, [modelOf(candidate)]));
    return Math.min(longest, room, shape.bound?.usual ?? everyModelWrites);
  };
  return {
    among(candidates, param) {
      if (candidates.length === 0 || candidates.some(isBelow)) return ok(isBelow);
      const best = Math.max(...candidates.map(longestAt));
      // A region that is preferred for another reason must not cut an answer much shorter than need be.
      if (best >= shortest) return ok((each) => longestAt(each) >= Math.max(shortest, best / 2));
      const gramsOf = (candidate: Candidate) => grams.of(candidate, shortest);
      const lowest = candidates.reduce((least, each) => (gramsOf(each) < gramsOf(least) ? each : least));
      const how = kind === 'embedding' ? '' : `with an answer of ${shortest} tokens, `;
      const found = Number.isFinite(gramsOf(lowest))
        ? `${how}the lowest estimate is ${Number(gramsOf(lowest).toPrecision(3))} g, in ${lowest.region.code}`
        : 'nobody can estimate it for this model';
      const message = `No region that can serve this call is estimated to cause ${most} g CO2e or less: ${found}. Nothing was sent to a provider.`;
      return err(apiError('max_carbon_exceeded', { message, param }));
    },
    keptBy([first, ...others]) {
      const tokens = boundAt(first);
      const keeps = (each: Candidate) => (tokens === null ? isNeverAbove(each) : longestAt(each) >= tokens);
      const bound = tokens === null ? null : ({ tokens, set_by: 'max_carbon_g' } as const);
      return { bound, failoverChain: [first, ...others.filter(keeps)] };
    },
  };
}

/**
 * The estimated grams of a call by the length of its answers: a parabola, since each token reads those before it. It is found at lengths at
 * which the twelve digits of an estimate tell both of its coefficients.
 */
class GramsByLength {
  readonly #request: ParsedRequest;
  readonly #modelOf: Named['modelOf'];
  readonly #time: string;
  /** The grams without an answer, and the coefficients of a token and of its square, by deployment. Infinite where nothing is known. */
  readonly #known = new Map<string, { readonly read: number; readonly token: number; readonly square: number }>();

  constructor(request: ParsedRequest, modelOf: Named['modelOf'], at: number) {
    this.#request = request;
    this.#modelOf = modelOf;
    this.#time = new Date(at).toISOString();
  }

  of(candidate: Candidate, maxTokens: number): number {
    const model = this.#modelOf(candidate);
    const { carbon_g } = estimateCall({ ...this.#request, maxTokens }, model, candidate, this.#time);
    return carbon_g ?? Number.POSITIVE_INFINITY;
  }

  longestBelow(candidate: Candidate, most: number): number {
    const { read, square, token } = this.#at(candidate);
    // Also where nothing is known, or the client asks for no answer at all.
    if (!(token > 0)) return read <= most ? Number.POSITIVE_INFINITY : -1;
    if (read > most) return -1;
    const left = most - read;
    // The rounding of a quotient must not cost a token.
    return Math.floor((2 * left) / (token + Math.sqrt(token * token + 4 * square * left)) + 1e-6);
  }

  #at(candidate: Candidate) {
    const { id } = candidate.deployment;
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const length = 65_536;
    const [read, once, twice] = [0, length, 2 * length].map((answer) => this.of(candidate, answer)) as [
      number,
      number,
      number,
    ];
    const square = Math.max(0, (twice - 2 * once + read) / (2 * length * length));
    const made = { read, token: (once - read) / length - square * length, square };
    this.#known.set(id, made);
    return made;
  }
}
