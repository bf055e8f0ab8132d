import { attemptHeader, attemptOpening, attemptPathModel } from '@gw/contract/internal/attempt-headers';
import { plainModel } from '@gw/testing/receipt-sidecar/model';
import { describe, expect, it } from 'vitest';
import type { Candidate } from '../snapshot.ts';
import { attemptsOf, timeoutsOf } from './attempts.ts';
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
  ({ model: plainModel, failoverChain }) as unknown as Route;
const body = outgoing({ endpoint: 'chat', stream: false } as Parameters<typeof outgoing>[0], {
  model: 'm',
  temperature: 1,
  messages: [],
  seed: 4,
});
const headersOf = (route: Route) =>
  Object.fromEntries(attemptsOf(route, body).headers.map(({ header }) => [header.key, header.rawValue.toString()]));

describe('the attempts of a call', () => {
  it('need nothing where all deployments are called alike', () => {
    const attempts = attemptsOf(routeOver(candidate('a', 'm'), candidate('b', 'm')), body);
    expect(attempts).toMatchObject({ headers: [], others: 1, first: { providerModel: 'm' } });
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

  it('are for one deployment alone, even if ids differ in the case of a letter', () => {
    const route = routeOver(candidate('a', 'm'), candidate('Ab', 'one'), candidate('aB', 'two'));
    expect(Object.keys(headersOf(route))).toHaveLength(3);
  });

  it('are at most five, and only one where the headers would be too many', () => {
    const many = (name: (at: number) => string) =>
      routeOver(candidate('a', 'm'), ...Array.from({ length: 200 }, (_, at) => candidate(`d${at}`, name(at))));
    expect(
      attemptsOf(
        many(() => 'm'),
        body,
      ).others,
    ).toBe(4);
    expect(
      attemptsOf(
        many((at) => `${'n'.repeat(200)}${at}`),
        body,
      ),
    ).toMatchObject({ others: 0, headers: [] });
  });
});

it('the time-outs of the first deployment hold, else those of the gateway', () => {
  const usual = { upstreamTimeoutS: 600, firstByteTimeoutS: 30 };
  expect(timeoutsOf(routeOver(candidate('a', 'm')), usual)).toEqual(usual);
  const own = candidate('a', 'm', { timeoutS: 90, firstByteTimeoutS: 5 });
  expect(timeoutsOf(routeOver(own, candidate('b', 'm')), usual)).toEqual({
    upstreamTimeoutS: 90,
    firstByteTimeoutS: 5,
  });
});
