/** Runs a call without Envoy: it sends the messages that Envoy would send, and keeps the answers and errors. */
import type { ApiError } from '@gw/contract/errors';
import { callerAttribute } from '@gw/contract/internal/identity';
import { err, ok } from '@gw/contract/internal/result';
import { EntrySealer } from '@gw/contract/internal/sealed-entry';
import type { Snapshot } from '@gw/contract/internal/snapshot';
import type { IProcessingResponse, ProcessingRequest } from '@gw/grpc/service';
import type { Gates } from '@gw/receipt-sidecar/internals/admission/admission';
import { parseRequest } from '@gw/receipt-sidecar/internals/api/parse';
import { outgoing } from '@gw/receipt-sidecar/internals/api/provider-body';
import { createAddedFields } from '@gw/receipt-sidecar/internals/attempts/added-fields';
import { countCallsUnderWay } from '@gw/receipt-sidecar/internals/attempts/calls-under-way';
import { createFirstAttempts } from '@gw/receipt-sidecar/internals/attempts/direct-first-attempts';
import { createFailedAttempts } from '@gw/receipt-sidecar/internals/attempts/failed-attempts';
import { createDeploymentHealth } from '@gw/receipt-sidecar/internals/attempts/resting-deployments';
import { createMeasuredTrouble } from '@gw/receipt-sidecar/internals/attempts/unavailable-deployments';
import { Call } from '@gw/receipt-sidecar/internals/call/call';
import type { CallContext } from '@gw/receipt-sidecar/internals/call/call-context';
import { makeCatalogue } from '@gw/receipt-sidecar/internals/catalogue/snapshot';
import { decidedBefore } from '@gw/receipt-sidecar/internals/guards/leased-limits';
import { readReply } from '@gw/receipt-sidecar/internals/reply/read-reply';
import { shareCalls } from '@gw/receipt-sidecar/internals/routing/share-calls';
import { andThen, type MaybePromise } from '@gw/receipt-sidecar/internals/wire/maybe-promise';
import { Room } from '@gw/receipt-sidecar/internals/wire/room';
import { emptySnapshot, plainDeployment, plainModel } from '../catalogue.ts';
import { entryKeys } from '../ledger-entry.ts';

const snapshot: Snapshot = {
  ...emptySnapshot,
  models: [plainModel],
  regions: [{ code: 'us', name: 'us', country: 'us', gridZone: 'USA', status: 'active', preference: 0 }],
  deployments: [plainDeployment],
};

/** Parses the request and then calls `check`, which stands in for screening. */
export const readForTests =
  (check: () => MaybePromise<ApiError | null>): Gates['reader']['read'] =>
  ({ bytes, endpoint }) =>
    andThen(check(), (error) => {
      const parsed = parseRequest(endpoint, bytes);
      if (error) return err(error);
      if (!parsed.ok) return parsed;
      return ok({ request: parsed.value.request, bodies: { outgoing: outgoing(parsed.value) } });
    });

/** The receipts of calls that were sent to a provider, in order. */
export interface LedgerForTests {
  readonly begun: string[];
  readonly finished: string[];
}

/** Replacements for single gates of a call. */
interface Stubs {
  readonly read?: Gates['reader']['read'];
  readonly claim?: Gates['claims']['find'];
  readonly takeSlot?: Gates['slots']['take'];
  readonly reserve?: Gates['budgets']['reserve'];
}

const unexpected = (what: string) => async () => {
  throw new Error(`No call of this test has ${what}.`);
};

