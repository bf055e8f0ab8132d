/** How a stream ends whose provider does not, and how long pieces are read, by the whole call. */

import { ok } from '@gw/contract/internal/result';
import type { Receipt } from '@gw/contract/receipt';
import { cases } from '@gw/testing/cases';
import { entryIn } from '@gw/testing/ledger-entry';
import { callForTests, chatBody, contextForTests } from '@gw/testing/receipt-sidecar/call';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cutOff, overWith } from '../wire/ext-proc.ts';

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

async function streaming(fields: object = {}) {
  const slot = { id: 'slot', release: vi.fn() };
  const made: Receipt[] = [];
  const { context, ledger } = contextForTests({ takeSlot: async () => ok(slot) });
  const finish = (id: string, entry: Buffer) => {
    made.push(entryIn(entry).receipt);
    return ledgerFinish(id, entry);
  };
  const ledgerFinish = context.ledger.finish;
  const wentOn = vi.fn();
  const metrics = { ...context.metrics, wentOn };
  const call = callForTests({ ...context, metrics, ledger: { ...context.ledger, finish } });
  call.ask(chatBody({ stream: true, ...fields }));
  await settled();
  call.replyHeaders();
  const bodyOf = (index: number) => {
    const mutation = call.answers[index]?.responseBody?.response?.bodyMutation;
    return mutation?.body?.toString() ?? (mutation?.clearBody ? '' : null);
  };
  const pieces: string[] = [];
  /** Returns what the client has received: a piece whose answer changes nothing passes unchanged. */
  const sent = () =>
    call.answers
      .flatMap(({ responseBody }) => (responseBody ? [responseBody.response?.bodyMutation] : []))
      .map((mutation, index) => (mutation ? (mutation.body?.toString() ?? '') : (pieces[index] ?? '')))
      .join('');
  const send = async (text: string, end = false) => {
    pieces.push(text);
    call.replyBody(text, end);
    await settled();
  };
  /** How many pieces have been answered. */
  const answered = () => call.answers.filter(({ responseBody }) => responseBody).length;
  return { answered, pieces, call, ledger, bodyOf, sent, send, made, slot, wentOn };
}

/** Lets time pass, and what is due in it happen. */
async function pause(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    vi.advanceTimersByTime(Math.min(left, 100));
    await settled();
  }
}

