/** A small OpenID Connect provider on a socket: answers each login with the claims that the test wants. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The subject of the next login, and further claims of the ID token. */
  claims: Record<string, unknown>;
  /** Signs with a key that nobody has published. */
  forge: boolean;
  /** Does the provider's part with the browser: returns the query of the callback. */
  authorize(url: string): string;
  stop(): Promise<void>;
}

interface Grant {
  readonly nonce: string;
  readonly challenge: string;
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export async function startTestProvider(): Promise<TestProvider> {
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const grants = new Map<string, Grant>();
  const [clientId, clientSecret] = ['gw-operators', 'a secret of the tests'];

  const idToken = (nonce: string): string => {
    const nowS = Math.floor(Date.now() / 1000);
    const all = { iss: provider.issuer, aud: clientId, iat: nowS, exp: nowS + 60, nonce, ...provider.claims };
    const text = `${base64({ alg: 'RS256', kid: 'k1' })}.${base64(all)}`;
    const { privateKey } = provider.forge ? foreign : own;
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
  };

  /** Null: refused. */
  const redeem = (form: URLSearchParams): object | null => {
    const code = form.get('code') ?? '';
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant === undefined || grant.challenge !== challenge || form.get('client_secret') !== clientSecret) return null;
    return { access_token: 'x', token_type: 'bearer', id_token: idToken(grant.nonce) };
  };

  const answer = async (request: IncomingMessage): Promise<object | null> => {
    const { issuer } = provider;
    if (request.url === '/.well-known/openid-configuration')
      return {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256'],
      };
    if (request.url === '/jwks')
      return { keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' }] };
    let body = '';
    for await (const chunk of request) body += chunk;
    return redeem(new URLSearchParams(body));
  };

  const server = createServer((request, response) => {
    void answer(request).then((reply) => {
      response.writeHead(reply === null ? 400 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(reply ?? { error: 'invalid_grant' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const provider: TestProvider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clientId,
    clientSecret,
    claims: {},
    forge: false,
    authorize: (url) => {
      const asked = new URL(url).searchParams;
      const code = randomBytes(16).toString('hex');
      grants.set(code, { nonce: asked.get('nonce') ?? '', challenge: asked.get('code_challenge') ?? '' });
      return `?${new URLSearchParams({ code, state: asked.get('state') ?? '' })}`;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return provider;
}
