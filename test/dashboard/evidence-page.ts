/** The page of evidence packs, with somebody of a customer in front of it who verifies packs. */

import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { apiOf, type OperatorPlace } from '../operator-api.ts';
import { openPerson } from './browser.ts';

const email = 'vera@customer.example';

/** A file as a browser is given it: where it lies, or what is in it. */
export type GivenFile = string | { readonly name: string; readonly mimeType: string; readonly buffer: Buffer };

export interface EvidencePage {
  readonly page: Page;
  look(name: string): Promise<void>;
  /** Opens the window, chooses a pack (and one that was kept), and verifies it by a key that is named, or else by those of the gateway. */
  verifyFile(pack: GivenFile, by?: { readonly earlier?: GivenFile; readonly thumbprint?: string }): Promise<void>;
  /** In the window that is open. */
  verify(): Promise<void>;
  says(text: string | RegExp, timeoutMs?: number): Promise<void>;
  closeWindow(): Promise<void>;
  /** Throws if the browser has complained. */
  close(): Promise<void>;
}

/** Logs a new admin of the account in. */
export async function openEvidencePage(browser: Browser, stack: OperatorPlace, account: string): Promise<EvidencePage> {
  const admin = { name: 'Vera', email };
  const { credential } = (await apiOf(stack).send('POST', `/operator/v1/accounts/${account}/admins`, admin)) as {
    readonly credential: string;
  };
  const person = await openPerson(browser, stack.controlUrl);
  const { page } = person;
  await page.goto(`${stack.controlUrl}/dashboard/evidence`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel(/^Credential/).fill(credential);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Evidence' }).waitFor();
  const inWindow = page.getByRole('dialog');
  const verify = () => inWindow.getByRole('button', { name: 'Verify', exact: true }).click();
  return {
    page,
    look: person.look,
    verify,
    verifyFile: async (pack, { earlier, thumbprint } = {}) => {
      await page.getByRole('button', { name: 'Verify a pack' }).click();
      const files = inWindow.locator('input[type=file]');
      await files.first().setInputFiles(pack);
      if (earlier !== undefined) await files.nth(1).setInputFiles(earlier);
      if (thumbprint !== undefined) await page.getByLabel(/^Thumbprint/).fill(thumbprint);
      await verify();
    },
    says: async (text, timeout = 40_000) => {
      const isThere = inWindow.getByText(text).first().waitFor({ timeout });
      await isThere.catch(async (cause: unknown) => {
        throw new Error(`The window says "${await inWindow.textContent()}".`, { cause });
      });
    },
    closeWindow: () => inWindow.getByRole('button', { name: 'Close' }).first().click(),
    close: async () => {
      await person.close();
      expect([...person.complaints, ...person.elsewhere]).toEqual([]);
    },
  };
}
