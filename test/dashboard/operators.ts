/** Operators in front of the dashboard: made for one file of tests, and disabled at its end. */
import { expect } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { stack } from '../shared-stack.ts';
import { openBrowser, openPerson, type Person } from './browser.ts';

interface Login {
  readonly id: string;
  readonly credential: string;
}

export interface Operators {
  /** A new operator of this role in front of the first page. */
  logIn(role: 'viewer' | 'support' | 'admin'): Promise<Person>;
  /** Throws if a browser had something to complain about but what was `expected`, such as the status of a refused form. */
  close(expected?: RegExp): Promise<void>;
}

/** Opens a browser for people of this name. `of` tells their e-mail addresses from those of other files. */
export async function openOperators(name: string, of: string): Promise<Operators> {
  const browser = await openBrowser();
  const logins: Login[] = [];
  const people: Person[] = [];
  return {
    logIn: async (role) => {
      const email = `${role}-of-${of}@ops.example`;
      const made = (await apiOf(stack).send('POST', '/operator/v1/operators', { name, email, role })) as Login;
      logins.push(made);
      const person = await openPerson(browser, stack.controlUrl);
      people.push(person);
      const { page } = person;
      await page.goto(`${stack.controlUrl}/dashboard/`);
      await page.getByText('Operator', { exact: true }).click();
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel(/^Credential/).fill(made.credential);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { name: 'Fleet' }).waitFor();
      return person;
    },
    close: async (expected) => {
      await browser.close();
      for (const { id } of logins) await apiOf(stack).send('POST', `/operator/v1/operators/${id}/disable`);
      const complaints = people.flatMap((person) => person.complaints).filter((text) => !expected?.test(text));
      expect([...complaints, ...people.flatMap(({ elsewhere }) => elsewhere)]).toEqual([]);
    },
  };
}

/** Uses the menu, as a person does. */
export async function go({ page }: Person, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}
