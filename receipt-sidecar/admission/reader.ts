/**
 * Has the body of a request read: a small one here, in turns by account where many come at once, all others on a thread. So are those of some
 * size in a crowd, since each of them would hold up all other calls for as long as it is read here.
 *
 * Invariants: fails closed: a body that no thread has read goes nowhere, since it was not screened. What a rule finds
 * is recorded, for blocked and for flagged calls; the client is told which screen it was and never which words it was
 * that matched, so that nobody learns the rules by trying.
 */
import type { Worker } from 'node:worker_threads';
import { type ApiError, apiError } from '@gw/contract/errors';
import type { PolicyEvent } from '@gw/contract/internal/policy-event';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { findRules } from '@gw/policy/find-rules';
import { verdictOf } from '@gw/policy/verdict';
import { bound } from '../api/bound.ts';
import { parseRequest } from '../api/parse.ts';
import type { Catalogue } from '../catalogue/snapshot.ts';
import { andThen, type MaybePromise } from '../wire/maybe-promise.ts';
import { crowd, crowdedBytes, inlineBytes, inlineParts, loopBounds } from '../wire/threads/body-threads.ts';
import type { LoopTurns } from '../wire/threads/loop-turns.ts';
import type { Failure, ThreadPool } from '../wire/threads/thread-pool.ts';
import type { AdmissionRequest, ReadBody } from './admission-request.ts';
import type { Classifier } from './classifier.ts';
import type { RequestFacts, RequestJob } from './jobs.ts';
import type { PolicyEvents } from './policy-events.ts';
import type { PromptMetrics } from './prompt-metrics.ts';
import { type Finding, type Reading, readParsed, type Unclassified } from './read.ts';
import { readingCost } from './reading-cost.ts';
import type { ScreenMetrics } from './screen-metrics.ts';

export interface ReaderOptions {
  readonly threads: Pick<ThreadPool, 'run' | 'waiting'>;
  readonly loop: Pick<LoopTurns, 'run' | 'waiting'>;
  readonly events: Pick<PolicyEvents, 'record'>;
  /** Asked only where a rule of its kind holds. */
  readonly classifier: Pick<Classifier, 'ask'>;
  readonly screenMetrics: Pick<ScreenMetrics, 'screened'>;
  readonly promptMetrics: Pick<PromptMetrics, 'note'>;
  /** The time, ms since 1970. */
  readonly now: () => number;
  /** A monotonic clock, ms. */
  readonly clock: () => number;
  readonly newId: () => string;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Takes an error of the program that does not stop the call, or its frames. */
  readonly onFault: (error: unknown) => void;
}

const saltBytes = 16;
const blockMessages = {
  dual_use_screen_block: () =>
    'The request was blocked by dual-use screening, and the audit log of the account has an entry of it.',
  acceptable_use_violation: (rule: string) =>
    `The request was blocked by the rule ${rule} of the use policy, which GET /v1/use-policy publishes. The audit log of the account has an entry of it.`,
} as const;

/** Reads, validates and screens requests. What finds no turn in time is `overloaded`; what fails is `internal_error`. */
export class RequestReader {
  readonly #options: ReaderOptions;
  /** The catalogue that each thread was told last. */
  readonly #told = new WeakMap<Worker, Catalogue>();

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** Throws or rejects only if the gateway itself fails. */
  read(asked: AdmissionRequest): MaybePromise<Result<ReadBody, ApiError>> {
    const { bytes, caller, onGone } = asked;
    const isLarge = bytes.length > inlineBytes || (bytes.length > crowdedBytes && this.#isCrowded());
    if (isLarge) return this.#onThread(asked);
    return this.#options.loop.run<Result<ReadBody, ApiError>>({
      account: caller.accountId,
      size: bytes.length,
      costOf: () => readingCost(bytes),
      run: () => this.#here(asked),
      refuse: () => err(apiError('overloaded')),
      onGone,
    });
  }

  /** Once bodies wait for a thread, further ones wait behind them and not here. */
  #isCrowded(): boolean {
    const { loop, threads } = this.#options;
    return loop.waiting >= crowd || threads.waiting('request') > 0;
  }

  #onThread(asked: AdmissionRequest): Promise<Result<ReadBody, ApiError>> {
    return readOnThread(this.#options, asked, this.#told).then((reading) => concluded(this.#options, asked, reading));
  }

  #here(asked: AdmissionRequest): MaybePromise<Result<ReadBody, ApiError>> {
    const { bytes, endpoint, idempotencyKey } = asked;
    const parsed = bound(parseRequest(endpoint, bytes, inlineParts, idempotencyKey !== null), bytes);
    if (!parsed.ok && parsed.isDense) return this.#onThread(asked);
    const { caller, catalogue } = asked;
    const context = {
      models: catalogue.readable,
      rules: catalogue.policy.compiled,
      allowed: caller.models,
      exempt: catalogue.policy.exemptOf(caller.accountId),
      salt: () => this.#options.randomBytes(saltBytes),
    };
    const { clock, onFault } = this.#options;
    const tools = { find: findRules, vocabulary: null, clock, onFault };
    return andThen(readParsed(parsed, context, tools), (reading) =>
      reading.outcome === 'lacks' ? this.#onThread(asked) : concluded(this.#options, asked, reading),
    );
  }
}

