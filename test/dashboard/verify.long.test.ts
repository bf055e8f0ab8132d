/** Packs of more than 32 MiB in the browser, which reads them in parts. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';
import { openBrowser } from './browser.ts';
import { type EvidencePage, openEvidencePage } from './evidence-page.ts';
import { madeBy, madePacks } from './made-packs.ts';

const account = 'acct_demo_audit_plus';
const receipts = 10_500;

describe.skipIf(chromium === null)(`long packs in the dashboard${howToGetChromium}`, () => {
  let gateway: OwnGateway;
  let browser: Browser;
  let evidence: EvidencePage;
  let dir: string;
  const file = (name: string) => join(dir, `${name}.jsonld`);
  beforeAll(async () => {
    gateway = await startOwnGateway();
    browser = await openBrowser();
    evidence = await openEvidencePage(browser, gateway.stack, account);
    dir = mkdtempSync(join(gateway.dir, 'packs-'));
    const { first, next } = await madePacks(account, { receipts, model: 'sim-small' });
    const altered = first.replace('-000000000800"', '-000000000801"');
    for (const [name, text] of Object.entries({ first, next, altered })) writeFileSync(file(name), text);
    expect(statSync(file('first')).size).toBeGreaterThan(32 * 1024 * 1024);
  });
  afterAll(async () => {
    await evidence?.close();
    await browser?.close();
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
    await gateway?.stop();
  });

  // They take about 10 s each on a machine that has nothing else to do.
  const saysAtLast = (text: string) => evidence.says(text, 120_000);

  test('one is read in parts, and holds', async () => {
    await evidence.verifyFile(file('first'), { thumbprint: madeBy });
    await saysAtLast('The pack holds');
    await evidence.says('Versions of receipts: 10,500');
    await evidence.says('Proven to be in the log: 10,500; not in it yet: 0');
    await evidence.closeWindow();
  });

  test('it does not hold if one of its receipts is another one, which is named', async () => {
    await evidence.verifyFile(file('altered'), { thumbprint: madeBy });
    await saysAtLast('The pack does not hold');
    await evidence.says('the entry 800 of the log');
    await evidence.closeWindow();
  });

  test('the next one goes on from it', async () => {
    await evidence.verifyFile(file('next'), { earlier: file('first'), thumbprint: madeBy });
    await saysAtLast('The pack holds');
    await evidence.says('Proven to be in the log: 3; not in it yet: 0');
    await evidence.closeWindow();
  });
});
