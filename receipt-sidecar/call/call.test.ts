import { setImmediate as turn } from 'node:timers/promises';
import { apiError } from '@gw/contract/errors';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { callForTests, chatBody, contextForTests, readForTests } from '@gw/testing/receipt-sidecar/call';
import { describe, expect, test, vi } from 'vitest';
import type { AttemptVerdict } from '../attempts/attempt-outcome.ts';
import type { AttemptAtDeployment } from '../attempts/resting-deployments.ts';
import type { Slot } from '../guards/slots/slots.ts';
import { type ReplyReading, readReply as readReplyHere } from '../reply/read-reply.ts';
import { finished } from '../wire/ext-proc.ts';
import { bodyPatienceS, inlineBytes } from '../wire/threads/body-threads.ts';
import type { JobResult } from '../wire/threads/thread-pool.ts';
import type { CallContext } from './call-context.ts';

/** A check that answers when it is told to. */
function slowCheck() {
  let answer: (error: ReturnType<typeof apiError> | null) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const check = (): Promise<ReturnType<typeof apiError> | null> => {
    return new Promise((resolve, reject) => {
      answer = resolve;
      fail = reject;
    });
  };
  return {
    read: readForTests(check),
    answer: (error: Parameters<typeof answer>[0]) => answer(error),
    fail: (error: unknown) => fail(error),
  };
}

describe('what a call tells of its deployment', () => {
  const heard = (body: object, headers: Readonly<Record<string, string>> = {}, isAnswered = true) => {
    const told: string[] = [];
    const noted = (who: string) => ({
      of: () => null,
      note: (name: string, { result }: AttemptVerdict) => void told.push(`${who} ${name}: ${result}`),
    });
    const health = {
      ...contextForTests().context.health,
      begins: (id: string) => told.push(`begins at ${id}`) > 0,
      givesUp: (id: string) => void told.push(`gives up at ${id}`),
      note: ({ deployment, result }: AttemptAtDeployment) => void told.push(`${deployment}: ${result}`),
    };
    const context = { health, trouble: noted('all'), accountTrouble: noted('account') };
    const call = callForTests(contextForTests(context).context);
    call.ask(chatBody(body), {}, headers);
    if (isAnswered) call.replyHeaders({ ':status': '500' });
    call.close();
    return told;
  };

  test('is for all from free calls, for its account from pinned ones, and nothing if it steers the simulated provider', () => {
    expect(heard({})).toEqual(['begins at d', 'd: failed', 'all d m: failed']);
    expect(heard({ gw: { region: 'us' } })).toEqual(['account acct d m: failed']);
    expect(heard({}, { 'x-sim-status': '500' })).toEqual([]);
  });

  test('is, where its client goes before an answer, that another one may try', async () => {
    const told = heard({}, {}, false);
    await turn();
    expect(told).toEqual(['begins at d', 'gives up at d']);
  });
});

