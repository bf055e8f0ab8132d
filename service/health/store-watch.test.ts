import { expect, onTestFinished, test, vi } from 'vitest';
import { postgresTrouble } from './postgres-watch.ts';
import { watchStore } from './store-watch.ts';
import { openTroubles } from './troubles.ts';
import { valkeyTrouble, watchValkey } from './valkey-watch.ts';

const silent = { info: () => undefined, warn: () => undefined };

function watched(write: () => Promise<unknown>) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const now = () => Date.now();
  const troubles = openTroubles(silent, now);
  const watch = watchStore({ name: 'store', write, sentence: String, everyMs: 1000, holdsMs: 3000, troubles, now });
  onTestFinished(() => watch.stop());
  return { watch, troubles };
}

test('a write that was taken holds for some seconds, one that hangs is given up, and the next one that is taken ends it', async () => {
  let write = (): Promise<unknown> => Promise.resolve();
  const { troubles, watch } = watched(() => write());
  await watch.first;
  expect(watch.isWell()).toBe(true);
  write = () => new Promise(() => undefined);
  await vi.advanceTimersByTimeAsync(2900);
  expect([watch.isWell(), troubles.current()]).toEqual([true, {}]);
  await vi.advanceTimersByTimeAsync(2100);
  expect(watch.isWell()).toBe(false);
  expect(troubles.current().store).toContain('no write');
  write = () => Promise.resolve();
  await vi.advanceTimersByTimeAsync(2000);
  expect([watch.isWell(), troubles.current()]).toEqual([true, {}]);
});

test('a store that takes no write from the first on is told at once', async () => {
  const { troubles, watch } = watched(() => Promise.reject(new Error('OOM')));
  await watch.first;
  expect([watch.isWell(), Object.keys(troubles.current())]).toEqual([false, ['store']]);
});

test.each([
  ["OOM command not allowed when used memory > 'maxmemory'.", /full/],
  ['MOVED 3300 10.0.0.2:6379', /cluster/],
  ["CROSSSLOT Keys in request don't hash to the same slot", /cluster/],
  ["READONLY You can't write against a read only replica.", /replica/],
  ['MISCONF Valkey is configured to save RDB snapshots', /disk/],
  ['NOPERM No permissions to access a key', /user/],
  ['Command timed out', /does not answer/],
  ['connect ECONNREFUSED 10.0.0.9:6379', /cannot be reached/],
])('Valkey: %s', (message, sentence) => {
  const said = valkeyTrouble(new Error(message));
  expect(said).toMatch(sentence);
  expect(said).not.toContain('10.0.0');
});

test.each([
  [Object.assign(new Error('cannot execute it during recovery'), { code: '25006' }), /standby/],
  [Object.assign(new Error('could not extend file: No space left on device'), { code: '53100' }), /disk/],
  [Object.assign(new Error('sorry, too many clients already'), { code: '53300' }), /connection left/],
  [new Error('password authentication failed for user "gw_reader"'), /role/],
  [new Error('timeout exceeded when trying to connect'), /cannot be reached/],
])('Postgres: %s', (error, sentence) => {
  expect(postgresTrouble(error)).toMatch(sentence);
});

test('a Valkey that answers nothing any more is told within ten seconds', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const now = () => Date.now();
  const troubles = openTroubles(silent, now);
  let answer: Promise<unknown> = Promise.resolve('OK');
  const watch = watchValkey(() => answer, troubles, now);
  onTestFinished(watch.stop);
  await watch.first;
  answer = new Promise(() => undefined);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([watch.isWell(), Object.keys(troubles.current())]).toEqual([false, ['redis']]);
});
