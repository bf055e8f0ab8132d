import { plainDeployment } from '@gw/testing/catalogue';
import { expect, test } from 'vitest';
import { openHandover } from './handover.ts';
import type { Catalogue } from './read.ts';

type Status = Catalogue['regions'][number]['status'];

/** Deployments of one model, each in a region of its own. */
function catalogueOf(version: number, ids: readonly string[], status: Status = 'active'): Catalogue {
  const place = { country: 'x', gridZone: 'x' };
  return {
    version,
    models: [],
    aliases: [],
    prices: [],
    providers: [],
    liveGrid: [],
    operationalGrid: [],
    regions: ids.map((id, preference) => ({
      ...place,
      code: id,
      name: id,
      preference,
      status: preference === 0 ? status : 'active',
    })),
    deployments: ids.map((id) => ({ ...plainDeployment, id, region: id })),
  };
}

function handoverAt() {
  let ms = 0;
  const pass = (by: number) => {
    ms += by;
  };
  return { handover: openHandover(() => new Date(ms)), pass };
}

const one = catalogueOf(1, ['a']);
const two = catalogueOf(2, ['a', 'b']);

test('a snapshot with a new deployment waits until Envoy had the time to take it up', () => {
  const { handover, pass } = handoverAt();
  handover.took(one);
  expect(handover.mayPublish(one, null)).toBe(true);
  pass(60_000);
  handover.took(two);
  expect(handover.mayPublish(two, one)).toBe(false);
  pass(1999);
  expect(handover.mayPublish(two, one)).toBe(false);
  pass(1);
  expect(handover.mayPublish(two, one)).toBe(true);
});

test('what services name already, or name no more, does not wait, nor does a change of a region', () => {
  const { handover } = handoverAt();
  const three = catalogueOf(3, ['a', 'b', 'c']);
  const degraded = catalogueOf(4, ['a', 'b', 'c'], 'degraded');
  handover.took(three);
  handover.took(degraded);
  expect(handover.mayPublish(degraded, three)).toBe(true);
  expect(handover.mayPublish(three, degraded)).toBe(true);
  expect(handover.mayPublish(one, two)).toBe(true);
});

test('one that is published late does not wait for what came after it, even if that has removed what it names', () => {
  const { handover, pass } = handoverAt();
  handover.took(one);
  pass(60_000);
  handover.took(two);
  pass(1500);
  handover.took(catalogueOf(3, ['a', 'c']));
  pass(500);
  expect(handover.mayPublish(two, one)).toBe(true);
  handover.published(2);
  expect(handover.mayPublish(catalogueOf(3, ['a', 'c']), two)).toBe(false);
  expect(handover.retiring().map(({ version }) => version)).toEqual([2]);
  pass(1500);
  expect(handover.mayPublish(catalogueOf(3, ['a', 'c']), two)).toBe(true);
  handover.published(3);
  pass(30_000);
  handover.took(catalogueOf(4, ['a', 'b', 'c']));
  expect(handover.retiring()).toEqual([]);
  expect(handover.mayPublish(catalogueOf(4, ['a', 'b', 'c']), catalogueOf(3, ['a', 'c'])), 'b was gone').toBe(false);
});

test('a direct way to a provider waits as a new deployment does', () => {
  const { handover, pass } = handoverAt();
  const firstAttempt = { origin: 'https://a', credential: null };
  const direct = { ...one, deployments: one.deployments.map((each) => ({ ...each, firstAttempt })) };
  handover.took(one);
  pass(60_000);
  handover.took(direct);
  expect(handover.mayPublish(direct, one)).toBe(false);
  pass(2000);
  expect(handover.mayPublish(direct, one)).toBe(true);
});

test('further changes do not make it wait anew', () => {
  const { handover, pass } = handoverAt();
  handover.took(one);
  handover.took(two);
  pass(1500);
  handover.took({ ...two, version: 3 });
  pass(500);
  expect(handover.mayPublish(two, one)).toBe(true);
});

