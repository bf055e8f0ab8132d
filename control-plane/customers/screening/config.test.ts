import { readSettings } from '@gw/contract/internal/environment';
import { expect, test } from 'vitest';
import { noLists, readScreeningSettings } from './config.ts';

function read(environment: Readonly<Record<string, string>>) {
  const settings = readSettings(environment);
  const read = readScreeningSettings(settings);
  settings.finish();
  return read;
}

test('without settings there is no list, so that nobody is cleared by default', () => {
  expect(read({})).toEqual(noLists);
});

test('lists are read with their format and their least numbers of entries and names', () => {
  expect(
    read({
      GW_SANCTIONS_FILES: '/a b/sdn.csv=ofac-csv:15000/30000,synthetic,/x=y/eu.xml=eu-xml',
      GW_SANCTIONS_THRESHOLD_PERCENT: '90',
      GW_USE_POLICY_FILE: '/etc/gw/policy.json',
      GW_ONBOARDING_IDLE_DAYS: '14',
    }),
  ).toEqual({
    lists: [
      { path: '/a b/sdn.csv', format: 'ofac-csv', leastEntries: 15_000, leastNames: 30_000 },
      { path: '/x=y/eu.xml', format: 'eu-xml', leastEntries: 1, leastNames: 1 },
    ],
    synthetic: true,
    threshold: 0.9,
    policyFile: '/etc/gw/policy.json',
    idleDays: 14,
  });
});

test('everything that is wrong is said together, with an example', () => {
  const environment = {
    GW_SANCTIONS_FILES: '/lists/sdn.csv,/lists/eu.xml=eu-html',
    GW_SANCTIONS_THRESHOLD_PERCENT: '10',
    GW_ONBOARDING_IDLE_DAYS: '0',
  };
  expect(() => read(environment)).toThrow(
    /4 problems[\s\S]*GW_SANCTIONS_FILES[\s\S]*GW_SANCTIONS_THRESHOLD_PERCENT[\s\S]*GW_ONBOARDING_IDLE_DAYS=30/,
  );
});

test.each([
  ['0 entries', '/l/eu.xml=eu-xml:0', /path=format:entries/],
  ['0 names', '/l/eu.xml=eu-xml:1/0', /path=format:entries/],
  ['a form without an end mark and without numbers', '/l/sdn.csv=ofac-csv', /it would look whole/],
  ['a form without an end mark and without the number of names', '/l/eu.csv=eu-csv:4000', /it would look whole/],
])('a list with %s is not taken', (_, files, reason) => {
  expect(() => read({ GW_SANCTIONS_FILES: files })).toThrow(reason);
});
