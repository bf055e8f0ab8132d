import { setImmediate as turn } from 'node:timers/promises';
import { apiError } from '@gw/contract/errors';
import { describe, expect, test } from 'vitest';
import { callForTests, chatBody, contextForTests } from './call-for-tests.ts';
import type { Check } from './request/admission.ts';

/** A check that answers when it is told to. */
function slowCheck() {
  let asked = 0;
  let answer: (error: ReturnType<typeof apiError> | null) => void = () => undefined;
  let fail: (fault: unknown) => void = () => undefined;
  const check: Check = () => {
    asked += 1;
    return new Promise((resolve, reject) => {
      answer = resolve;
      fail = reject;
    });
  };
  return {
    check,
    asked: () => asked,
    answer: (error: Parameters<typeof answer>[0]) => answer(error),
    fail: (fault: unknown) => fail(fault),
  };
}

describe('the request phase', () => {
  test('answers in the same turn where every step has its answer at once', () => {
    const { context, ledger } = contextForTests({ checks: [() => null, () => null] });
    const call = callForTests(context);
    call.ask(chatBody());
    expect(call.answers).toHaveLength(2);
    expect(call.answers[1]?.requestBody?.response?.clearRouteCache).toBe(true);
    expect(ledger.begun).toHaveLength(1);
  });

  test('asks the checks in their order, and no further one after a refusal', () => {
    const asked: string[] = [];
    const noting =
      (name: string, error: ReturnType<Check>): Check =>
      () => {
        asked.push(name);
        return error;
      };
    const refusal = apiError('dual_use_screen_block');
    const checks = [noting('first', null), noting('second', refusal), noting('third', null)];
    const { context, ledger } = contextForTests({ checks });
    const call = callForTests(context);
    call.ask(chatBody({ model: 'unknown' }));
    expect(asked).toEqual(['first', 'second']);
    expect(call.answers[1]?.immediateResponse?.status?.code).toBe(403);
    expect(ledger.begun).toEqual([]);
  });

  test('waits for a check that takes time', async () => {
    const slow = slowCheck();
    const { context, ledger } = contextForTests({ checks: [slow.check] });
    const call = callForTests(context);
    call.ask(chatBody());
    expect(call.answers).toHaveLength(1);
    slow.answer(null);
    await turn();
    expect(call.answers).toHaveLength(2);
    expect(ledger.begun).toHaveLength(1);
  });

  test.each([null, apiError('prompt_too_long')])(
    'sends nothing, asks nothing more and makes no receipt for a client that went during a check (%s)',
    async (error) => {
      const slow = slowCheck();
      const next = slowCheck();
      const { context, ledger } = contextForTests({ checks: [slow.check, next.check] });
      const call = callForTests(context);
      call.ask(chatBody());
      call.close();
      slow.answer(error);
      await turn();
      expect(call.answers).toHaveLength(1);
      expect(next.asked()).toBe(0);
      expect(ledger).toEqual({ begun: [], finished: [] });
      expect(call.faults).toEqual([]);
    },
  );

  test('reports the fault of a check once, now or later, and asks no provider', async () => {
    const slow = slowCheck();
    const { context, ledger } = contextForTests({ checks: [slow.check] });
    const call = callForTests(context);
    call.ask(chatBody());
    slow.fail(new Error('broken'));
    await turn();
    expect(call.faults).toEqual([new Error('broken')]);
    const broken = contextForTests({
      checks: [
        () => {
          throw new Error('broken');
        },
      ],
    });
    // The server catches what a message throws.
    expect(() => callForTests(broken.context).ask(chatBody())).toThrow('broken');
    expect(ledger.begun).toEqual([]);
  });
});
