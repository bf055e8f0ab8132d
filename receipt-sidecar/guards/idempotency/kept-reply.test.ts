/** A call with a claim, from its body to its end: what is stored, when, and when the key is given back. */
import { setTimeout as delay } from 'node:timers/promises';
import { apiError } from '@gw/contract/errors';
import { err } from '@gw/contract/internal/result';
import type { Claim, StoredReply } from '@gw/service/idempotency';
import { callForTests, chatBody, contextForTests } from '@gw/testing/receipt-sidecar/call';
import { describe, expect, test, vi } from 'vitest';
import { KeptReply, maxKeptBytes } from './kept-reply.ts';

const keyed = { 'idempotency-key': 'once' };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const settled = async () => {
  await delay(5);
  for (let turns = 0; turns < 10; turns += 1) await turn();
};
const textOf = (reply: StoredReply | null | undefined) => reply && Buffer.concat(reply.body).toString();

function claimForTests(mayHaveRun = false, takes: ReturnType<Claim['finish']> = Promise.resolve('kept')) {
  const told: ('finished' | 'freed' | 'freed, told')[] = [];
  const kept: (StoredReply | null)[] = [];
  let isOver = false;
  const claim: Claim = {
    mayHaveRun,
    seal: async (reply) => {
      kept.push(reply);
      return Buffer.concat(reply.body);
    },
    finish: (reply) => {
      isOver = true;
      told.push('finished');
      if (reply === null) kept.push(null);
      return takes;
    },
    free: (hasRun) => {
      if (!isOver) told.push(hasRun ? 'freed, told' : 'freed');
      isOver = true;
    },
  };
  return { claim, told, kept };
}

function claimed(changed: Parameters<typeof contextForTests>[0] = {}, { claim, ...seen } = claimForTests()) {
  const ended: string[] = [];
  const { context, ledger } = contextForTests({
    claim: async () => ({ outcome: 'claimed', claim }),
    idempotencyMetrics: { ended: (end) => void ended.push(end) },
    ...changed,
  });
  const call = callForTests(context);
  return {
    ...seen,
    call,
    ended,
    ledger,
    ask: async (fields: object = {}) => {
      call.ask(chatBody(fields), {}, keyed);
      await settled();
    },
  };
}

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (text: string, finish: string | null = null) =>
  event({ choices: [{ index: 0, delta: { content: text }, finish_reason: finish }] });
const json = { 'content-type': 'application/json' };
const headersOf = (answer: { responseHeaders?: { response?: object | null } | null } | undefined) =>
  JSON.stringify(answer?.responseHeaders?.response).includes('"key":"idempotent-reexecuted"');

