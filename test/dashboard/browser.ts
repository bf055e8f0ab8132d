/** A person in front of the dashboard: a real browser, and what it must never do. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { AxeBuilder } from '@axe-core/playwright';
import { chromium as command, quietFlags } from '@gw/testing/chromium';
import { type Browser, type BrowserContext, type ConsoleMessage, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

/** Nothing that a person writes may become a part of the page. */
export const hostile = '<img src=x onerror=alert(1)>';

export interface Person {
  readonly page: Page;
  /** The browser's complaints: errors of scripts, and violations of the content policy. */
  readonly complaints: readonly string[];
  /** Addresses that were asked beside the gateway. */
  readonly elsewhere: readonly string[];
  /** Bytes of scripts that were loaded, as gzip makes them. */
  scriptBytes(): number;
  /** Throws if axe finds something serious. A picture goes to `GW_SCREENSHOTS`, if that is set. */
  look(name: string): Promise<void>;
  /** The next change is one that somebody else has made meanwhile: its 409 is no complaint. */
  expectConflict(): void;
  close(): Promise<void>;
}

export async function openBrowser(): Promise<Browser> {
  if (command === null) throw new Error('There is no Chromium.');
  const executablePath = execFileSync('which', [command], { encoding: 'utf8' }).trim();
  return chromium.launch({ executablePath, args: quietFlags });
}

export async function openPerson(browser: Browser, url: string): Promise<Person> {
  const context = await browser.newContext({ acceptDownloads: true, viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  // Other tests may have the processors.
  page.setDefaultTimeout(40_000);
  const complaints: string[] = [];
  const elsewhere: string[] = [];
  let conflicts = 0;
  const scripts = new Map<string, number>();
  page.on('console', (message) => {
    if (message.type() !== 'error' || isExpected(message)) return;
    if (/status of 409/.test(message.text()) && conflicts > 0) conflicts -= 1;
    else complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`a script opened a window: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (/^https?:/.test(request.url()) && !request.url().startsWith(url)) elsewhere.push(request.url());
  });
  page.on('response', async (response) => {
    if (response.request().resourceType() !== 'script') return;
    // A page that was left meanwhile has no body.
    const body = await response.body().catch(() => null);
    if (body !== null) scripts.set(response.url(), gzipSync(body).byteLength);
  });
  return {
    page,
    complaints,
    elsewhere,
    scriptBytes: () => [...scripts.values()].reduce((all, bytes) => all + bytes, 0),
    look: (name) => look(page, name),
    expectConflict: () => {
      conflicts += 1;
    },
    close: () => close(context),
  };
}

/** A status that a page expects is no complaint: nobody is logged in yet, no webhook or issuer is set or there is no such account. */
function isExpected(message: ConsoleMessage): boolean {
  const [text, { url }] = [message.text(), message.location()];
  return (
    /status of 401/.test(text) || (/status of 404/.test(text) && /\/(budget-webhook|issuer|acct_nobody)$/.test(url))
  );
}

const close = (context: BrowserContext): Promise<void> => context.close();

const views = [
  { name: 'wide-light', width: 1280, colorScheme: 'light' },
  { name: 'narrow-dark', width: 360, colorScheme: 'dark' },
] as const;

async function look(page: Page, name: string): Promise<void> {
  // Without frames nothing is missed by an axe in the page itself; with a page of its own for each look it takes twice as long.
  expect(page.frames()).toHaveLength(1);
  for (const { colorScheme, name: view, width } of views) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.waitForTimeout(300);
    const { violations } = await new AxeBuilder({ page })
      .setLegacyMode()
      .options({ resultTypes: ['violations'] })
      .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
      .analyze();
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    const told = serious.map(({ help, id, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`);
    await takePicture(page, `${name}-${view}`);
    expect(told, `${name}, ${view}`).toEqual([]);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow, `${name} is wider than ${view}`).toBeLessThanOrEqual(0);
  }
  const [{ width }] = views;
  await page.setViewportSize({ width, height: 900 });
}

async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env.GW_SCREENSHOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
