import { expect, test, vi } from 'vitest';
import { openTroubles } from './troubles.ts';

test('an outage is one line where it begins, one where it ends, and one a minute where its cause changes', () => {
  const log = { info: vi.fn(), warn: vi.fn() };
  let now = 0;
  const troubles = openTroubles(log, () => now);
  for (let second = 0; second < 60; second++) {
    now = second * 1000;
    troubles.tell('redis', second === 20 ? 'It is full.' : 'It is away.', new Error('late'));
    expect(troubles.current()).toEqual({ redis: second === 20 ? 'It is full.' : 'It is away.' });
  }
  expect(log.warn.mock.calls).toEqual([[{ degraded: 'redis', err: new Error('late') }, 'It is away.']]);
  now = 70_000;
  troubles.tell('redis', 'It is full.');
  expect(log.warn).toHaveBeenCalledTimes(2);
  now = 90_000;
  troubles.over('redis');
  troubles.over('redis');
  expect(log.info.mock.calls).toEqual([[{ degraded: 'redis', seconds: 90 }, 'this is over: It is full.']]);
  expect(troubles.current()).toEqual({});
});