export function contextForTests({
  claim = unexpected('an idempotency key'),
  read = readForTests(() => null),
  reserve = unexpected('budgets'),
  takeSlot = async () => ok({ id: 'slot', release: () => undefined }),
  ...changed
}: Partial<CallContext> & Stubs = {}): { context: CallContext; ledger: LedgerForTests } {
  const ledger: LedgerForTests = { begun: [], finished: [] };
  const underWay = countCallsUnderWay();
  const context: CallContext = {
    addresses: { baseUrl: '', statusUrl: '', auditEmail: '', securityEmail: '' },
    catalogue: () => makeCatalogue(snapshot),
    reader: { read },
    readReply: (_account, bytes, facts) => ok(readReply(bytes, facts)),
    claims: { find: claim },
    slots: { take: takeSlot },
    tokenLimits: { take: unexpected('limits in tokens') },
    budgets: { reserve },
    idempotencyMetrics: { ended: () => undefined },
    room: new Room(1024 * 1024 * 1024),
    health: createDeploymentHealth(() => 0, { info: () => undefined, warn: () => undefined }),
    notices: { note: () => undefined, register: () => undefined },
    trouble: createMeasuredTrouble(() => 0),
    accountTrouble: createMeasuredTrouble(() => 0),
    underWay,
    sharing: shareCalls(underWay),
    ledger: {
      begin: (id) => void ledger.begun.push(id),
      finish: async (id) => ledger.finished.push(id) > 0,
      discard: () => undefined,
      keep: () => undefined,
      counts: () => ({
        kept: 0,
        lost: 0,
        full: false,
        unguarded: 0,
        length: 0,
        oldestAt: null,
        committedMs: 0,
        putAgain: 0,
      }),
      stop: async () => undefined,
    },
    sealer: new EntrySealer(entryKeys.current),
    metrics: { made: () => undefined, wentOn: () => undefined, register: () => undefined },
    usageMetrics: { count: () => undefined },
    live: { ended: () => undefined, refused: () => undefined },
    ends: { ask: async (_id, record) => void (await record('client')) },
    faults: { fault: () => undefined },
    addedFields: createAddedFields(() => 0, { warn: () => undefined }),
    failedAttempts: createFailedAttempts(null),
    firstAttempts: createFirstAttempts(() => 0, null),
    overhead: { of: () => ({ headers: () => [] }) },
    limitsOf: () => decidedBefore,
    now: () => Date.parse('2026-01-01T00:00:00.000Z'),
    upstreamTimeoutS: 600,
    firstByteTimeoutS: 30,
    ...changed,
  };
  return { context, ledger };
}

const headerList = (headers: Readonly<Record<string, string>>) => ({
  headers: { headers: Object.entries(headers).map(([key, value]) => ({ key, value })) },
});
const message = (fields: object): ProcessingRequest => fields as ProcessingRequest;

export const chatBody = (fields: object = {}): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }], ...fields });

export interface CallForTests {
  readonly answers: IProcessingResponse[];
  readonly errors: unknown[];
  /** Sends a whole request, with additional metadata of ext-authz and headers; the results are in `answers`. */
  ask(body: string, metadata?: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>): void;
  /** Sends the provider's headers, with the deployment's name as its listener adds it. */
  replyHeaders(headers?: Readonly<Record<string, string>>): void;
  /** Sends the headers of Envoy's own reply after one attempt. */
  envoyReplies(headers: Readonly<Record<string, string>>): void;
  replyBody(text: string, end: boolean): void;
  close(): void;
}

export function callForTests(context: CallContext): CallForTests {
  const answers: IProcessingResponse[] = [];
  const errors: unknown[] = [];
  const answer = (each: IProcessingResponse, body: readonly Buffer[] = []) => {
    const { immediateResponse: ending } = each;
    const whole =
      ending && body.length > 0 ? { ...each, immediateResponse: { ...ending, body: Buffer.concat(body) } } : each;
    answers.push(whole);
  };
  const call = new Call(context, { answer, fail: (each) => void errors.push(each) });
  return {
    answers,
    errors,
    ask(body, metadata = {}, headers = {}) {
      const stringValue = JSON.stringify({ account_id: 'acct', key_id: 'key', ...metadata });
      call.message(
        message({
          requestHeaders: headerList({
            ':path': '/v1/chat/completions',
            'content-type': 'application/json',
            ...headers,
          }),
          attributes: { 'envoy.filters.http.ext_proc': { fields: { [callerAttribute]: { stringValue } } } },
        }),
      );
      call.message(message({ requestBody: { body: Buffer.from(body), endOfStream: true } }));
    },
    replyHeaders: (headers = {}) =>
      call.message(
        message({
          responseHeaders: headerList({
            ':status': '200',
            'content-type': 'text/event-stream',
            'x-gw-deployment': 'd',
            ...headers,
          }),
        }),
      ),
    envoyReplies: (headers) =>
      call.message(
        message({
          responseHeaders: headerList(headers),
          attributes: {
            'envoy.filters.http.ext_proc': { fields: { 'upstream.request_attempt_count': { numberValue: 1 } } },
          },
        }),
      ),
    replyBody: (text, end) => call.message(message({ responseBody: { body: Buffer.from(text), endOfStream: end } })),
    close: () => call.close(),
  };
}
