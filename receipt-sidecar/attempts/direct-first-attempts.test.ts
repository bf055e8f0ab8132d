import type { AccessLogEntry } from '@gw/envoy/shown-receipt';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFirstAttempts, lostAttempt } from './direct-first-attempts.ts';

const at = (origin: string, credential: string | null = null) => ({ id: 'd', firstAttempt: { origin, credential } });
const settled = 5000;

function opened() {
  const clock = { now: 0 };
  return { clock, attempts: createFirstAttempts(() => clock.now, null) };
}

describe('a first attempt goes to its provider at once', () => {
  it('some seconds after a call has reached that place, with that credential', () => {
    const { attempts, clock } = opened();
    expect(attempts.clusterOf(at('https://a', 'KEY'))).toBeNull();
    attempts.reached(at('https://a', 'KEY'));
    clock.now = settled - 1;
    attempts.reached(at('https://a', 'KEY'));
    expect(attempts.clusterOf(at('https://a', 'KEY'))).toBeNull();
    clock.now = settled;
    expect(attempts.clusterOf(at('https://a', 'KEY'))).toBe('first:d@https://a');
    for (const other of [at('https://b', 'KEY'), at('https://a', 'KEY2'), at('https://a'), { id: 'd' }])
      expect(attempts.clusterOf(other)).toBeNull();
  });

  it('never where the listener has to make every call', () => {
    const { attempts, clock } = opened();
    attempts.reached({ id: 'd' });
    clock.now = settled;
    expect(attempts.clusterOf({ id: 'd' })).toBeNull();
  });

  it('after a miss once a minute is over and a call has reached it since; after each further miss twice as long', () => {
    const { attempts, clock } = opened();
    const a = at('https://a');
    const beginsAfter = (ms: number) => {
      clock.now += ms - 1;
      attempts.reached(a);
      clock.now += settled;
      const early = attempts.clusterOf(a);
      // Nobody has come back from there since the time was over.
      const silent = attempts.clusterOf(a);
      attempts.reached(a);
      clock.now += settled - 1;
      const soon = attempts.clusterOf(a);
      clock.now += 1;
      return [early, silent, soon, attempts.clusterOf(a)];
    };
    attempts.reached(a);
    for (const ms of [60_000, 120_000, 240_000]) {
      attempts.missed(a);
      expect(beginsAfter(ms)).toEqual([null, null, null, 'first:d@https://a']);
    }
    for (let miss = 0; miss < 20; miss += 1) attempts.missed(a);
    expect(beginsAfter(3_600_000).at(-1)).toBe('first:d@https://a');
    attempts.missed(a);
    attempts.reached(at('https://b'));
    clock.now += settled;
    expect(attempts.clusterOf(at('https://b'))).toBe('first:d@https://b');
  });
});

describe('why it failed', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const lost = (
    outcome: 'no_connection' | 'connection_lost' | 'timed_out',
    client = '10.0.0.1:5',
    deployment = 'd',
  ) => ({
    client,
    deployment,
    outcome,
  });

  it('says the reply, with the time that it asks for', () => {
    const { attempts } = opened();
    expect(attempts.failed('d', '429 -;retry-after=7', 0)).toEqual({
      deployment: 'd',
      outcome: 'rate_limited',
      result: 'busy',
      retryAfterMs: 7000,
    });
    expect(attempts.failed('d', '500 ', 0)).toMatchObject({ outcome: 'server_error', result: 'failed' });
    expect(attempts.failed('d', '503 Wed, 21 Oct 2026 07:28:00 GMT', 0)).toMatchObject({ retryAfterMs: null });
  });

  it('says the log where no reply came: of this client, this deployment and this time alone', () => {
    const { attempts, clock } = opened();
    attempts.lost(lost('timed_out'));
    clock.now = 10;
    attempts.lost(lost('no_connection'));
    attempts.lost(lost('connection_lost', '10.0.0.2:5'));
    attempts.lost(lost('connection_lost', '10.0.0.1:5', 'other'));
    expect(attempts.failed('d', '- 10.0.0.1:5', 5)).toEqual({
      deployment: 'd',
      outcome: 'no_connection',
      result: 'down',
      retryAfterMs: null,
    });
  });

  it('says an entry of the log that comes behind the reply, by 50 ms at most', async () => {
    const { attempts } = opened();
    const found = attempts.failed('d', '- 10.0.0.1:5', 0);
    await vi.advanceTimersByTimeAsync(49);
    attempts.lost(lost('no_connection', '10.0.0.9:5'));
    attempts.lost(lost('no_connection'));
    expect(await found).toMatchObject({ outcome: 'no_connection' });
    const none = attempts.failed('d', '- 10.0.0.2:5', 0);
    await vi.advanceTimersByTimeAsync(50);
    expect(await none).toMatchObject({ outcome: 'failed', result: 'down' });
  });

  it('nobody says where calls on one connection were lost in several ways', () => {
    const { attempts } = opened();
    for (const outcome of ['no_connection', 'timed_out'] as const) attempts.lost(lost(outcome));
    expect(attempts.failed('d', '- 10.0.0.1:5', 0)).toMatchObject({ outcome: 'failed' });
  });

  it('is shared with other sidecars', () => {
    const sent: unknown[] = [];
    type Take = (attempt: ReturnType<typeof lost>) => void;
    const others: Take[] = [];
    const shared = { send: (told: unknown) => void sent.push(told), receive: (take: Take) => void others.push(take) };
    const attempts = createFirstAttempts(() => 0, shared);
    attempts.lost(lost('no_connection'));
    others[0]?.(lost('timed_out', '10.0.0.7:1'));
    expect(sent).toEqual([lost('no_connection')]);
    expect(attempts.failed('d', '- 10.0.0.7:1', 0)).toMatchObject({ outcome: 'timed_out' });
  });
});

const entry = (upstreamCluster: string, responseFlags: object, address = '10.0.0.1') =>
  ({
    commonProperties: {
      upstreamCluster,
      responseFlags,
      downstreamRemoteAddress: { socketAddress: { address, portValue: 5 } },
    },
  }) as unknown as AccessLogEntry;

it.each([
  [{ upstreamConnectionFailure: true }, 'no_connection'],
  [{ upstreamConnectionTermination: true }, 'connection_lost'],
  [{ upstreamRequestTimeout: true }, 'timed_out'],
])('an entry of the log tells how an attempt was lost (%j)', (flags, outcome) => {
  expect(lostAttempt(entry('first:d@http://x:1', flags))).toEqual({ client: '10.0.0.1:5', deployment: 'd', outcome });
  expect(lostAttempt(entry('first:d@http://x:1', flags, '::1'))?.client).toBe('[::1]:5');
  expect(lostAttempt(entry('control_plane', flags))).toBeNull();
});