describe('a call that comes to its end', () => {
  test.each([
    [{}, 'kept', 'kept'],
    [{}, 'not_kept', 'over_quota'],
    [{}, 'lost', 'lost'],
    [{ isLarge: true }, 'not_kept', 'too_large'],
  ] as const)(
    'says what became of its reply (%j, %s)',
    async ({ isLarge = false }: { isLarge?: boolean }, end, counted) => {
      const { ask, call, ended } = claimed({}, claimForTests(false, Promise.resolve(end)));
      await ask();
      call.replyHeaders(json);
      call.replyBody(`{"choices":[{"index":0}],"x":"${'x'.repeat(isLarge ? maxKeptBytes : 0)}"}`, true);
      while (ended.length === 0) await settled();
      expect([ended, call.errors]).toEqual([[counted], []]);
    },
  );

  test('keeps with it that an earlier one may have run, for whoever has not seen it', async () => {
    const { ask, call, kept } = claimed({}, claimForTests(true));
    await ask();
    call.replyHeaders(json);
    call.replyBody('{"choices":[{"index":0}]}', true);
    await settled();
    expect(kept[0]?.headers).toMatchObject({ 'idempotent-reexecuted': 'provider-may-have-been-asked' });
  });

  test('keeps a JSON reply with its receipt', async () => {
    const { ask, call, ended, kept } = claimed();
    await ask();
    call.replyHeaders(json);
    const before = call.answers.length;
    call.replyBody('{"choices":[{"index":0}]}', true);
    await settled();
    expect(textOf(kept[0])).toMatch(/^\{"choices":\[\{"index":0\}\],"gw":\{.*"routing_trace":.*\}$/);
    expect(kept[0]).toMatchObject({
      status: 200,
      headers: { ...json, 'x-gw-receipt-id': expect.stringMatching(/^rcpt_/) },
    });
    expect([call.answers.length, ended, call.errors]).toEqual([before + 1, ['kept'], []]);
  });

  test.each(['data: [DONE]\n\n', ''])('keeps all of a stream, of which the last ends with %j', async (end) => {
    const { ask, call, kept, told } = claimed();
    await ask({ stream: true });
    call.replyHeaders();
    call.replyBody(chunk('Hello'), false);
    await settled();
    expect(told).toEqual([]);
    const before = call.answers.length;
    call.replyBody(`${chunk('', 'stop')}${end}`, true);
    await settled();
    expect([told, call.answers.length]).toEqual([['finished'], before + 1]);
    const stored = textOf(kept[0]) ?? '';
    expect(stored.startsWith(chunk('Hello'))).toBe(true);
    expect(stored).toMatch(/"gw":/);
    expect(stored.endsWith(end)).toBe(true);
    const sent = call.answers.at(-1)?.responseBody?.response?.bodyMutation?.body;
    expect(chunk('Hello') + Buffer.from(sent ?? '').toString()).toBe(stored);
    expect(call.errors).toEqual([]);
  });

  test.each([false, true])(
    'goes out just before the store is asked, and does not wait for it (stream: %s)',
    async (stream) => {
      const outBefore: number[] = [];
      const { claim } = claimForTests(false, new Promise(() => undefined));
      const finish: Claim['finish'] = (...given) => {
        outBefore.push(call.answers.length);
        return claim.finish(...given);
      };
      const { ask, call, ended } = claimed({}, { ...claimForTests(), claim: { ...claim, finish } });
      await ask({ stream });
      call.replyHeaders(stream ? {} : json);
      const before = call.answers.length;
      call.replyBody(stream ? chunk('', 'stop') : '{"choices":[{"index":0}]}', true);
      await settled();
      expect([outBefore, call.answers.length, ended, call.errors]).toEqual([[before + 1], before + 1, [], []]);
    },
  );

  test.each([false, true])('is not kept where Envoy has given up, and the key is free (stream: %s)', async (stream) => {
    const { ask, call, told } = claimed();
    await ask({ stream });
    call.replyHeaders(stream ? {} : json);
    call.replyBody(stream ? chunk('', 'stop') : '{"choices":[{"index":0}]}', true);
    // As after a while in which this process stood still: the word of Redis and that of Envoy are both there, and are read in one turn.
    for (let each = 0; each < 100; each += 1) await null;
    call.close();
    await settled();
    expect([told, call.errors]).toEqual([['freed, told'], []]);
  });

  test.each([
    ['stood still', 250, 'freed, told'],
    ['did not', 249, 'finished'],
  ] as const)(
    'of a call that is over just after it went out: the key is free if this process %s meanwhile',
    async (_, ms, end) => {
      for (const readTurns of [0, 1]) {
        const { claim, told } = claimForTests();
        const reply = new KeptReply(claim, 'rcpt', { ended: () => undefined });
        const clock = vi.spyOn(performance, 'now').mockReturnValue(1000);
        try {
          await reply.store('x', () => void clock.mockReturnValue(1000 + ms));
          for (let each = 0; each < readTurns; each += 1) await turn();
          reply.free();
          await settled();
        } finally {
          clock.mockRestore();
        }
        expect(told).toEqual([end]);
      }
    },
  );

  test('is neither kept nor handed out to nobody where the word of Envoy is read a turn later', async () => {
    const { claim, told } = claimForTests();
    const reply = new KeptReply(claim, 'rcpt', { ended: () => undefined });
    // This process stood still before; nothing of that is seen by its clock.
    const stored = reply.store('x', () => undefined);
    await turn();
    reply.free();
    await stored;
    await settled();
    expect(told).toEqual(['freed, told']);
  });

  test('goes out although it cannot be made ready, and is not kept', async () => {
    const { claim, told } = claimForTests();
    const ended: string[] = [];
    const seal: Claim['seal'] = async () => {
      claim.free(true);
      return null;
    };
    const finish: Claim['finish'] = async () => 'lost';
    const reply = new KeptReply({ ...claim, seal, finish }, 'rcpt', { ended: (end) => void ended.push(end) });
    let out = 0;
    await reply.store('x', () => {
      out += 1;
    });
    await settled();
    expect([out, told, ended]).toEqual([1, ['freed, told'], ['lost']]);
  });

  test('does not keep what is larger than the bound, and holds no memory for it', async () => {
    const { claim, kept } = claimForTests(false, Promise.resolve('not_kept'));
    const ended: string[] = [];
    const reply = new KeptReply(claim, 'rcpt', { ended: (end) => void ended.push(end) });
    reply.add([Buffer.alloc(maxKeptBytes)]);
    reply.add([Buffer.alloc(1)]);
    await reply.store('x', () => undefined);
    await settled();
    expect([kept, ended]).toEqual([[null], ['too_large']]);
    const fits = claimForTests();
    const other = new KeptReply(fits.claim, 'rcpt', { ended: () => undefined });
    other.add([Buffer.alloc(maxKeptBytes)]);
    await other.store('x', () => undefined);
    expect(fits.kept[0]?.body[0]).toHaveLength(maxKeptBytes);
  });

  test('says so if one before may have run', async () => {
    for (const mayHaveRun of [false, true]) {
      const { ask, call } = claimed({}, claimForTests(mayHaveRun));
      await ask();
      call.replyHeaders(json);
      expect(headersOf(call.answers.at(-1))).toBe(mayHaveRun);
    }
  });
});

describe('a key is given back', () => {
  test('without a word where no provider was asked', async () => {
    const full = claimed({ takeSlot: async () => err(apiError('concurrent_streams_exceeded')) });
    await full.ask({ stream: true });
    expect(full.told).toEqual(['freed']);
    const noRegion = claimed();
    await noRegion.ask({ gw: { region: 'mars' } });
    expect(noRegion.told).toEqual(['freed']);
  });

  test('at once where its client went while it was claimed', async () => {
    const { claim, told } = claimForTests();
    let give = () => {};
    const { context, ledger } = contextForTests({
      claim: () =>
        new Promise((resolve) => {
          give = () => resolve({ outcome: 'claimed', claim });
        }),
    });
    const call = callForTests(context);
    call.ask(chatBody(), {}, keyed);
    call.close();
    give();
    await settled();
    expect([told, ledger.begun]).toEqual([['freed'], []]);
  });

  test('with a word after an error of the provider, in a reply or in a stream, and where the call breaks off', async () => {
    const refused = claimed();
    await refused.ask();
    refused.call.replyHeaders({ ':status': '500', ...json });
    refused.call.replyBody('{}', true);
    expect(refused.told).toEqual(['freed, told']);
    const failed = claimed();
    await failed.ask({ stream: true });
    failed.call.replyHeaders();
    failed.call.replyBody(chunk('Hello') + event({ error: {} }), false);
    await settled();
    expect(failed.told).toEqual(['freed, told']);
    for (const stream of [true, false]) {
      const left = claimed();
      await left.ask({ stream });
      left.call.replyHeaders(stream ? {} : json);
      left.call.close();
      expect(left.told).toEqual(['freed, told']);
    }
    const encoded = claimed();
    await encoded.ask();
    encoded.call.replyHeaders({ ...json, 'content-encoding': 'zstd' });
    expect(encoded.told).toEqual(['freed, told']);
  });
});

test('a replay asks no provider, takes no slot and makes no receipt', async () => {
  const reply = {
    status: 200,
    headers: { 'content-type': 'x', 'x-gw-receipt-id': 'rcpt' },
    body: [Buffer.from('kept')],
  };
  let slots = 0;
  const { context, ledger } = contextForTests({
    claim: async () => ({ outcome: 'replayed', reply }),
    takeSlot: async () => {
      slots += 1;
      return err(apiError('concurrent_streams_exceeded'));
    },
  });
  const call = callForTests(context);
  call.ask(chatBody({ stream: true }), {}, keyed);
  await settled();
  expect(Buffer.from(call.answers[1]?.immediateResponse?.body ?? '').toString()).toBe('kept');
  call.close();
  expect([slots, ledger, call.errors]).toEqual([0, { begun: [], finished: [] }, []]);
});
