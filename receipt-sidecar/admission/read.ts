/**
 * Reads one request: from its bytes to a short summary, the body for the provider, and what screening says of it; or to
 * the refusal. The same on the main thread, for small bodies, and on the threads, for all others.
 *
 * Invariants: the first step that refuses is the answer, in this order: JSON, schema, length of the prompt, lists of
 * tokens, screening. Fails closed: without an outcome of screening there is no summary.
 */

import type { ApiError } from '@gw/contract/errors';
import { screenedSha256 } from '@gw/contract/internal/policy-event';
import type { ClassifierRule, PolicyRule } from '@gw/contract/internal/policy-rules';
import type { Tokenizer } from '@gw/contract/internal/tokenizers';
import type { CompiledRules } from '@gw/policy/compile';
import type { Texts } from '@gw/policy/find-rules';
import { type ScreeningVerdict, verdictOf } from '@gw/policy/verdict';
import { type Bodies, bodiesOf } from '../api/behind.ts';
import type { Parsed } from '../api/parse.ts';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { shapeOf } from '../api/shapes.ts';
import { tokenLists } from '../api/token-lists.ts';
import { countTokens } from '../api/tokens/count-tokens.ts';
import { decodeTokens } from '../api/tokens/decode-tokens.ts';
import type { Vocabulary } from '../api/tokens/vocabulary.ts';
import type { ReadingContext } from '../catalogue/reading-context.ts';
import { andThen, type MaybePromise } from '../wire/maybe-promise.ts';
import { promptCount, promptToCount } from './prompt-count.ts';
import { promptLength, type Uncounted } from './prompt-length.ts';
import type { PromptOutcome } from './prompt-metrics.ts';

/** Tools of reading that differ between the main thread and the others. */
export interface Tools {
  readonly find: (rules: CompiledRules, texts: Texts) => MaybePromise<readonly PolicyRule[]>;
  /** Null on the main thread, which loading a vocabulary would hold up. */
  readonly vocabulary: Vocabulary | null;
  /** A monotonic clock, ms. */
  readonly clock: () => number;
  /** Takes an error of the program that does not stop the call. */
  readonly onFault: (error: unknown) => void;
}

/** The verdict of the rules, with only a salted hash of the text; salt and hash are hexadecimal. */
export interface Finding {
  readonly verdict: ScreeningVerdict;
  readonly salt: string;
  readonly sha256: string;
}

/** A request that passes the rules so far, for the classifier. */
export interface Unclassified {
  readonly texts: Texts;
  readonly rules: readonly ClassifierRule[];
  /** The other rules that matched. */
  readonly matched: readonly PolicyRule[];
  readonly salt: string;
  readonly sha256: string;
}

interface Notes {
  /** The outcome of counting; null if nothing had to be counted. */
  readonly counted: PromptOutcome | null;
  /** The frames of an error of the program that did not stop the reading; absent: there was none. */
  readonly fault?: string;
}
export type Reading =
  | (Notes & { readonly outcome: 'refused'; readonly error: ApiError })
  | (Notes & {
      readonly outcome: 'read';
      readonly request: ParsedRequest;
      readonly bodies: Bodies;
      readonly finding: Finding | null;
      /** Null if no rule that asks a classifier holds, or another one blocks already. */
      readonly unclassified: Unclassified | null;
      readonly screenS: number;
      /** The tokens of a prompt that was to be counted; null: they could not be; absent: not by a tokenizer. */
      readonly tokens?: number | null;
    });

/** The request cannot be read without this vocabulary. */
export interface Lacks {
  readonly outcome: 'lacks';
  readonly tokenizer: Tokenizer;
}

/** How long the tokens of one request may be counted, ms: after that it goes on uncounted. */
const countMs = 2000;

/** Goes on from a parsed body. It is asynchronous only if `tools.find` is. */
export function readParsed(parsed: Parsed, context: ReadingContext, tools: Tools): MaybePromise<Reading | Lacks> {
  if (!parsed.ok) return { outcome: 'refused', error: parsed.error, counted: null };
  const { body, request } = parsed.value;
  const toCount = promptToCount(request, body, context);
  if (toCount && !tools.vocabulary) return { outcome: 'lacks', tokenizer: toCount.tokenizer };
  const length = promptLength(request, body, context);
  let counted: PromptOutcome | null = null;
  if (length && 'job' in length) {
    if (!tools.vocabulary) return { outcome: 'lacks', tokenizer: length.tokenizer };
    const error = count(length, tools.vocabulary, tools);
    counted = error === 'uncounted' ? error : error ? 'too_long' : 'fits';
    if (error && error !== 'uncounted') return { outcome: 'refused', error, counted };
  } else if (length) return { outcome: 'refused', error: length, counted };
  const start = tools.clock();
  const lists = tokenLists(request, body, context);
  if (lists && 'textsOf' in lists && !tools.vocabulary) return { outcome: 'lacks', tokenizer: lists.tokenizer };
  const read =
    lists && 'textsOf' in lists ? lists.textsOf(decodeTokens(lists.lists, tools.vocabulary as Vocabulary)) : lists;
  if (read && !read.ok) return { outcome: 'refused', error: read.error, counted };
  const texts = shapeOf(request.endpoint).request.texts(body, read?.value);
  return andThen(tools.find(context.rules, texts), (matched) => {
    const verdict = verdictOf(matched, context.exempt);
    const screenS = (tools.clock() - start) / 1000;
    const { exempt, rules: compiled } = context;
    const rules = verdict?.action === 'block' ? [] : compiled.classifiers.filter(({ id }) => !exempt.includes(id));
    const mark = verdict === null && rules.length === 0 ? null : markOf(context.salt(), body);
    const { request: sent, ...bodies } = bodiesOf(
      parsed.value,
      context.models.get(request.model) ?? { contextWindow: null },
    );
    return {
      outcome: 'read',
      request: sent,
      bodies,
      finding: verdict && mark && { verdict, ...mark },
      unclassified: mark === null || rules.length === 0 ? null : { texts, rules, matched, ...mark },
      screenS,
      counted,
      ...(toCount && {
        tokens: inTime(tools, (isLate) => promptCount(toCount, tools.vocabulary as Vocabulary, isLate)),
      }),
    };
  });
}

function markOf(salt: Uint8Array, body: Parameters<typeof screenedSha256>[1]): Pick<Finding, 'salt' | 'sha256'> {
  return { salt: Buffer.from(salt).toString('hex'), sha256: screenedSha256(salt, body) };
}

/** Fails open if counting takes too long or fails, since the provider counts too. */
function count({ job, refusalOf }: Uncounted, vocabulary: Vocabulary, tools: Tools): ApiError | 'uncounted' | null {
  const counted = inTime(tools, (isLate) => countTokens(job, vocabulary, isLate));
  return counted ? counted.over && refusalOf(counted.over) : 'uncounted';
}

/** Returns null if `counting` takes too long or fails. */
function inTime<T>({ clock, onFault }: Tools, counting: (isLate: () => boolean) => T | null): T | null {
  const end = clock() + countMs;
  try {
    return counting(() => clock() > end);
  } catch (error) {
    onFault(error);
    return null;
  }
}
