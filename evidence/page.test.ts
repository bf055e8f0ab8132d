/** The page that people read. What it looks like was looked at in Chromium, on the screen and as PDF. */
import { expect, test } from 'vitest';
import { evidencePage } from './page.ts';
import { noLog } from './verify-log.ts';
import { noRouting } from './verify-routing.ts';

const evil = `</title><script>alert("1")</script><img src=x onerror='a'>`;
const row = { date: '2026-11-20', provider: 'p', region: 'eu', grid_basis: 'lifecycle', simulated: false, requests: 2 };
const amounts = {
  energy_wh: '2',
  energy_low_wh: '1',
  energy_high_wh: '4',
  carbon_g: '1',
  carbon_low_g: '0.5',
  carbon_high_g: '2',
};
const head = {
  id: 'urn:uuid:1',
  issued: '2026-11-22T00:00:00.000Z',
  account: evil,
  temporal: { start: '2026-11-20T00:00:00.000Z', end: '2026-11-22T00:00:00.000Z' },
  aggregates: [
    { ...row, ...amounts, model: evil, missing: {} },
    { ...row, ...amounts, date: '2026-11-21', model: 'b', grid_basis: 'combustion', missing: { energy_wh: 3 } },
    { ...row, ...amounts, model: 'sim', simulated: true, energy_wh: '1000000000', missing: {} },
  ],
  coverage: { modelled: { requests: 4, energy_wh: '4' }, excluded: 1, listed: { simulated: 2 } },
  excluded: [{ receipt_id: evil, version: 1, reason: evil }],
  methodologies: [{ name: evil, version: '1', hash: 'sha256:1' }],
  sources: [{ name: evil, version: null, licence: 'spdx:CC-BY-4.0', locator: 'javascript:alert(1)' }],
};
const found = {
  signature: 'trusted',
  signer: null,
  timestamp: null,
  mismatches: [],
  receipts: 6,
  recomputed: 0,
  routing: noRouting,
  log: { ...noLog, proven: 6 },
  excluded: [],
  about: { account: evil, selection: evil, isFiltered: false, isOfAll: true },
} as const;

test('no text of a pack becomes markup, and the page fetches and runs nothing', () => {
  const page = evidencePage(head, {
    ...found,
    mismatches: [{ receipt: evil, field: evil, expected: evil, found: evil }],
  });
  expect(page).not.toMatch(/<script|<img|<link|<iframe|href=/);
  expect(page).toContain("default-src 'none'");
  expect(page.match(/<title>/g)?.length).toBeGreaterThan(1);
});

test('it says first what its checking has found', () => {
  expect(evidencePage(head, found)).toContain('class="good"');
  const mismatch = { receipt: null, field: 'head', expected: 'a', found: 'b' };
  for (const bad of [
    { ...found, mismatches: [mismatch] },
    { ...found, signature: 'unauthenticated' as const },
    { ...found, log: { ...found.log, late: ['urn:gw:receipt:a:1'] } },
  ])
    expect(evidencePage(head, bad)).toContain('class="bad"');
  expect(evidencePage(head, { ...found, mismatches: [mismatch], untold: 5 })).toContain('6 things in it do not hold');
});

test('charts have real calls, and carbon of one basis of the grid, apart from others, with their bounds', () => {
  const page = evidencePage(head, found);
  const [, calls = '', simulated = ''] = page.split(/<h2>Energy: /);
  expect(calls).toContain('4 Wh, between 2 and 8');
  expect(calls).not.toContain('>sim<');
  expect(simulated).toContain('>sim<');
  expect(page).toContain('Carbon: Calls, grid counted as lifecycle');
  expect(page).toContain('Carbon: Calls, grid counted as combustion');
  expect(page).toContain('Of 3 calls the energy is unknown');
});
