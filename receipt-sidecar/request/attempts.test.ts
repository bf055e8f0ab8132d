import { attemptHeader, attemptOpening, attemptPathModel } from '@gw/contract/internal/attempt-headers';
import { contextForTests } from '@gw/testing/receipt-sidecar/call';
import { plainModel } from '@gw/testing/receipt-sidecar/model';
import { describe, expect, it } from 'vitest';
import type { Attempt, DeploymentHealth } from '../deployment-health.ts';
import { createFailedAttempts, type FailedAttempt } from '../failed-attempts.ts';
import { createFirstAttempts } from '../first-attempts.ts';
import { createMeasuredTrouble } from '../measured-trouble.ts';
import type { Candidate } from '../snapshot.ts';
import { attemptsOf, timeoutsOf, watchAttempts } from './attempts.ts';
import { outgoing } from './provider-body.ts';
import type { Route } from './route.ts';

const candidate = (id: string, name: string, calls?: Candidate['deployment']['calls']): Candidate => ({
  deployment: {
    id,
    provider: 'p',
    region: 'r',
    models: { m: name },
    pue: 1,
    wueOnsiteLPerKwh: null,
    telemetry: null,
    calls,
  },
  region: { code: 'r', name: 'r', country: 'r', gridZone: 'SWE', status: 'active', preference: 0 },
  gridAt: () => null,
  signals: [],
});
const routeOver = (...failoverChain: readonly [Candidate, ...Candidate[]]) =>
  ({ model: plainModel, modelOf: () => plainModel, failoverChain, cluster: 'the whole chain' }) as unknown as Route;
const body = outgoing({ endpoint: 'chat', stream: false } as Parameters<typeof outgoing>[0], {
  model: 'm',
  temperature: 1,
  messages: [],
  seed: 4,
});
const none = { mayBegin: () => false };
const headersOf = (route: Route) =>
  Object.fromEntries(
    attemptsOf(route, body, () => 500, none).headers.map(({ header }) => [header.key, header.rawValue.toString()]),
  );

describe('the attempts of a call', () => {
  it('need nothing where all deployments are called alike', () => {
    const attempts = attemptsOf(routeOver(candidate('a', 'm'), candidate('b', 'm')), body, () => 500, none);
    expect(attempts).toMatchObject({ headers: [], others: 1, first: { providerModel: 'm' } });
  });

  it('begin at the provider at once where they may, and go on by listeners', () => {
    const may = { mayBegin: ({ id }: { id: string }) => id === 'a' };
    const orderOf = (...chain: Parameters<typeof routeOver>) =>
      attemptsOf(routeOver(...chain), body, () => 500, may).order;
    const [a, b] = [candidate('a', 'm'), candidate('b', 'm')];
    expect(orderOf(a, b)).toEqual(['first:a', 'listener:b']);
    expect(orderOf(a)).toEqual(['first:a']);
    expect(orderOf(b, a)).toBeNull();
    // Only a listener changes a body.
    expect(orderOf(a, candidate('b', 'other'))).toBeNull();
  });

  it('have an opening for each deployment that is called otherwise than the first, and names of models for paths', () => {
    const calls = { requestFields: { seed: null } };
    const paths = { modelInPath: true };
    const route = routeOver(
      candidate('a', 'm', paths),
      candidate('b', 'm'),
      candidate('c', 'm', calls),
      candidate('d', 'x/y', paths),
    );
    expect(headersOf(route)).toEqual({
      [attemptHeader(attemptOpening, 'c')]: '{"model":"m",',
      [attemptHeader(attemptOpening, 'd')]: '{"model":"x/y","seed":4,',
      'x-gw-opening-length': String('{"model":"m","seed":4,'.length),
      [attemptHeader(attemptPathModel, 'a')]: 'm',
      [attemptHeader(attemptPathModel, 'd')]: 'x%2Fy',
    });
  });

  it('have the name, and the temperature, of the model that a call gets at each', () => {
    const other = { ...plainModel, id: 'n', takesTemperature: false };
    const second = candidate('b', 'm');
    const route = routeOver(candidate('a', 'm'), {
      ...second,
      deployment: { ...second.deployment, models: { n: 'm' } },
    });
    const aliased = { ...route, modelOf: ({ deployment: { id } }: Candidate) => (id === 'a' ? plainModel : other) };
    const plain = outgoing({ endpoint: 'chat', stream: false } as Parameters<typeof outgoing>[0], { model: 'x', n: 1 });
    const { first, headers } = attemptsOf(aliased as Route, plain, () => 500, none);
    expect(first).toMatchObject({ providerModel: 'm', takesTemperature: true });
    expect(headers.map(({ header }) => header.rawValue.toString())).toEqual([
      ...['{"model":"m",', String('{"model":"m","temperature":1,'.length)],
    ]);
  });

  it('are for one deployment alone, even if ids differ in the case of a letter', () => {
    const route = routeOver(candidate('a', 'm'), candidate('Ab', 'one'), candidate('aB', 'two'));
    expect(Object.keys(headersOf(route))).toHaveLength(3);
  });

  it('are at most five, and what the others would need is not sent', () => {
    const many = routeOver(
      candidate('a', 'm'),
      ...Array.from({ length: 60 }, (_, at) => candidate(`d${at}`, `n${at}`)),
    );
    const attempts = attemptsOf(many, body, () => 500, none);
    expect(attempts).toMatchObject({ others: 4, cluster: 'the whole chain' });
    expect(attempts.headers).toHaveLength(5);
  });

  it.each([
    ['their headers', 'n'.repeat(9000), 500],
    ["the client's headers", 'n', 17_000],
  ])('are one, alone in its cluster, where %s are too large for Envoy', (_, name, clientBytes) => {
    const route = routeOver(
      candidate('a', 'm', { modelInPath: true }),
      candidate('b', name),
      candidate('c', `${name}2`),
    );
    const { cluster, headers, others } = attemptsOf(route, body, () => clientBytes, none);
    expect([others, cluster]).toEqual([0, 'order:a']);
    expect(headers.map(({ header }) => header.key)).toEqual([attemptHeader(attemptPathModel, 'a')]);
  });
});

