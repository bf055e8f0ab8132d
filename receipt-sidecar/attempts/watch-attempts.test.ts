import { contextForTests } from '@gw/testing/receipt-sidecar/call';
import { candidate, routeOver } from '@gw/testing/receipt-sidecar/chain';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAddedFields } from './added-fields.ts';
import { countCallsUnderWay } from './calls-under-way.ts';
import { createFirstAttempts } from './direct-first-attempts.ts';
import { createFailedAttempts, type FailedAttempt } from './failed-attempts.ts';
import type { AttemptAtDeployment, DeploymentHealth } from './resting-deployments.ts';
import { createMeasuredTrouble } from './unavailable-deployments.ts';
import { watchAttempts } from './watch-attempts.ts';

describe('what came of the attempts', () => {
  const firstAttempts = createFirstAttempts(() => 0, null);
  const route = routeOver(candidate('a', 'm'), candidate('b', 'm'), candidate('c', 'm'));
  const noted = (
    deployment: string | null,
    attempts: number,
    headers: Readonly<Record<string, string>> = {},
    known: readonly FailedAttempt[] = [],
    isDirect = false,
    taken = route,
  ) => {
    const seen: string[] = [];
    const health = {
      begins: () => false,
      note: ({ deployment: id, result, retryAfterMs }: AttemptAtDeployment) =>
        void seen.push(`${id} ${result}${retryAfterMs ? ` ${retryAfterMs}` : ''}`),
    } as unknown as DeploymentHealth;
    const trouble = createMeasuredTrouble(() => 0);
    const failedAttempts = createFailedAttempts(null);
    const call = { identity: { receiptId: 'rcpt', route: taken } as never, startedAt: 0, accountId: 'acct' };
    const notices = { note: () => undefined, register: () => undefined };
    const addedFields = createAddedFields(() => 0, { warn: () => undefined });
    const order = ['first', 'second', 'third'];
    const underWay = countCallsUnderWay();
    const judges = { health, notices, trouble, accountTrouble: trouble, underWay };
    const watchers = { addedFields, failedAttempts, firstAttempts, ...judges };
    const watch = watchAttempts(watchers, call, new Map(), { order, isDirect, form: 'chat', addedFor: () => [] });
    for (const attempt of known) failedAttempts.tell('rcpt', attempt);
    const answer = { deployment, attempts, headers: new Map(Object.entries({ ':status': '200', ...headers })) };
    void watch.arrived(answer);
    watch.answered(answer);
    watch.end();
    expect(failedAttempts.of('rcpt')).toEqual([]);
    return seen;
  };

  it('is told of a first attempt at once by the header of the reply behind it, and only there', () => {
    const header = { 'x-gw-first-attempt': '503 -;retry-after=9' };
    expect(noted('b', 2, header, [], true)).toEqual(['a busy 9000', 'b answered']);
    // A provider's own.
    expect(noted('b', 2, header)).toEqual(['a failed', 'b answered']);
  });

  it('lets a call begin at once after one has come back from there, and not after Envoy answered in its place', () => {
    const place = { ...candidate('z', 'm').deployment, firstAttempt: { origin: 'https://z', credential: null } };
    let now = 0;
    const first = createFirstAttempts(() => now, null);
    const later = () => {
      now += 5000;
      return first.clusterOf(place);
    };
    const watch = (isDirect: boolean) =>
      watchAttempts(
        { ...contextForTests().context, firstAttempts: first },
        {
          identity: { receiptId: 'r', route: routeOver({ ...candidate('z', 'm'), deployment: place }) } as never,
          startedAt: 0,
          accountId: 'a',
        },
        new Map(),
        { order: ['first', 'once-more'], isDirect, form: 'chat', addedFor: () => [] },
      );
    const reply = (headers: Readonly<Record<string, string>>) =>
      new Map(Object.entries({ ':status': '200', ...headers }));
    void watch(false).arrived({
      deployment: 'z',
      attempts: 1,
      headers: reply({ ':status': '429', 'x-gw-credential-missing': '1' }),
    });
    void watch(false).arrived({ deployment: 'z', attempts: 1, headers: reply({ ':status': '503' }) });
    expect(later()).toBeNull();
    void watch(false).arrived({ deployment: 'z', attempts: 1, headers: reply({}) });
    expect(later()).toBe('first:z@https://z');
    void watch(true).arrived({ deployment: null, attempts: 1, headers: reply({ ':status': '502' }) });
    // A time-out, say.
    expect(later()).not.toBeNull();
    const refused = reply({ ':status': '502', 'x-gw-credential-missing': '1' });
    void watch(true).arrived({ deployment: null, attempts: 2, headers: refused });
    expect(later()).not.toBeNull();
    void watch(true).arrived({ deployment: null, attempts: 1, headers: refused });
    expect(later()).toBeNull();
  });

  it('is told of each that was tried', () => {
    expect(noted('a', 1)).toEqual(['a answered']);
    expect(noted('b', 2)).toEqual(['a failed', 'b answered']);
    expect(noted('c', 3, { ':status': '500' })).toEqual(['a failed', 'b failed', 'c failed']);
    expect(noted(null, 2)).toEqual(['a failed', 'b failed']);
    expect(noted('unknown', 2)).toEqual(['a failed', 'b failed']);
    expect(noted(null, 0)).toEqual([]);
    expect(noted('a', 1, { ':status': '400' })).toEqual(['a answered']);
    expect(noted('a', 1, { ':status': '429', 'retry-after': '7' })).toEqual(['a busy 7000']);
    // Nobody knows how much of the time the last one had, and none of it was the provider's that has no credential.
    expect(noted(null, 2, { ':status': '504' })).toEqual(['a failed']);
    expect(noted(null, 1, { ':status': '504' })).toEqual(['a down']);
    expect(noted('b', 2, { ':status': '429', 'x-gw-credential-missing': '1' })).toEqual(['a failed']);
    expect(noted('a', 1, { ':status': '429', 'retry-after': 'Mon, 23 Nov 2026' })).toEqual(['a busy']);
    expect(noted('a', 1, { ':status': '503' })).toEqual(['a down']);
    expect(noted('a', 1, { ':status': '503', 'retry-after': '7' })).toEqual(['a busy 7000']);
  });

  it('is told nothing where Envoy has no listener yet, and then nobody was asked through one', () => {
    const headers = { ':status': '503', 'x-gw-not-ready': '1' };
    expect(noted(null, 3, headers)).toEqual([]);
    const { context } = contextForTests();
    const unasked = (isDirect: boolean) => {
      const failedAttempts = createFailedAttempts(null);
      const call = { identity: { receiptId: 'rcpt', route } as never, startedAt: 0, accountId: 'acct' };
      const attempts = { order: ['1', '2', '3'], isDirect, form: 'chat' as const, addedFor: () => [] };
      const watch = watchAttempts({ ...context, failedAttempts }, call, new Map(), attempts);
      void watch.arrived({ deployment: null, attempts: 3, headers: new Map(Object.entries(headers)) });
      return failedAttempts.of('rcpt').map(({ deployment, outcome }) => `${deployment} ${outcome}`);
    };
    expect(unasked(false)).toEqual(['a not_ready', 'b not_ready']);
    expect(unasked(true)).toEqual(['b not_ready']);
  });

  it('is told nothing of a connection that closed early, where the deployment was sent the call once more', () => {
    const over = routeOver(candidate('a', 'm'));
    const lost = { deployment: 'a', outcome: 'connection_lost', result: 'down', retryAfterMs: null } as const;
    expect(noted('a', 2, {}, [lost], false, over)).toEqual(['a answered']);
    expect(noted('a', 2, { ':status': '429' }, [], false, over)).toEqual(['a busy']);
    expect(noted(null, 2, { ':status': '503' }, [lost, lost], false, over)).toEqual(['a down']);
  });

  it('is told of a deployment that needs its operator, first or last', () => {
    const fault = (name: string) => ({ ':status': '401', 'x-gw-operator-fault': name });
    expect(noted('a', 1, fault('auth_failed'))).toEqual(['a needs_operator']);
    expect(noted('a', 1, { ...fault('auth_failed'), ':status': '403' })).toEqual(['a failed']);
    expect(noted('a', 1, fault('unknown'))).toEqual(['a answered']);
    const first = { 'x-gw-first-attempt': '404 model_missing;retry-after=9' };
    expect(noted('b', 2, first, [], true)).toEqual(['a needs_operator', 'b answered']);
  });

  it('is told with what the access log says of those that failed', () => {
    const busy = { deployment: 'a', outcome: 'rate_limited', result: 'busy', retryAfterMs: 5000 } as const;
    expect(noted('b', 2, {}, [busy])).toEqual(['a busy 5000', 'b answered']);
    expect(noted('a', 1, {}, [busy])).toEqual(['a answered']);
    const full = { deployment: 'a', outcome: 'at_capacity', result: 'full', retryAfterMs: null } as const;
    expect(noted('b', 2, {}, [full])).toEqual(['a full', 'b answered']);
    expect(noted('b', 2, { ':status': '429', 'x-gw-at-capacity': '1' }, [full])).toEqual(['a full', 'b full']);
  });

  it('is known once the log has told of each attempt before, or after 50 ms', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { context } = contextForTests();
    const waitMs = async (tellAfterMs: number, isDirect = false) => {
      const failedAttempts = createFailedAttempts(null);
      const firstAttempts = createFirstAttempts(() => 0, null);
      const call = { identity: { receiptId: 'rcpt', route } as never, startedAt: 0, accountId: 'acct' };
      const attempts = { order: ['1', '2', '3'], isDirect, form: 'chat' as const, addedFor: () => [] };
      const watch = watchAttempts({ ...context, failedAttempts, firstAttempts }, call, new Map(), attempts);
      const headers = new Map(Object.entries({ ':status': '200', 'x-gw-first-attempt': '- 10.0.0.1:5' }));
      const known = watch.arrived({ deployment: 'b', attempts: 2, headers });
      setTimeout(() => {
        const lost = { deployment: 'a', outcome: 'no_connection' } as const;
        if (isDirect) firstAttempts.lost({ ...lost, client: '10.0.0.1:5' });
        else failedAttempts.tell('rcpt', { ...lost, result: 'down', retryAfterMs: null });
      }, tellAfterMs);
      const began = Date.now();
      let ms = 0;
      const settled = Promise.resolve(known).then(() => {
        ms = Date.now() - began;
      });
      await vi.advanceTimersByTimeAsync(100);
      await settled;
      return { ms, outcomes: failedAttempts.of('rcpt').map(({ outcome }) => outcome) };
    };
    for (const isDirect of [false, true]) {
      expect(await waitMs(20, isDirect)).toEqual({ ms: 20, outcomes: ['no_connection'] });
      expect(await waitMs(60, isDirect)).toEqual({ ms: 50, outcomes: isDirect ? ['failed'] : ['no_connection'] });
    }
  });

  it('is told of no failure where it may have been full, while the access log has not said why', () => {
    const plain = candidate('a', 'm');
    const bounded = { ...plain, deployment: { ...plain.deployment, maxConcurrentRequests: 2 } };
    const over = routeOver(bounded, candidate('b', 'm'));
    expect(noted('b', 2, {}, [], false, over)).toEqual(['a full', 'b answered']);
    const down = { deployment: 'a', outcome: 'no_connection', result: 'down', retryAfterMs: null } as const;
    expect(noted('b', 2, {}, [down], false, over)).toEqual(['a down', 'b answered']);
  });
});

describe('a call under way', () => {
  it('counts where it begins, then where its answer comes from, and nowhere once it is over', () => {
    const { context } = contextForTests();
    const underWay = countCallsUnderWay();
    const route = routeOver(candidate('a', 'm'), candidate('b', 'm'));
    const call = { identity: { receiptId: 'rcpt', route } as never, startedAt: 0, accountId: 'acct' };
    const attempts = { order: ['1', '2'], isDirect: false, form: 'chat', addedFor: () => [] };
    const watch = watchAttempts({ ...context, underWay }, call, new Map(), attempts);
    const counts = () => ['a', 'b'].map(underWay.at);
    expect(counts()).toEqual([1, 0]);
    void watch.arrived({ deployment: 'b', attempts: 2, headers: new Map([[':status', '200']]) });
    expect(counts()).toEqual([0, 1]);
    watch.end();
    watch.end();
    expect(counts()).toEqual([0, 0]);
  });
});