/** Waits until promises have settled and requested turns have been taken. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 200; turns++) await new Promise((resolve) => setImmediate(resolve));
}

it.each([
  ['an error', event({ error: {} }), 1000],
  ['[DONE]', `${event(chunk('a'))}data: [DONE]\n\n`, 1000],
])('is broken off if the provider goes on behind %s', async (_, last, ms) => {
  const { call } = await streaming();
  call.replyBody(last, false);
  await settled();
  const answered = call.answers.length;
  call.replyBody(event(chunk('more')), false);
  expect(call.answers).toHaveLength(answered + 1);
  expect(call.answers.at(-1)?.responseBody?.response?.bodyMutation).toEqual({ clearBody: true });
  vi.advanceTimersByTime(ms - 1);
  expect(call.answers).toHaveLength(answered + 1);
  vi.advanceTimersByTime(1);
  expect(call.answers.at(-1)).toBe(cutOff);
  expect(call.answers).toHaveLength(answered + 2);
});

it.each([
  ['leaves it open', false, { done: true, over: true }],
  ['ends it', true, { done: true }],
])('tells Envoy with the last of a reply whether its provider %s', async (_, ends, told) => {
  const { call, send, sent } = await streaming();
  await send(event(chunk('a')));
  expect(call.answers.at(-1)?.dynamicMetadata).toBeUndefined();
  await send('data: [DONE]\n\n', ends);
  expect(sent()).toMatch(/\[DONE\]\n\n$/);
  expect(call.answers.at(-1)?.dynamicMetadata).toEqual({ gw: told });
});

it('keeps what no store has taken, and says too that its provider leaves it open', () => {
  const unsaved = { done: true, shown: true, unsaved: 'cmVjZWlwdA==', over: true };
  expect(overWith(Buffer.from('receipt'))).toEqual({ dynamicMetadata: { gw: unsaved } });
});

it.each(['the provider ends', 'the call is over'])('is not broken off once %s', async (how) => {
  const { call } = await streaming();
  call.replyBody(event({ error: {} }), false);
  await settled();
  if (how === 'the provider ends') call.replyBody('', true);
  else call.close();
  const answered = call.answers.length;
  vi.advanceTimersByTime(60_000);
  expect(call.answers).toHaveLength(answered);
});

it('has a long piece read in several turns, and answered once, in order', async () => {
  const { call, ledger, bodyOf } = await streaming();
  const before = call.answers.length;
  const many = event(chunk('a')).repeat(4000);
  call.replyBody(many, false);
  call.replyBody(`${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`, true);
  // Other calls have their turn meanwhile.
  expect(call.answers).toHaveLength(before);
  await settled();
  expect(call.answers).toHaveLength(before + 2);
  // As it came: each of its events was plain.
  expect(call.answers[before]).toEqual({ responseBody: {} });
  expect(bodyOf(before + 1)).toMatch(/"gw":.*data: \[DONE\]\n\n$/s);
  expect(ledger.finished).toHaveLength(1);
  expect(call.errors).toEqual([]);
});

it('shows an error as it is where its receipt could not be stored', async () => {
  const { context } = contextForTests();
  const call = callForTests({ ...context, ledger: { ...context.ledger, finish: async () => false } });
  call.ask(chatBody({ stream: true }));
  await settled();
  call.replyHeaders();
  call.replyBody(event(chunk('a')) + event({ error: {} }), true);
  await settled();
  const shown = call.answers.at(-1)?.responseBody?.response?.bodyMutation?.body?.toString() ?? '';
  const [, error = ''] = shown.trim().split('\n\n');
  expect(JSON.parse(error.slice('data: '.length))).toMatchObject({ error: { code: 'upstream_error' } });
});

it('shows the degraded receipt in every place where one that could not be stored would have been', async () => {
  const { context } = contextForTests();
  const call = callForTests({ ...context, ledger: { ...context.ledger, finish: async () => false } });
  call.ask(chatBody({ stream: true, stream_options: { include_usage: true } }));
  await settled();
  call.replyHeaders();
  const last = { choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] };
  const usage = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 1 } };
  call.replyBody(`${event(last)}${event(usage)}data: [DONE]\n\n`, true);
  await settled();
  const text = call.answers.map((each) => each.responseBody?.response?.bodyMutation?.body?.toString() ?? '').join('');
  const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json));
  expect(chunks.map(({ gw }) => gw.degraded_reason)).toEqual(['receipt_not_stored', 'receipt_not_stored']);
  expect(chunks[1].usage.gw).toEqual({ receipt_id: chunks[1].gw.id, energy_wh: null, carbon_g: null });
});

it.each([
  ['names a reason to end on every chunk', 0, 'stop'],
  ['writes a choice that nobody asked for', 1, null],
])('goes on to the client as it comes even if its provider %s', async (_, index, reason) => {
  const { call, ledger } = await streaming();
  const sent = () =>
    call.answers.map((each) => each.responseBody?.response?.bodyMutation?.body?.toString() ?? '').join('');
  call.replyBody(event({ choices: [{ index: 0, delta: { content: 'first' }, finish_reason: 'stop' }] }), false);
  for (let at = 0; at < 20; at++) {
    await settled();
    vi.advanceTimersByTime(400);
    call.replyBody(event({ choices: [{ index, delta: { content: `text ${at} ` }, finish_reason: reason }] }), false);
    await settled();
    // All but the last is there, which could be the end.
    expect(sent()).toContain(at === 0 ? 'first' : `text ${at - 1} `);
    expect(ledger.finished).toHaveLength(0);
  }
  call.replyBody(`${event({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 40 } })}data: [DONE]\n\n`, true);
  await settled();
  expect(ledger.finished).toHaveLength(1);
  expect(sent()).toContain('"completion_tokens":40');
  expect(call.errors).toEqual([]);
});

const finishing = (content: string, index = 0) => ({ choices: [{ index, delta: { content }, finish_reason: 'stop' }] });
const counting = (completion: number) => ({ usage: { prompt_tokens: 5, completion_tokens: completion } });
const bare = (completion: number) => ({ choices: [], ...counting(completion) });
const asking = { stream_options: { include_usage: true } };

describe('a receipt is of the whole reply, and the slot is held to its end', () => {
  it.each([
    ['a reason and a usage on every chunk', 600, (at: number) => counting(at * 40)],
    ['a reason and a usage on every chunk', 4000, (at: number) => counting(at * 40)],
    ['a reason on every chunk', 600, () => ({})],
    ['a reason on every chunk', 4000, () => ({})],
    ['a reason on every chunk, from one without text on,', 4000, () => ({})],
    ['a reason and a usage on every chunk, from one without text on,', 600, (at: number) => counting(at * 40)],
  ])('where the provider names %s, every %i ms', async (name, ms, usage) => {
    const { call, send, sent, made, slot } = await streaming();
    for (let at = name.includes('without') ? 0 : 1; at <= 5; at++) {
      await send(event({ ...finishing(`part ${at} `.repeat(at && 20)), ...usage(at) }));
      await pause(ms);
      // The first one could be the last.
      if (at > 1) expect(sent()).toContain(`part ${at} `);
    }
    expect([made.length, slot.release.mock.calls.length]).toEqual([0, 0]);
    await send(`${event(bare(200))}data: [DONE]\n\n`);
    expect(made).toMatchObject([{ completion_tokens: 200, usage_source: 'provider', status: 'complete' }]);
    await send('', true);
    expect(slot.release).toHaveBeenCalled();
    expect(sent().match(/part 3 /g)).toHaveLength(20);
    expect(call.errors).toEqual([]);
  });

  it('where several choices are written and a running count comes between them, which holds nothing up', async () => {
    const { send, sent, made } = await streaming({ n: 2, ...asking });
    await send(event(finishing('a')));
    await send(event(bare(1)));
    for (let at = 0; at < 5; at++) {
      await send(event({ choices: [{ index: 1, delta: { content: `word ${at} ` } }] }));
      expect(sent()).toContain(`word ${at} `);
      await pause(4000);
    }
    expect(made).toHaveLength(0);
    await send(`${event(finishing('', 1))}${event(bare(40))}data: [DONE]\n\n`, true);
    expect(made).toMatchObject([{ completion_tokens: 40, usage_source: 'provider' }]);
    expect(sent().match(/"usage":\{"prompt_tokens":5,"completion_tokens":1\}/g)).toHaveLength(1);
  });

  it('where a choice that nobody asked for comes behind the end, and the usage some time before [DONE]', async () => {
    const { send, sent, made } = await streaming(asking);
    await send(event(finishing('a')));
    await send(event({ choices: [{ index: 1, delta: { content: 'b' } }] }));
    await send(event(bare(2)));
    await pause(700);
    await send('data: [DONE]\n\n', true);
    expect(made).toMatchObject([{ completion_tokens: 2, usage_source: 'provider' }]);
    expect(sent()).toMatch(/"usage":\{[^}]*"gw":\{"receipt_id"/);
  });

  it('unless the provider stood still behind its end: what then comes is passed on and counted', async () => {
    const { call, send, sent, made, slot, wentOn } = await streaming();
    await send(event(chunk('first')) + event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
    await pause(3500);
    expect(sent()).toContain('"gw":');
    await send(event(chunk('second')) + event(chunk('third')));
    expect(sent()).toContain('third');
    expect([made.length, slot.release.mock.calls.length]).toEqual([1, 0]);
    await send('data: [DONE]\n\n');
    expect(slot.release).toHaveBeenCalled();
    call.close();
    expect(wentOn).toHaveBeenCalledOnce();
    expect(sent()).toMatch(/third.*data: \[DONE\]\n\n$/s);
  });
});

it('comes in time even if its last chunk is longer than what is held back, in pieces', async () => {
  const { answered, call, send, sent, made } = await streaming();
  await send(event(chunk('first')));
  const last = event(finishing('x'.repeat(70_000)));
  for (let from = 0; from < last.length; from += 20_000) {
    await send(last.slice(from, from + 20_000));
    // The last message waits with what is held.
    expect(answered()).toBe(from < 60_000 ? 1 : 4);
  }
  expect(sent()).not.toContain('xxx');
  await pause(3500);
  expect(sent()).toContain('x'.repeat(70_000));
  await send('data: [DONE]\n\n', true);
  expect(made).toHaveLength(1);
  expect(call.errors).toEqual([]);
});

it('goes on to the client if an event is longer than what is held back, and takes its time', async () => {
  const { answered, send } = await streaming();
  for (let at = 1; at < 10; at++) {
    await send(at === 1 ? `data: {"a":"${'x'.repeat(70_000)}` : 'x'.repeat(70_000));
    expect(answered()).toBe(at);
  }
});

/** Returns the words that a client reads if the sidecar dies: Envoy then sends all bytes that have no answer yet. */
const readWords = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    // A stream that says nothing ends in an error, which has no choices.
    .flatMap((line) => (JSON.parse(line.slice(6)) as Partial<ReturnType<typeof chunk>>).choices ?? [])
    .flatMap(({ delta }) => delta.content || []);

