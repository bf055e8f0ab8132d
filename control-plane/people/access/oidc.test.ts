/** Where the identity provider is asked and where it is not, and what of its answers is believed. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Result } from '@gw/contract/internal/result';
import { openAddressGuard } from '@gw/service/address-guard';
import { startTestProvider, type TestProvider } from '@gw/testing/control-plane/identity-provider';
import { providerTokens } from '@gw/testing/control-plane/provider-tokens';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Oidc, type OidcSettings, openOidc } from './oidc.ts';
import type { OidcFailure } from './oidc-failure.ts';

const callback = 'http://127.0.0.1:1/session/oidc/callback';
let clock = new Date('2026-11-21T09:00:00.000Z');
const asked: string[] = [];
async function listening(answer: RequestListener): Promise<number> {
  asked.length = 0;
  const server = createServer((request, reply) => {
    asked.push(request.url ?? '');
    answer(request, reply);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
const known = (issuer: string, token_endpoint: string): RequestListener => {
  const names = { issuer, token_endpoint, authorization_endpoint: `${issuer}/authorize`, jwks_uri: `${issuer}/jwks` };
  return (_, reply) => reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(names));
};
const open = (issuer: string, guard = openAddressGuard()) =>
  openOidc({ issuer, clientId: 'gw', clientSecret: 's', claim: 'email', domain: null }, callback, {
    guard,
    now: () => clock,
  });

const failureOf = async (failing: Promise<Result<unknown, OidcFailure>>): Promise<OidcFailure> => {
  const outcome = await failing;
  if (outcome.ok) throw new Error('It did not fail.');
  return outcome.error;
};
const begun = async (oidc: Oidc) => {
  const outcome = await oidc.begin();
  if (!outcome.ok) throw new Error(outcome.error.detail);
  return outcome.value;
};
const inside = [{ address: '169.254.169.254', family: 4 }];

test('an issuer whose name leads to where nobody is asked, or to ourselves, is not asked', async () => {
  const port = await listening((_, reply) => reply.end('{}'));
  const issuer = `http://localhost:${port}`;
  const own = openAddressGuard([{ what: 'port', host: '127.0.0.1', port }]);
  for (const guard of [openAddressGuard([], async () => inside), own])
    expect(await failureOf(open(issuer, guard).begin())).toEqual({
      reason: 'provider_away',
      detail: expect.stringContaining('its address is not allowed'),
    });
  expect(asked).toEqual([]);
});

test('a redirect is not followed', async () => {
  const port = await listening((request, reply) => {
    const issuer = `http://127.0.0.1:${port}`;
    if (request.url === '/elsewhere') known(issuer, `${issuer}/token`)(request, reply);
    else reply.writeHead(302, { location: '/elsewhere' }).end();
  });
  expect((await failureOf(open(`http://127.0.0.1:${port}`).begin())).reason).toBe('provider_away');
  expect(asked).toEqual(['/.well-known/openid-configuration']);
});

test.each([
  ['https://169.254.169.254/token', 'its address is not allowed'],
  ['https://rebound.example/token', 'its address is not allowed'],
  ['http://metadata.example/token', 'an address that is not https'],
])('the client secret does not go to %s, whatever the provider says', async (tokens, message) => {
  const port: number = await listening((request, reply) => known(`http://127.0.0.1:${port}`, tokens)(request, reply));
  const oidc = open(
    `http://127.0.0.1:${port}`,
    openAddressGuard([], async () => inside),
  );
  const { flow } = await begun(oidc);
  expect((await failureOf(oidc.finish(`?code=c&state=${flow.state}`, flow))).detail).toContain(message);
  expect(asked).toEqual(['/.well-known/openid-configuration']);
});

describe('with a provider', () => {
  let provider: TestProvider;
  beforeEach(async () => {
    provider = await startTestProvider();
    return () => provider.stop();
  });
  const at = (settings: Partial<OidcSettings> = {}): Oidc =>
    openOidc(
      {
        issuer: provider.issuer,
        clientId: provider.clientId,
        clientSecret: provider.clientSecret,
        claim: 'email',
        domain: null,
        ...settings,
      },
      callback,
      { guard: openAddressGuard(), now: () => clock },
    );
  const logIn = async (oidc: Oidc) => {
    const { flow, url } = await begun(oidc);
    return oidc.finish(provider.authorize(url), flow);
  };
  /** Whom it names, or the reason why nobody. */
  const outcomeOf = async (oidc: Oidc): Promise<unknown> => {
    const outcome = await logIn(oidc);
    if (!outcome.ok) return outcome.error.reason;
    const { name, subject } = outcome.value;
    return [subject, name.ok ? name.value : name.error.reason];
  };
  const send = (claims: Record<string, unknown>) => {
    const { aud: _aud, azp: _azp, iss: _iss, ...rest } = claims;
    provider.claims = rest;
  };
  const { sub } = providerTokens.okta.claims;
  const ada = [sub, 'ada@ops.example'];

  test.each([
    ['entra', 'oid', [providerTokens.entra.claims.oid, 'unknown_person']],
    ['entra', 'preferred_username', [providerTokens.entra.claims.sub, 'ada@ops.example']],
    ['entra', 'email', [providerTokens.entra.claims.sub, 'not_verified']],
    ['okta', 'email', ada],
    ['keycloak', 'email', [providerTokens.keycloak.claims.sub, 'ada@ops.example']],
    ['googleWorkspace', 'email', [providerTokens.googleWorkspace.claims.sub, 'ada@ops.example']],
  ] as const)('a login of %s by %s', async (shape, claim, expected) => {
    send(providerTokens[shape].claims);
    expect(await outcomeOf(at({ claim }))).toEqual(expected);
  });

  test('what a thin token leaves out is asked at the userinfo endpoint, for its own subject alone', async () => {
    send(providerTokens.oktaThin.claims);
    expect(await outcomeOf(at())).toEqual([sub, 'claim_missing']);
    provider.userinfo = { email: 'ada@ops.example', email_verified: true };
    expect(await outcomeOf(at())).toEqual(ada);
    provider.userinfo = { email: 'ada@ops.example' };
    expect(await outcomeOf(at())).toEqual([sub, 'not_verified']);
    provider.userinfo = { sub: 'somebody else', email: 'ada@ops.example', email_verified: true };
    expect(await outcomeOf(at())).toBe('token_invalid');
  });

  test.each([
    [{ aud: ['gw-operators', 'other'] }, 'token_invalid'],
    [{ aud: ['gw-operators', 'other'], azp: 'other' }, 'token_invalid'],
    [{ aud: ['gw-operators', 'other'], azp: 'gw-operators' }, ada],
    [{ aud: 'other', azp: 'gw-operators' }, 'token_invalid'],
    [{ iss: 'https://login.microsoftonline.com/{tenantid}/v2.0' }, 'token_invalid'],
    [{ nonce: undefined }, 'token_invalid'],
    [{ sub: undefined }, 'token_invalid'],
  ])('a token with %j', async (claims, expected) => {
    provider.claims = { sub, email: 'ada@ops.example', email_verified: true, ...claims };
    expect(await outcomeOf(at())).toEqual(expected);
  });

  test.each([
    [-50, ada],
    [-90, 'clock'],
  ])('a token that has ended %i s ago by the clock of this host', async (s, expected) => {
    const exp = Math.floor(Date.now() / 1000) + s;
    provider.claims = { sub, email: 'ada@ops.example', email_verified: true, exp };
    expect(await outcomeOf(at())).toEqual(expected);
    provider.claims = { sub, email: 'ada@ops.example', email_verified: true, nbf: Math.floor(Date.now() / 1000) - s };
    expect(await outcomeOf(at())).toEqual(expected);
  });

  test('keys that have turned over at the provider are read again within seconds', async () => {
    const oidc = at();
    send(providerTokens.okta.claims);
    expect(await outcomeOf(oidc)).toEqual(ada);
    provider.rotate();
    expect(await outcomeOf(oidc)).toBe('token_invalid');
    clock = new Date(clock.getTime() + 5000);
    expect(await outcomeOf(oidc)).toEqual(ada);
  });

  test.each([[['client_secret_basic']], [['client_secret_post']]] as const)(
    'a provider that takes the secret by %j gets it so',
    async (methods) => {
      provider.authMethods = methods;
      send(providerTokens.okta.claims);
      expect(await outcomeOf(at())).toEqual(ada);
      expect(await outcomeOf(at({ clientSecret: 'another' }))).toBe('client_refused');
    },
  );

  test('what the provider says against a login is told by its kind', async () => {
    const oidc = at();
    const answered = async (query: string) => {
      const { flow } = await begun(oidc);
      return failureOf(oidc.finish(`?${query}&state=${flow.state}`, flow));
    };
    expect(await answered('error=access_denied&error_description=secret')).toEqual({
      reason: 'denied',
      detail: 'the provider answers access_denied',
    });
    const { flow } = await begun(oidc);
    expect((await failureOf(oidc.finish('?error=access_denied', flow))).reason).toBe('denied');
    expect((await answered('error=temporarily_unavailable')).reason).toBe('provider_error');
    expect((await answered('error=constructor')).reason).toBe('provider_error');
    expect(JSON.stringify(await answered('error=%3Cscript%3E'))).not.toContain('script');
    expect((await answered('code=unknown')).reason).toBe('expired');
    expect((await answered('state=other&code=x')).reason).toBe('expired');
  });

  test('an issuer that calls itself otherwise is told from one that is away', async () => {
    const { port } = new URL(provider.issuer);
    expect((await failureOf(at({ issuer: `http://localhost:${port}` }).begin())).reason).toBe('issuer_mismatch');
    await provider.stop();
    expect((await failureOf(at().begin())).reason).toBe('provider_away');
  });

  test('it is asked with PKCE, state and nonce, for the claim that is set, and for the domain', async () => {
    const asked = async (settings: Partial<OidcSettings>) =>
      Object.fromEntries(new URL((await begun(at(settings))).url).searchParams);
    expect(await asked({ domain: 'ops.example' })).toMatchObject({
      response_type: 'code',
      redirect_uri: callback,
      scope: 'openid email',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      hd: 'ops.example',
    });
    const scopes = await Promise.all(
      (['preferred_username', 'oid', 'sub'] as const).map(async (claim) => (await asked({ claim })).scope),
    );
    expect(scopes).toEqual(['openid profile', 'openid profile', 'openid']);
  });
});
