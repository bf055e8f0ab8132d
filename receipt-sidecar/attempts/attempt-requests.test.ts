import {
  attemptAdded,
  attemptEndpoint,
  attemptHeader,
  attemptOpening,
  attemptPathModel,
  attemptRest,
} from '@gw/contract/internal/attempt-headers';
import { plainModel } from '@gw/testing/catalogue';
import { candidate, routeOver } from '@gw/testing/receipt-sidecar/chain';
import { parsedBody } from '@gw/testing/receipt-sidecar/parsed-body';
import { describe, expect, it } from 'vitest';
import { bodiesOf } from '../api/behind.ts';
import { parseRequest } from '../api/parse.ts';
import { type Outgoing, outgoing } from '../api/provider-body.ts';
import type { Candidate } from '../catalogue/snapshot.ts';
import type { Route } from '../routing/route.ts';
import { createAddedFields } from './added-fields.ts';
import { attemptsOf, timeoutsOf } from './attempt-requests.ts';

const body = outgoing(parsedBody({ model: 'm', temperature: 1, messages: [], seed: 4 }));
const addedFields = createAddedFields(() => 0, { warn: () => undefined });
const none = { firstAttempts: { clusterOf: () => null }, addedFields };
const attemptsFor = (
  route: Route,
  outgoing: Outgoing,
  clientBytes: () => number,
  experience: Parameters<typeof attemptsOf>[3],
) => {
  const attempts = attemptsOf({ endpoint: 'chat', route }, { outgoing }, clientBytes, experience);
  return { ...attempts, text: Buffer.concat(attempts.body).toString() };
};
const headersOf = (route: Route) =>
  Object.fromEntries(
    attemptsFor(route, body, () => 500, none).headers.map(({ header }) => [header.key, header.rawValue.toString()]),
  );

