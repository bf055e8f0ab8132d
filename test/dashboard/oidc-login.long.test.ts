/**
 * People in front of a real browser log in with an identity provider that nobody here wrote (`oidc-provider-mock` of PyPI): operators with
 * theirs, the admins of a customer with that of their organisation; and whoever does not get in reads why.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inCheckout } from '@gw/stack/checkout';
import { type Child, startChild } from '@gw/stack/child';
import { pythonWith } from '@gw/stack/environments';
import { freePorts } from '@gw/stack/ports';
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { eventually, type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';
import { openBrowser, openPerson, type Person } from './browser.ts';

const account = 'acct_demo_audit';

describe.skipIf(chromium === null)(`logins with identity providers${howToGetChromium}`, () => {
  let gateway: OwnGateway;
  let browser: Browser;
  let person: Person;
  const children: Child[] = [];
  /** The providers of the operators and of the customer. */
  let [ours, theirs] = ['', ''];

  beforeAll(async () => {
    const requirements = inCheckout('test', 'dashboard', 'oidc-provider', 'requirements.txt');
    const python = await pythonWith('oidc-provider', requirements, (line) => void process.stderr.write(`${line}\n`));
    const ports = await freePorts(2);
    [ours = '', theirs = ''] = ports.map((port) => `http://127.0.0.1:${port}`);
    gateway = await startOwnGateway({
      env: {
        'control-plane': {
          GW_OIDC_ISSUER: ours,
          GW_OIDC_CLIENT_ID: 'gw',
          GW_OIDC_CLIENT_SECRET: 'secret of the tests',
        },
      },
    });
    for (const port of ports) {
      const logFile = join(gateway.dir, 'logs', `oidc-provider-${port}.log`);
      const command = join(dirname(python), 'oidc-provider-mock');
      const env = { PATH: process.env.PATH, HOME: gateway.dir, LANG: 'C.UTF-8' };
      children.push(
        await startChild({
          command,
          args: ['--port', String(port), '--require-nonce'],
          logFile,
          cwd: gateway.dir,
          env,
        }),
      );
    }
    const answers = async (url: string) => (await fetch(`${url}/.well-known/openid-configuration`)).ok;
    for (const url of [ours, theirs])
      await eventually(`${url} to answer`, () => answers(url).catch(() => false), 60_000);
    const api = apiOf(gateway.stack);
    await api.send('POST', '/operator/v1/operators', { name: 'Ada', email: 'ada@ops.example', role: 'viewer' });
    const admins = `/operator/v1/accounts/${account}/admins`;
    await api.send('POST', admins, { name: 'Lin', email: 'lin@customer.example' });
    const issuer = `/operator/v1/accounts/${account}/issuer`;
    const client = { client_id: 'gw', client_secret: 'another secret of the tests' };
    await api.send('PUT', issuer, { issuer: theirs, ...client, domain: 'customer.example' });
    await api.send('POST', `${issuer}/verify`, { reason: 'a test' });
    await knows(ours, 'ada', { email: 'ada@ops.example', email_verified: true });
    await knows(ours, 'ada without a word', { email: 'ada@ops.example' });
    await knows(ours, 'eve', { email: 'eve@ops.example', email_verified: true });
    await knows(theirs, 'lin', { email: 'lin@customer.example', email_verified: true });
    await knows(theirs, 'the operator', { email: 'ada@ops.example', email_verified: true });
    browser = await openBrowser();
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    await Promise.all(children.map((child) => child.stop()));
    await gateway?.stop();
  });
  beforeEach(async () => {
    person = await openPerson(browser, gateway.stack.controlUrl);
    await person.page.goto(`${gateway.stack.controlUrl}/dashboard/`);
    return () => person.close();
  });

  async function knows(provider: string, subject: string, claims: object): Promise<void> {
    const body = JSON.stringify(claims);
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${provider}/users/${encodeURIComponent(subject)}`, { method: 'PUT', headers, body });
    expect(reply.status).toBe(204);
  }

  async function beginAsOperator(): Promise<void> {
    await person.page.getByText('Operator', { exact: true }).click();
    await person.page.getByRole('link', { name: 'Log in with the identity provider' }).click();
  }
  async function beginAsCustomer(email: string): Promise<void> {
    await person.page.getByLabel('E-mail').fill(email);
    await person.page.getByRole('button', { name: 'Log in with your organisation' }).click();
  }
  async function authorize(subject: string): Promise<void> {
    await person.page.getByPlaceholder('sub').fill(subject);
    await person.page.getByRole('button', { name: 'Authorize' }).click();
  }
  async function reads(reason: string, kind: 'operator' | 'organisation_admin', text: RegExp): Promise<void> {
    const alert = person.page.getByRole('alert');
    await alert.getByText(text).waitFor();
    expect(new URL(person.page.url()).search).toBe('');
    const metrics = await (await fetch(`${gateway.stack.controlUrl}/metrics`)).text();
    expect(metrics).toMatch(new RegExp(`^gw_oidc_logins_total{kind="${kind}",outcome="${reason}",.* [1-9]`, 'm'));
    const log = readFileSync(join(gateway.dir, 'logs', 'control-plane.log'), 'utf8');
    expect(log).toMatch(new RegExp(`"reason":"${reason}".*a login with an identity provider failed`));
    expect(log).not.toMatch(/secret of the tests/);
  }

  test('an operator gets in by a verified e-mail', async () => {
    await person.page.getByRole('button', { name: 'Log in with your organisation' }).waitFor();
    await person.look('login-of-customers');
    await person.page.getByText('Operator', { exact: true }).click();
    await person.look('login-of-operators');
    await beginAsOperator();
    await authorize('ada');
    await person.page.getByRole('heading', { name: 'Fleet' }).waitFor();
  });

  test('an e-mail that is not called verified lets nobody in, and the page says so once', async () => {
    await beginAsOperator();
    await authorize('ada without a word');
    await reads('not_verified', 'operator', /does not report your e-mail address as verified/);
    await person.look('login-failed');
    await person.page.reload();
    await person.page.getByLabel('E-mail').waitFor();
    expect(await person.page.getByRole('alert').count()).toBe(0);
  });

  test('who is not known here reads it, and so does who gives up at the provider', async () => {
    await beginAsOperator();
    await authorize('eve');
    await reads('unknown_person', 'operator', /You have no login here yet/);
    await person.page.getByRole('link', { name: 'Log in with the identity provider' }).click();
    await person.page.getByRole('button', { name: 'Deny' }).click();
    await reads('denied', 'operator', /denied or cancelled/);
  });

  test('an admin of a customer gets in with the provider of the organisation, and an operator by it does not', async () => {
    await beginAsCustomer('lin@customer.example');
    await person.page.waitForURL(`${theirs}/**`);
    await authorize('the operator');
    await reads('wrong_domain', 'organisation_admin', /does not belong to the domain/);
    await beginAsCustomer('lin@customer.example');
    await authorize('lin');
    await person.page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  test('a domain without a provider is told', async () => {
    await beginAsCustomer('lin@nowhere.example');
    await reads('no_provider', 'organisation_admin', /No identity provider is set up/);
  });
});
