/** A small OpenID Connect provider on a socket: answers each login with the claims that the test wants. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The subject of the next login, and further claims of the ID token. */
  claims: Record<string, unknown>;
  /** The userinfo endpoint tells this beside the subject; null: there is no such endpoint. */
  userinfo: Record<string, unknown> | null;
  /** How a client may send its secret. */
  authMethods: readonly ('client_secret_basic' | 'client_secret_post')[];
  /** Signs with a key that nobody has published. */
  forge: boolean;
  /** Signs with a new key, and publishes that one alone. */
  rotate(): void;
  /** Does the provider's part with the browser: returns the query of the callback. */
  authorize(url: string): string;
  stop(): Promise<void>;
}

const keyPairs: ReturnType<typeof makeKeyPair>[] = [];
const makeKeyPair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
/** Made once each, since making takes long; nobody publishes that of 0. */
const keyPair = (kid: number) => {
  keyPairs[kid] ??= makeKeyPair();
  return keyPairs[kid];
};

interface Grant {
  readonly nonce: string;
  readonly challenge: string;
}

const basicOf = (header: string): [string | undefined, string | undefined] => {
  const [id, secret] = Buffer.from(header.slice('Basic '.length), 'base64')
    .toString()
    .split(':')
    .map(decodeURIComponent);
  // As a form has them.
  return [id, secret?.replaceAll('+', ' ')];
};

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export async function startTestProvider(): Promise<TestProvider> {
  let kid = 1;
  const grants = new Map<string, Grant>();
  const [clientId, clientSecret] = ['gw-operators', 'a secret of the tests'];

  const idToken = (nonce: string): string => {
    const nowS = Math.floor(Date.now() / 1000);
    const all = { iss: provider.issuer, aud: clientId, iat: nowS, exp: nowS + 60, nonce, ...provider.claims };
    const text = `${base64({ alg: 'RS256', kid: `k${kid}` })}.${base64(all)}`;
    const { privateKey } = keyPair(provider.forge ? 0 : kid);
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
  };

  const isClient = (form: URLSearchParams, { authorization }: IncomingHttpHeaders): boolean => {
    const [method, id, secret] =
      authorization === undefined
        ? (['client_secret_post', form.get('client_id'), form.get('client_secret')] as const)
        : (['client_secret_basic', ...basicOf(authorization)] as const);
    return provider.authMethods.includes(method) && id === clientId && secret === clientSecret;
  };

  const redeem = (form: URLSearchParams, headers: IncomingHttpHeaders): object => {
    if (!isClient(form, headers)) return { error: 'invalid_client' };
    const code = form.get('code') ?? '';
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant === undefined || grant.challenge !== challenge) return { error: 'invalid_grant' };
    return { access_token: 'x', token_type: 'bearer', id_token: idToken(grant.nonce) };
  };

  const answer = async (request: IncomingMessage): Promise<object> => {
    const { authMethods, issuer, userinfo } = provider;
    if (request.url === '/.well-known/openid-configuration')
      return {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        token_endpoint_auth_methods_supported: authMethods,
        ...(userinfo && { userinfo_endpoint: `${issuer}/userinfo` }),
        id_token_signing_alg_values_supported: ['RS256'],
      };
    if (request.url === '/jwks')
      return {
        keys: [{ ...keyPair(kid).publicKey.export({ format: 'jwk' }), kid: `k${kid}`, alg: 'RS256', use: 'sig' }],
      };
    if (request.url === '/userinfo') return { sub: provider.claims.sub, ...userinfo };
    let body = '';
    for await (const chunk of request) body += chunk;
    return redeem(new URLSearchParams(body), request.headers);
  };

  const server = createServer((request, response) => {
    void answer(request).then((reply) => {
      response.writeHead('error' in reply ? 400 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(reply));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const provider: TestProvider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clientId,
    clientSecret,
    claims: {},
    userinfo: null,
    authMethods: ['client_secret_basic', 'client_secret_post'],
    forge: false,
    rotate: () => {
      kid += 1;
    },
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