describe('the request phase', () => {
  test('answers in the same turn where every step has its answer at once', () => {
    const { context, ledger } = contextForTests();
    const call = callForTests(context);
    call.ask(chatBody());
    expect(call.answers).toHaveLength(2);
    expect(call.answers[1]?.requestBody?.response?.clearRouteCache).toBe(true);
    expect(ledger.begun).toHaveLength(1);
  });

  test('goes no further after a refusal', () => {
    const { context, ledger } = contextForTests({ read: readForTests(() => apiError('dual_use_screen_block')) });
    const call = callForTests(context);
    call.ask(chatBody({ model: 'unknown' }));
    expect(call.answers[1]?.immediateResponse?.status?.code).toBe(403);
    expect(ledger.begun).toEqual([]);
  });

  test('refuses a parameter of the query that nobody sends, and passes over what SDKs add', () => {
    const answeredTo = (query: string) => {
      const call = callForTests(contextForTests().context);
      call.ask(chatBody(), {}, { ':path': `/v1/chat/completions${query}` });
      const body = call.answers[0]?.immediateResponse?.body;
      return body && JSON.parse(String(body)).error;
    };
    for (const query of ['', '?', '?api-version=2025-01-01', '?beta=true&api-version=preview'])
      expect(answeredTo(query), query).toBeUndefined();
    const error = answeredTo('?api-version=1&stream=true');
    expect(error).toMatchObject({ code: 'invalid_stream', param: 'stream', type: 'validation_error' });
    expect(error.message).toContain('This endpoint takes api-version, beta.');
    expect(JSON.stringify(answeredTo('?api_key=gw_secret'))).not.toContain('gw_secret');
  });

  test('waits for a check that takes time', async () => {
    const slow = slowCheck();
    const { context, ledger } = contextForTests({ read: slow.read });
    const call = callForTests(context);
    call.ask(chatBody());
    expect(call.answers).toHaveLength(1);
    slow.answer(null);
    await turn();
    expect(call.answers).toHaveLength(2);
    expect(ledger.begun).toHaveLength(1);
  });

  test('has Envoy wait, once, for a check that is slow, and for no other', async () => {
    vi.useFakeTimers();
    try {
      for (const isGone of [false, true]) {
        const slow = slowCheck();
        const call = callForTests(contextForTests({ read: slow.read }).context);
        call.ask(chatBody());
        await vi.advanceTimersByTimeAsync(200);
        expect(call.answers).toHaveLength(1);
        if (isGone) call.close();
        await vi.advanceTimersByTimeAsync(5000);
        const asked = call.answers.flatMap(({ overrideMessageTimeout }) => overrideMessageTimeout ?? []);
        expect(asked).toEqual(isGone ? [] : [{ seconds: bodyPatienceS, nanos: 0 }]);
        slow.answer(null);
        await vi.advanceTimersByTimeAsync(5000);
        expect(call.answers).toHaveLength(isGone ? 1 : 3);
      }
      const quick = callForTests(contextForTests({ read: readForTests(async () => null) }).context);
      quick.ask(chatBody());
      await vi.advanceTimersByTimeAsync(5000);
      expect(quick.answers).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test('has Envoy wait for a large body at once, and once', async () => {
    const slow = slowCheck();
    const call = callForTests(contextForTests({ read: slow.read }).context);
    call.ask(chatBody({ user: 'x'.repeat(inlineBytes) }));
    expect(call.answers[1]).toEqual({ overrideMessageTimeout: { seconds: bodyPatienceS, nanos: 0 } });
    slow.answer(null);
    await turn();
    expect(call.answers).toHaveLength(3);
  });

  test.each([null, apiError('prompt_too_long')])(
    'sends nothing, asks nothing more and makes no receipt for a client that went during a check (%s)',
    async (error) => {
      const slow = slowCheck();
      let taken = 0;
      const takeSlot: CallContext['slots']['take'] = async () => {
        taken += 1;
        return ok({ id: 'slot', release: () => undefined });
      };
      const { context, ledger } = contextForTests({ read: slow.read, takeSlot });
      const call = callForTests(context);
      call.ask(chatBody({ stream: true }));
      call.close();
      slow.answer(error);
      await turn();
      expect(call.answers).toHaveLength(1);
      expect(taken).toBe(0);
      expect(ledger).toEqual({ begun: [], finished: [] });
      expect(call.errors).toEqual([]);
    },
  );

  test('refuses with a fault of ours where a check fails, now or later, and asks no provider', async () => {
    const slow = slowCheck();
    const { context, ledger } = contextForTests({ read: slow.read });
    const call = callForTests(context);
    call.ask(chatBody());
    slow.fail(new Error('broken'));
    await turn();
    const broken = contextForTests({
      read: () => {
        throw new Error('broken');
      },
    });
    const atOnce = callForTests(broken.context);
    atOnce.ask(chatBody());
    for (const each of [call, atOnce]) {
      expect([each.answers.length, each.errors]).toEqual([2, []]);
      // Not 503, as where this process is away: to come again does not help.
      expect(each.answers[1]?.immediateResponse?.status?.code).toBe(500);
    }
    expect(ledger.begun).toEqual([]);
  });
});

describe('the slot of a stream', () => {
  /** Slots that are given at once, or when they are told to. */
  function slotsForTests() {
    let taken = 0;
    let released = 0;
    const slot = () => {
      let held = true;
      return {
        id: 'slot',
        release: () => {
          if (held) released += 1;
          held = false;
        },
      };
    };
    const waiting: (() => void)[] = [];
    return {
      counts: () => ({ taken, released }),
      giveNow: waiting,
      takeSlot: async () => {
        taken += 1;
        return ok(slot());
      },
      takeSlotLater: () => {
        taken += 1;
        return new Promise<Result<Slot, never>>((resolve) => {
          waiting.push(() => resolve(ok(slot())));
        });
      },
    };
  }
  const stream = (fields: object = {}) => chatBody({ stream: true, n: 2, ...fields });
  const chunk = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] })}\n\n`;
  const errorEvent = `data: ${JSON.stringify({ error: { message: 'broken' } })}\n\n`;

  async function streaming(slots: ReturnType<typeof slotsForTests>) {
    const { context } = contextForTests({ takeSlot: slots.takeSlot });
    const call = callForTests(context);
    call.ask(stream());
    await turn();
    expect(slots.counts()).toEqual({ taken: 1, released: 0 });
    return call;
  }

  test('is one, however many choices there are, and none for a reply that is no stream', async () => {
    const slots = slotsForTests();
    await streaming(slots);
    const { context } = contextForTests({ takeSlot: slots.takeSlot });
    callForTests(context).ask(chatBody());
    expect(slots.counts()).toEqual({ taken: 1, released: 0 });
  });

  test('is named to Envoy, and a call without one names none', async () => {
    const { context } = contextForTests();
    const [streamed, plain] = [callForTests(context), callForTests(context)];
    streamed.ask(stream());
    plain.ask(chatBody());
    await turn();
    const [told, other] = [streamed, plain].map(({ answers }) => answers.at(-1)?.dynamicMetadata?.gw);
    expect(told).toMatchObject({ slot: 'slot' });
    expect(other).toHaveProperty('receipt_id');
    expect(other).not.toHaveProperty('slot');
  });

  test('is taken after the checks', async () => {
    const slots = slotsForTests();
    const refusal = apiError('acceptable_use_violation');
    const { context } = contextForTests({ takeSlot: slots.takeSlot, read: readForTests(() => refusal) });
    callForTests(context).ask(stream());
    await turn();
    expect(slots.counts()).toEqual({ taken: 0, released: 0 });
  });

  test('is kept while the stream runs', async () => {
    const slots = slotsForTests();
    const call = await streaming(slots);
    call.replyHeaders();
    call.replyBody(chunk, false);
    expect(slots.counts()).toEqual({ taken: 1, released: 0 });
  });

  type Streaming = Awaited<ReturnType<typeof streaming>>;
  const ends: Readonly<Record<string, (call: Streaming) => void>> = {
    'the reply ends': (call) => {
      call.replyHeaders();
      call.replyBody(`${chunk}data: [DONE]\n\n`, true);
    },
    'the last event has come, though the connection stays': (call) => {
      call.replyHeaders();
      call.replyBody(`${chunk}data: [DONE]\n\n`, false);
    },
    'the provider tells an error in the stream': (call) => {
      call.replyHeaders();
      call.replyBody(errorEvent, false);
    },
    'the provider refuses': (call) => call.replyHeaders({ ':status': '503', 'content-type': 'application/json' }),
    'the provider answers with something else than a stream': (call) =>
      call.replyHeaders({ 'content-type': 'application/json' }),
    'no provider answers in time': (call) => call.replyHeaders({ ':status': '504', 'x-gw-deployment': '' }),
    'the client goes before the reply': (call) => call.close(),
    'the stream breaks off': (call) => {
      call.replyHeaders();
      call.replyBody(chunk, false);
      call.close();
    },
  };
  test.each(Object.keys(ends))('is released when %s, once', async (end) => {
    const slots = slotsForTests();
    const call = await streaming(slots);
    ends[end]?.(call);
    expect(slots.counts()).toEqual({ taken: 1, released: 1 });
    call.close();
    await turn();
    expect(slots.counts()).toEqual({ taken: 1, released: 1 });
  });

  test('is released when the last event is read after the receipt was stored, though the connection stays', async () => {
    vi.useFakeTimers();
    try {
      const slots = slotsForTests();
      let store = (_isStored: boolean): void => undefined;
      const { context, ledger } = contextForTests({ takeSlot: slots.takeSlot });
      const finish = () =>
        new Promise<boolean>((resolve) => {
          store = resolve;
        });
      const call = callForTests({ ...context, ledger: { ...context.ledger, finish } });
      call.ask(chatBody({ stream: true }));
      await vi.advanceTimersByTimeAsync(0);
      call.replyHeaders();
      const piece = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;
      call.replyBody(piece({ choices: [{ index: 0, delta: { content: 'Hi' } }] }), false);
      call.replyBody(piece({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }), false);
      call.replyBody(piece({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }), false);
      // The silence after which the receipt is made; while it is stored, nothing is read.
      await vi.advanceTimersByTimeAsync(5000);
      call.replyBody('data: [DONE]\n\n', false);
      expect(slots.counts()).toEqual({ taken: 1, released: 0 });
      store(true);
      await vi.advanceTimersByTimeAsync(0);
      expect(slots.counts()).toEqual({ taken: 1, released: 1 });
      expect(ledger.begun).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is released when no region takes the call', async () => {
    const slots = slotsForTests();
    const { context, ledger } = contextForTests({ takeSlot: slots.takeSlot });
    const call = callForTests(context);
    call.ask(stream({ model: 'unknown' }));
    await turn();
    expect(slots.counts()).toEqual({ taken: 1, released: 1 });
    expect(call.answers[1]?.immediateResponse?.status?.code).toBe(400);
    expect(ledger.begun).toEqual([]);
  });

  test('is released when the choice of a region fails by an error of ours', async () => {
    const slots = slotsForTests();
    const catalogue = { ...contextForTests().context.catalogue(), named: null };
    const { context } = contextForTests({ takeSlot: slots.takeSlot, catalogue: () => catalogue as never });
    const call = callForTests(context);
    call.ask(stream());
    await turn();
    expect(call.answers.at(-1)?.immediateResponse?.status?.code).toBe(500);
    expect(slots.counts()).toEqual({ taken: 1, released: 1 });
  });

  test('is released when the client went before it was there, and no provider is asked', async () => {
    const slots = slotsForTests();
    // A look at the catalogue would be an error.
    const catalogue = { ...contextForTests().context.catalogue(), named: null };
    const { context, ledger } = contextForTests({
      takeSlot: slots.takeSlotLater,
      catalogue: () => catalogue as never,
    });
    const call = callForTests(context);
    call.ask(stream());
    call.close();
    slots.giveNow[0]?.();
    await turn();
    expect(slots.counts()).toEqual({ taken: 1, released: 1 });
    expect(call.answers).toHaveLength(1);
    expect(ledger).toEqual({ begun: [], finished: [] });
    expect(call.errors).toEqual([]);
  });

  test('that is refused is told to the client, with the time after which to ask again', async () => {
    const error = apiError('concurrent_streams_exceeded', { retryAfterS: 1 });
    const { context, ledger } = contextForTests({ takeSlot: async () => err(error) });
    const call = callForTests(context);
    call.ask(stream());
    await turn();
    const refusal = call.answers[1]?.immediateResponse;
    expect(refusal?.status?.code).toBe(429);
    const headers = refusal?.headers?.setHeaders?.map(({ header }) => `${header?.key}: ${header?.rawValue}`);
    expect(headers).toEqual(['content-type: application/json', 'retry-after: 1']);
    expect(ledger.begun).toEqual([]);
  });
});

describe('what ext-authz says of the streams that a caller may have', () => {
  const callerOf = async (fields: Readonly<Record<string, string>>) => {
    const takeSlot = vi.fn<CallContext['slots']['take']>(async () => err(apiError('internal_error')));
    callForTests(contextForTests({ takeSlot }).context).ask(chatBody({ stream: true }), fields);
    await turn();
    return takeSlot.mock.calls[0]?.[0];
  };

  test('is what counts', async () => {
    expect(await callerOf({ streams: '7' })).toMatchObject({ streams: { limit: 7, shadow: false }, keyStreams: null });
    expect(await callerOf({ streams: '0:shadow', key_streams: '3' })).toMatchObject({
      streams: { limit: 0, shadow: true },
      keyStreams: 3,
    });
  });

  test.each([{}, { streams: 'Infinity' }, { streams: '-1' }, { streams: '' }])(
    'is the least that any tier has, where it says nothing that can be read: %j',
    async (fields) => {
      expect(await callerOf(fields)).toMatchObject({ streams: { limit: 25, shadow: false }, keyStreams: null });
    },
  );
});

describe('a large JSON reply', () => {
  const large = JSON.stringify({ choices: [{}], padding: 'x'.repeat(inlineBytes) });
  const json = { 'content-type': 'application/json' };
  async function replied() {
    let end: (outcome: JobResult<ReplyReading>) => void = () => undefined;
    const readReply: CallContext['readReply'] = (account, bytes, facts) =>
      new Promise((resolve) => {
        expect(account).toBe('acct');
        end = (outcome) => resolve(outcome.ok ? ok(readReplyHere(bytes, facts)) : outcome);
      });
    const { context, ledger } = contextForTests({ readReply });
    const call = callForTests(context);
    call.ask(chatBody());
    call.replyHeaders(json);
    const before = call.answers.length;
    call.replyBody(large, true);
    expect(call.answers.slice(before)).toEqual([{ overrideMessageTimeout: { seconds: bodyPatienceS, nanos: 0 } }]);
    return {
      call,
      ledger,
      before: before + 1,
      end: (isRead: boolean) => end((isRead ? ok(null) : err('full')) as never),
    };
  }

  test('is waited for, and gets its receipt', async () => {
    const { before, call, end, ledger } = await replied();
    end(true);
    await turn();
    expect(call.answers).toHaveLength(before + 1);
    expect(call.answers[before]?.dynamicMetadata).toEqual(finished.dynamicMetadata);
    expect([ledger.finished.length, call.errors]).toEqual([1, []]);
  });

  test('is left to Envoy where no thread could read it, and never read here', async () => {
    const { before, call, end, ledger } = await replied();
    end(false);
    await turn();
    expect(call.answers).toHaveLength(before);
    expect(call.errors.map(String)).toEqual(['Error: A large reply could not be read: full.']);
    expect(ledger.finished).toEqual([]);
  });

  test.each([true, false])('whose client has left meanwhile is recorded once: read %s', async (isRead) => {
    const { before, call, end, ledger } = await replied();
    call.close();
    end(isRead);
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(call.answers).toHaveLength(before);
    expect([ledger.finished.length, call.errors]).toEqual([1, []]);
  });
});