describe('the attempts of a call', () => {
  it('need nothing where all deployments are called alike', () => {
    const attempts = attemptsFor(routeOver(candidate('a', 'm'), candidate('b', 'm')), body, () => 500, none);
    expect(attempts).toMatchObject({ headers: [], others: 1 });
    expect(JSON.parse(attempts.text)).toEqual({ model: 'm', temperature: 1, messages: [], seed: 4 });
  });

  it('begin at the provider at once where they may, and go on by listeners', () => {
    const may = {
      firstAttempts: { clusterOf: ({ id }: { id: string }) => (id === 'a' ? 'first:a' : null) },
      addedFields,
    };
    const orderOf = (...chain: Parameters<typeof routeOver>) =>
      attemptsFor(routeOver(...chain), body, () => 500, may).order;
    const [a, b] = [candidate('a', 'm'), candidate('b', 'm')];
    expect(orderOf(a, b)).toEqual(['first:a', 'listener:b']);
    expect(orderOf(a)).toEqual(['first:a', 'once-more:a']);
    expect(orderOf(b, a)).toEqual(['first-listener:b', 'listener:a']);
    // Only a listener changes a body.
    expect(orderOf(a, candidate('b', 'other'))).toEqual(['first-listener:a', 'listener:b']);
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
    const plain = outgoing(parsedBody({ model: 'x', n: 1 }));
    const { headers, text } = attemptsFor(aliased as Route, plain, () => 500, none);
    expect(JSON.parse(text)).toEqual({ model: 'm', temperature: 1, n: 1 });
    expect(headers.map(({ header }) => header.rawValue.toString())).toEqual([
      '{"model":"m",',
      String('{"model":"m","temperature":1,'.length),
      'temperature 13 16',
    ]);
  });

  it('say where the added fields stand until the deployment has taken them, and leave out what it has refused', () => {
    let now = 0;
    const experience = {
      firstAttempts: { clusterOf: () => 'first:a' },
      addedFields: createAddedFields(() => now, { warn: () => undefined }),
    };
    const stream = outgoing(parsedBody({ model: 'm', messages: [], stream: true }));
    const route = routeOver(candidate('a', 'm'));
    const sent = () => {
      const { headers, isDirect, text } = attemptsFor(route, stream, () => 500, experience);
      const added = headers.find(({ header }) => header.key === attemptHeader(attemptAdded, 'a'))?.header.rawValue;
      const places = [...String(added).matchAll(/(\S+) (\d+) (\d+)/g)].map(([, name, at, length]) => [
        name,
        text.slice(Number(at), Number(at) + Number(length)),
      ]);
      const { messages: _, stream: __, ...fields } = JSON.parse(text);
      return { fields: Object.keys(fields), places, isDirect };
    };
    const answered = (refused: readonly string[], status = 200) =>
      experience.addedFields.answered({
        form: stream.form,
        deployment: 'a',
        added: ['temperature', 'stream_options'],
        refused,
        status,
      });
    const untried = {
      fields: ['model', 'temperature', 'stream_options'],
      places: [
        ['temperature', '"temperature":1,'],
        ['stream_options/include_usage', '"stream_options":{"include_usage":true},'],
      ],
      isDirect: false,
    };
    expect(sent()).toEqual(untried);
    answered([]);
    expect(sent()).toEqual({ ...untried, places: [], isDirect: true });
    // The next call finds out which one it takes no longer.
    answered([], 400);
    expect(sent()).toEqual(untried);
    answered(['stream_options']);
    expect(sent()).toEqual({ fields: ['model', 'temperature'], places: [], isDirect: true });
    now = 3_600_000;
    expect(sent()).toEqual(untried);
  });

  it('have a body for each API, one behind the other, from which each deployment gets its own', () => {
    const sent = { model: 'm', input: 'Hi', max_output_tokens: 32 };
    const parsed = parseRequest('responses', Buffer.from(JSON.stringify(sent)));
    if (!parsed.ok) throw new Error(parsed.error.message);
    const { request, ...bodies } = bodiesOf(parsed.value, { contextWindow: null, spoken: [['responses'], ['chat']] });
    const [own, chat] = [{ apis: ['responses'] }, { apis: ['chat'] }];
    const route = routeOver(candidate('a', 'm', own), candidate('b', 'n', chat), candidate('c', 'o', chat));
    const may = { ...none, firstAttempts: { clusterOf: () => 'first:a' } };
    const { body: parts, headers, order } = attemptsOf({ endpoint: 'responses', route }, bodies, () => 500, may);
    const header = (kind: string, id: string) =>
      headers.find((each) => each.header.key === attemptHeader(kind, id))?.header.rawValue.toString();
    const whole = Buffer.concat(parts);
    const bodyOf = (id: string) => {
      const [from = 0, length = 0] = String(header(attemptRest, id)).split(' ').map(Number);
      return JSON.parse(header(attemptOpening, id) + whole.subarray(from, from + length).toString());
    };
    expect(order).toEqual(['first-listener:a', 'listener:b', 'listener:c']);
    expect(bodyOf('a')).toMatchObject({ model: 'm', input: 'Hi', max_output_tokens: 32 });
    expect(bodyOf('b')).toMatchObject({ model: 'n', messages: [{ role: 'user', content: 'Hi' }] });
    expect(bodyOf('c')).toMatchObject({ model: 'o', messages: [{ role: 'user', content: 'Hi' }] });
    expect(['a', 'b', 'c'].map((id) => header(attemptEndpoint, id))).toEqual([
      undefined,
      'chat/completions',
      'chat/completions',
    ]);
    expect(request.terms).toMatchObject({ chat: { model: 'm' } });
    const translated = attemptsOf(
      { endpoint: 'responses', route: routeOver(candidate('b', 'n', chat)) },
      bodies,
      () => 500,
      may,
    );
    expect(JSON.parse(Buffer.concat(translated.body).toString())).toMatchObject({ model: 'n', messages: [{}] });
    expect(translated).toMatchObject({ isDirect: false, order: ['first-listener:b', 'once-more:b'] });
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
    const attempts = attemptsFor(many, body, () => 500, none);
    expect(attempts).toMatchObject({ others: 4, order: { length: 5 } });
    expect(attempts.headers).toHaveLength(5);
  });

  it('are more where deployments have a bound, which can be full and then cost nothing: ten at most', () => {
    const otherOf = (at: number, maxConcurrentRequests: number | null): Candidate => {
      const plain = candidate(`d${at}`, `n${at}`);
      return { ...plain, deployment: { ...plain.deployment, maxConcurrentRequests } };
    };
    const othersOf = (bounds: readonly (number | null)[], clientBytes = 500) => {
      const others = bounds.map((bound, at) => otherOf(at, bound));
      return attemptsFor(routeOver(candidate('a', 'm'), ...others), body, () => clientBytes, none).others;
    };
    expect(othersOf([7, 7, 7, 7, 7, 7])).toBe(6);
    expect(othersOf([7, null, 7, null, null, null, 7, null, 7])).toBe(7);
    expect(othersOf(Array(60).fill(7))).toBe(9);
    const long = 'n'.repeat(2000);
    const named = Array.from({ length: 9 }, (_, at) => otherOf(at, 7)).map((each) => ({
      ...each,
      deployment: { ...each.deployment, models: { m: `${long}${each.deployment.id}` } },
    }));
    // Rather fewer than the first one alone.
    expect(attemptsFor(routeOver(candidate('a', 'm'), ...named), body, () => 500, none).others).toBe(4);
  });

  it.each([
    ['their headers', 'n'.repeat(9000), 500],
    ["the client's headers", 'n', 17_000],
  ])('are one where %s are too large for Envoy', (_, name, clientBytes) => {
    const route = routeOver(
      candidate('a', 'm', { modelInPath: true }),
      candidate('b', name),
      candidate('c', `${name}2`),
    );
    const { headers, order, others } = attemptsFor(route, body, () => clientBytes, none);
    expect([others, order]).toEqual([0, ['first-listener:a']]);
    expect(headers.map(({ header }) => header.key)).toEqual([attemptHeader(attemptPathModel, 'a')]);
  });
});

it('the time-outs of the first deployment hold, else those of the gateway', () => {
  const usual = { upstreamTimeoutS: 600, firstByteTimeoutS: 30 };
  expect(timeoutsOf(routeOver(candidate('a', 'm')), usual)).toEqual(usual);
  const own = candidate('a', 'm', { timeoutS: 90, firstByteTimeoutS: 120 });
  const quick = candidate('b', 'm', { firstByteTimeoutS: 5 });
  expect(timeoutsOf(routeOver(own, quick), usual)).toEqual({ upstreamTimeoutS: 90, firstByteTimeoutS: 120 });
});