/** `overloaded` asks the client to try again; what failed on a thread would fail again. */
const refusals: Readonly<Record<Failure, 'overloaded' | 'internal_error'>> = {
  full: 'overloaded',
  late: 'overloaded',
  stuck: 'overloaded',
  died: 'overloaded',
  failed: 'internal_error',
};

async function readOnThread(
  { randomBytes, threads }: Pick<ReaderOptions, 'randomBytes' | 'threads'>,
  { bytes, caller, catalogue, endpoint, idempotencyKey, onGone }: AdmissionRequest,
  told: WeakMap<Worker, Catalogue>,
): Promise<Reading> {
  const salt = randomBytes(saltBytes);
  const exempt = catalogue.policy.exemptOf(caller.accountId);
  const { cancel, outcome } = threads.run<Reading>({
    lane: 'request',
    account: caller.accountId,
    size: bytes.length,
    cost: readingCost(bytes),
    // Envoy has less patience with them.
    ...(bytes.length > inlineBytes ? {} : { waitMs: loopBounds.waitMs }),
    message: (thread) => {
      const facts = told.get(thread) === catalogue ? null : factsOf(catalogue);
      const isKeyed = idempotencyKey !== null;
      const job: RequestJob = {
        kind: 'request',
        endpoint,
        bytes,
        allowed: caller.models,
        exempt,
        salt,
        facts,
        isKeyed,
      };
      // A small one may share its memory with others.
      return {
        job,
        transfer: isAlone(bytes) ? [bytes.buffer as ArrayBuffer] : [],
        onTold: () => told.set(thread, catalogue),
      };
    },
  });
  onGone(cancel);
  const ended = await outcome;
  return ended.ok ? ended.value : { outcome: 'refused', error: apiError(refusals[ended.error]), counted: null };
}

const isAlone = (bytes: Uint8Array): boolean => bytes.length > inlineBytes && bytes.buffer instanceof ArrayBuffer;

const factsByCatalogue = new WeakMap<Catalogue, RequestFacts>();
function factsOf(catalogue: Catalogue): RequestFacts {
  const known = factsByCatalogue.get(catalogue);
  if (known) return known;
  const facts = {
    models: catalogue.readable,
    policySha256: catalogue.policy.sha256,
    rules: catalogue.policy.compiled.rules,
  };
  factsByCatalogue.set(catalogue, facts);
  return facts;
}

function concluded(
  options: ReaderOptions,
  asked: AdmissionRequest,
  reading: Reading,
): MaybePromise<Result<ReadBody, ApiError>> {
  if (reading.fault !== undefined) options.onFault(reading.fault);
  if (reading.counted) options.promptMetrics.note(reading.counted);
  if (reading.outcome === 'refused') return err(reading.error);
  const { bodies, finding, request, screenS, tokens, unclassified } = reading;
  const read = { request, bodies, ...(tokens !== undefined && { tokens }) };
  const end = (last: Finding | null, seconds: number): MaybePromise<Result<ReadBody, ApiError>> => {
    options.screenMetrics.screened(last?.verdict.action ?? 'pass', seconds);
    if (!last) return ok(read);
    return record(options, asked, last).then((error) => (error ? err(error) : ok(read)));
  };
  if (!unclassified) return end(finding, screenS);
  const start = options.clock();
  return classified(options, asked, unclassified).then((last) => end(last, screenS + (options.clock() - start) / 1000));
}

/** Returns what all rules find together, in the order of the set. */
async function classified(
  { classifier }: Pick<ReaderOptions, 'classifier'>,
  { caller, catalogue: { policy } }: AdmissionRequest,
  { matched, rules, salt, sha256, texts }: Unclassified,
): Promise<Finding | null> {
  const ids = new Set([...matched, ...(await classifier.ask(texts, rules))].map(({ id }) => id));
  const verdict = verdictOf(
    policy.compiled.rules.filter(({ id }) => ids.has(id)),
    policy.exemptOf(caller.accountId),
  );
  return verdict && { verdict, salt, sha256 };
}

/** Records a finding, and returns the refusal if it blocks. The client's answer waits until the entry is stored. */
async function record(
  { events, now, newId }: ReaderOptions,
  { caller, catalogue, requestId }: AdmissionRequest,
  { salt, sha256, verdict: { action, code, decisive, ruleIds } }: Finding,
): Promise<ApiError | null> {
  const event: PolicyEvent = {
    id: newId(),
    at: new Date(now()).toISOString(),
    account_id: caller.accountId,
    key_id: caller.keyId,
    request_id: requestId,
    action,
    code,
    rule_ids: [...ruleIds],
    policy_version: catalogue.policy.version,
    policy_sha256: catalogue.policy.sha256,
    text_salt: salt,
    text_sha256: sha256,
  };
  await events.record(event);
  return action === 'block' ? apiError(code, { message: blockMessages[code](decisive) }) : null;
}
