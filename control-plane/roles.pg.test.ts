/** Whoever tries every route of the operators' port gets no further than the document says. */
import { Browser, type Method, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp } from '@gw/testing/control-plane/app';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, expect, test } from 'vitest';

type Access = {
  readonly kind: 'person' | 'operator' | 'organisation_admin';
  readonly role?: 'viewer' | 'support' | 'admin';
};
interface Operation {
  readonly method: Method;
  readonly url: string;
  readonly access: Access;
}

const running = forFile(startTestApp);
let operations: Operation[];
let tokens: Awaited<ReturnType<typeof seedOperators>>;
beforeAll(async () => {
  tokens = await seedOperators(running.context);
  const { paths } = (await running.operator.inject('/openapi.json')).json();
  operations = Object.entries<Record<string, { 'x-access'?: Access }>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { 'x-access': access }]) =>
      access === undefined
        ? []
        : [{ method: method.toUpperCase() as Method, url: path.replace(/\{\w+\}/g, 'none'), access }],
    ),
  );
});

const isChange = ({ method }: Operation): boolean => method !== 'GET';

test('what is of operators or of an organisation is for them alone, as its path says', () => {
  const kinds = operations.map(({ access, url }) => [/^\/(operator|organisation)\/v1\//.exec(url)?.[1], access.kind]);
  expect(new Set(kinds.map(String))).toEqual(
    new Set([',person', 'operator,operator', 'organisation,organisation_admin']),
  );
});

test('a viewer makes no change, and sees nothing of an organisation', async () => {
  const forbidden = operations.filter(
    ({ access }) => access.kind === 'organisation_admin' || (access.kind === 'operator' && access.role !== 'viewer'),
  );
  expect(forbidden.filter(isChange).length).toBeGreaterThan(60);
  const ask = withToken(running.operator, tokens.viewer);
  for (const { method, url } of forbidden) {
    const reply = await ask(method, url, isChange({ method } as Operation) ? {} : undefined);
    expect([reply.statusCode, reply.json().error.code], `${method} ${url}`).toEqual([403, 'insufficient_scope']);
  }
});

test('an admin of an organisation reaches no route of operators', async () => {
  const path = '/operator/v1/accounts/acct_demo_audit/admins';
  const made = await withToken(running.operator, tokens.admin)('POST', path, { name: 'Lin', email: 'lin@c.example' });
  const browser = new Browser(running.operator);
  await browser.logIn('lin@c.example', made.json().credential, 'organisation_admin');
  const forbidden = operations.filter(({ access }) => access.kind === 'operator');
  expect(forbidden.length).toBeGreaterThan(80);
  for (const { method, url } of forbidden) {
    const reply = await browser.call(method, url, isChange({ method } as Operation) ? {} : undefined);
    expect([reply.statusCode, reply.json().error.code], `${method} ${url}`).toEqual([403, 'insufficient_scope']);
  }
});

test('nobody reaches anything but the login, the health and the document', async () => {
  for (const { method, url } of operations) {
    const reply = await running.operator.inject({ method, url });
    expect(reply.statusCode, `${method} ${url}`).toBe(401);
  }
});