describe('what came of the attempts', () => {
  const firstAttempts = createFirstAttempts(() => 0, null);
  const route = routeOver(candidate('a', 'm'), candidate('b', 'm'), candidate('c', 'm'));
  const noted = (
    deployment: string | null,
    attempts: number,
    headers: Readonly<Record<string, string>> = {},
    known: readonly FailedAttempt[] = [],
    order: readonly string[] | null = null,
    taken = route,
  ) => {
    const seen: string[] = [];
    const health = {
      begins: () => false,
      note: ({ deployment: id, result, retryAfterMs }: Attempt) =>
        void seen.push(`${id} ${result}${retryAfterMs ? ` ${retryAfterMs}` : ''}`),
    } as unknown as DeploymentHealth;
    const trouble = createMeasuredTrouble(() => 0);
    const failedAttempts = createFailedAttempts(null);
    const call = { identity: { receiptId: 'rcpt', route: taken } as never, startedAt: 0, accountId: 'acct' };
    const watchers = { health, failedAttempts, firstAttempts, trouble, accountTrouble: trouble };
    const watch = watchAttempts(watchers, call, new Map(), { others: 2, order });
    for (const attempt of known) failedAttempts.tell('rcpt', attempt);
    const answer = { deployment, attempts, headers: new Map(Object.entries({ ':status': '200', ...headers })) };
    watch.arrived(answer);
    watch.answered(answer);
    watch.end();
    expect(failedAttempts.of('rcpt')).toEqual([]);
    return seen;
  };

  it('is told of a first attempt at once by the header of the reply behind it, and only there', () => {
    const header = { 'x-gw-first-attempt': '503 9' };
    expect(noted('b', 2, header, [], ['first:a', 'listener:b'])).toEqual(['a busy 9000', 'b answered']);
    // A provider's own.
    expect(noted('b', 2, header)).toEqual(['a failed', 'b answered']);
  });

  it('lets a call begin at once after one has come back from there, and not after Envoy answered in its place', () => {
    const place = { ...candidate('z', 'm').deployment, firstAttempt: '@https://z' };
    const first = createFirstAttempts(() => 0, null);
    const watch = (order: readonly string[] | null) =>
      watchAttempts(
        { ...contextForTests().context, firstAttempts: first },
        {
          identity: { receiptId: 'r', route: routeOver({ ...candidate('z', 'm'), deployment: place }) } as never,
          ...{ startedAt: 0, accountId: 'a' },
        },
        new Map(),
        { others: 0, order },
      );
    const reply = (headers: Readonly<Record<string, string>>) =>
      new Map(Object.entries({ ':status': '200', ...headers }));
    watch(null).arrived({ deployment: 'z', attempts: 1, headers: reply({ 'x-gw-credential-missing': '1' }) });
    expect(first.mayBegin(place)).toBe(false);
    watch(null).arrived({ deployment: 'z', attempts: 1, headers: reply({}) });
    expect(first.mayBegin(place)).toBe(true);
    watch(['first:z']).arrived({ deployment: null, attempts: 1, headers: reply({ ':status': '502' }) });
    expect(first.mayBegin(place)).toBe(false);
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

  it('is told with what the access log says of those that failed', () => {
    const busy = { deployment: 'a', outcome: 'rate_limited', result: 'busy', retryAfterMs: 5000 } as const;
    expect(noted('b', 2, {}, [busy])).toEqual(['a busy 5000', 'b answered']);
    expect(noted('a', 1, {}, [busy])).toEqual(['a answered']);
    const full = { deployment: 'a', outcome: 'at_capacity', result: 'full', retryAfterMs: null } as const;
    expect(noted('b', 2, {}, [full])).toEqual(['a full', 'b answered']);
    expect(noted('b', 2, { ':status': '429', 'x-gw-at-capacity': '1' }, [full])).toEqual(['a full', 'b full']);
  });

  it('is told of no failure where it may have been full, while the access log has not said why', () => {
    const plain = candidate('a', 'm');
    const bounded = { ...plain, deployment: { ...plain.deployment, maxConcurrentRequests: 2 } };
    const over = routeOver(bounded, candidate('b', 'm'));
    expect(noted('b', 2, {}, [], null, over)).toEqual(['a full', 'b answered']);
    const down = { deployment: 'a', outcome: 'no_connection', result: 'down', retryAfterMs: null } as const;
    expect(noted('b', 2, {}, [down], null, over)).toEqual(['a down', 'b answered']);
  });
});

it('the time-outs of the first deployment hold, else those of the gateway', () => {
  const usual = { upstreamTimeoutS: 600, firstByteTimeoutS: 30 };
  expect(timeoutsOf(routeOver(candidate('a', 'm')), usual)).toEqual(usual);
  const own = candidate('a', 'm', { timeoutS: 90, firstByteTimeoutS: 120 });
  const quick = candidate('b', 'm', { firstByteTimeoutS: 5 });
  expect(timeoutsOf(routeOver(own, quick), usual)).toEqual({ upstreamTimeoutS: 90, firstByteTimeoutS: 120 });
});