test('an Envoy that lacks what is new holds it up until it has had that for a while, or seems to refuse it', () => {
  const { handover, pass } = handoverAt();
  const ask = (version: string, current: string, resources = 'listeners') =>
    handover.asked(resources, version, current);
  handover.took(one);
  ask('1', '1');
  ask('1', '1', 'clusters');
  pass(60_000);
  ask('1', '1');
  ask('1', '1', 'clusters');
  pass(1);
  handover.took(two);
  pass(900);
  ask('1', '2');
  ask('1', '2', 'clusters');
  pass(1000);
  ask('1', '2');
  ask('2', '2', 'clusters');
  pass(2500);
  expect(handover.mayPublish(two, one), 'Envoy has asked no more').toBe(false);
  ask('2', '2');
  expect(handover.mayPublish(two, one)).toBe(true);
  ask('1', '2');
  ask('2', '2');
  expect(handover.mayPublish(two, one), 'another Envoy lacks it').toBe(false);
  pass(5600);
  ask('2', '2');
  expect(handover.mayPublish(two, one)).toBe(true);
  for (let seconds = 0; seconds < 3; seconds += 1) {
    ask('1', '2');
    ask('2', '3', 'clusters');
    pass(1000);
  }
  expect(handover.mayPublish(two, one), 'a version that was current ten seconds ago, and one that has it').toBe(true);
});

test('what is new waits neither for versions of another instance nor for an Envoy that has just begun, nor for later changes', () => {
  const { handover, pass } = handoverAt();
  handover.took(one);
  handover.asked('listeners', '1', '1');
  pass(60_000);
  handover.took(two);
  pass(1000);
  handover.asked('listeners', undefined, '2');
  handover.asked('listeners', 'elsewhere', '2');
  handover.asked('clusters', '', '2');
  pass(900);
  handover.took({ ...two, version: 3 });
  handover.asked('listeners', '2', '3');
  pass(100);
  expect(handover.mayPublish(two, one)).toBe(true);
});

test('what is left out stays until half a minute after services were told, whatever was read in between', () => {
  const { handover, pass } = handoverAt();
  handover.took(two);
  handover.took({ ...one, version: 3 });
  handover.took(catalogueOf(4, []));
  const versions = () => handover.retiring().map(({ version }) => version);
  expect(versions()).toEqual([3, 2]);
  pass(600_000);
  expect(versions()).toEqual([3, 2]);
  handover.published(3);
  pass(29_999);
  expect(versions()).toEqual([3, 2]);
  pass(1);
  expect(versions()).toEqual([3]);
  handover.published(4);
  handover.published(4);
  pass(30_000);
  expect(versions()).toEqual([]);
});

test('nothing is kept that the newest catalogue has anyway', () => {
  const { handover } = handoverAt();
  handover.took(one);
  handover.took(two);
  expect(handover.retiring()).toEqual([]);
});

test('a deployment that moves to another address stays with Envoy at the old one too, until nobody leads there', () => {
  const { handover, pass } = handoverAt();
  const at = (version: number, baseUrl: string): Catalogue => {
    const none = {
      healthPath: null,
      ca: null,
      path: null,
      headers: null,
      authHeader: null,
      authScheme: null,
      credentialRef: null,
    };
    return { ...catalogueOf(version, ['a']), providers: [{ id: 'p', kind: 'openai', baseUrl, ...none }] };
  };
  pass(1);
  handover.took(at(1, 'https://one.example/v1'));
  handover.took(at(2, 'https://one.example/v2'));
  expect([handover.formerPlaces(), handover.newPlaces()]).toEqual([[], new Set()]);
  handover.took(at(3, 'https://two.example/v1'));
  pass(1999);
  expect(handover.newPlaces()).toEqual(new Set(['provider:a@https://two.example']));
  pass(1);
  expect(handover.newPlaces()).toEqual(new Set());
  expect(handover.retiring()).toEqual([]);
  pass(657_999);
  expect(handover.formerPlaces()).toEqual([{ id: 'a', baseUrl: 'https://one.example/v2', ca: null }]);
  pass(1);
  expect(handover.formerPlaces()).toEqual([]);
});
