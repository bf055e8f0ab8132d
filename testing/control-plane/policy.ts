/** Rules of the tests, and people who look after them. */
import type { PolicyRule } from '@gw/contract/internal/policy-rules';
import { openFirstVersion } from '@gw/control-plane/internals/catalogue/policy/first-version';
import { readAudit } from '@gw/control-plane/internals/people/audit/read';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll } from 'vitest';
import { seedOperators, withToken } from './access.ts';
import { startTestApp, type TestApp } from './app.ts';
import { silentLog } from './fixtures.ts';

let running: TestApp;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
export const testApp = (): TestApp => running;
export const clock = new Date('2026-11-21T09:00:00.000Z');
export const as = (role: keyof typeof tokens, app: FastifyInstance = running.operator) => withToken(app, tokens[role]);
export const tokenOf = (role: keyof typeof tokens): string => tokens[role];
export const at = (rest = '') => `/operator/v1/policy${rest}`;
export const newestEntry = async (chain = 'operators') =>
  (await readAudit(running.context.db, chain, { order: 'desc', limit: 1 }))[0];
export const inForce = async () => (await as('support')('GET', at())).json();
export const account = 'acct_demo_audit';

/** Stores of its own for a file, with the first version in them. */
export function useTestApp(): void {
  beforeAll(async () => {
    running = await startTestApp(() => clock);
    tokens = await seedOperators(running.context);
    await openFirstVersion({ ...running.context, log: silentLog })();
  }, 120_000);
  afterAll(() => running?.stop());
}

export const phrases = (id: string, ...list: string[]): PolicyRule => ({
  id,
  title: `The rule ${id}`,
  screen: 'acceptable_use',
  action: 'block',
  enabled: true,
  kind: 'phrases',
  phrases: list,
});

export const pattern = (id: string, text: string, ...needs: string[]): PolicyRule => ({
  id,
  title: `The rule ${id}`,
  screen: 'dual_use',
  action: 'flag',
  enabled: true,
  kind: 'pattern',
  pattern: text,
  needs,
});

/** Publishes as an admin, on top of the rules in force. */
export async function publish(rules: readonly PolicyRule[], changes: object = {}) {
  const { version } = await inForce();
  return as('admin')('POST', at('/versions'), { based_on: version, note: 'a test', rules, ...changes });
}