it('gives each word once, in order, wherever a piece ends and whenever the sidecar dies', async () => {
  const kinds = [
    (word: string) => chunk(word),
    (word: string) => finishing(word),
    () => finishing(''),
    (word: string) => ({ ...finishing(word), ...counting(3) }),
    () => bare(3),
    (word: string) => ({ choices: [{ index: 1, delta: { content: word } }] }),
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 150 }), { minLength: 8, maxLength: 20 }),
      fc.array(fc.constantFrom(0, 0, 0, 600, 4000), { minLength: 20, maxLength: 20 }),
      fc.constantFrom({}, asking, { n: 2 }, { n: 2, ...asking }),
      async (parts, cuts, pauses, fields) => {
        const text = parts.map((kind, at) => event(kind(`w${at}`))).join('');
        const words = readWords(text);
        const { answered, call, pieces, send, sent } = await streaming(fields);
        let rest = text;
        let paused = 0;
        for (const [at, cut] of cuts.entries()) {
          await send(rest.slice(0, cut));
          rest = rest.slice(cut);
          await pause(pauses[at] ?? 0);
          paused += pauses[at] ?? 0;
          const got = readWords(sent() + pieces.slice(answered()).join('') + rest);
          expect(got).toEqual(words.filter((word) => got.includes(word)));
          // Half an event that was given up is the one thing that can be lost.
          if (paused === 0) expect(got).toEqual(words);
        }
        await send(`${rest}data: [DONE]\n\n`, true);
        expect(readWords(sent())).toEqual(words);
        call.close();
      },
    ),
    { numRuns: cases(200, 15) },
  );
});
