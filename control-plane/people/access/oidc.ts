/**
 * Login with an identity provider (OpenID Connect, authorization code with PKCE).
 *
 * Invariant: what comes back is believed only with the state, nonce and verifier of the very browser that began, in an
 * ID token that the provider has signed. Also what the provider names itself (where tokens and keys are) is asked by the guard alone.
 */
import { isConfidentialUrl } from '@gw/contract/internal/loopback';
import type { AddressGuard } from '@gw/service/address-guard';
import { guardedRequest } from '@gw/service/guarded-request';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import type { OidcSettings } from './config.ts';

/** Where the identity provider sends the browser back to. */
export const callbackPath = '/session/oidc/callback';
const timeoutS = 5;
/** How long a provider that did not answer is left alone. */
const pauseMs = 5000;

/** The state that the browser keeps between leaving and coming back. */
export const flowSchema = z.object({ state: z.string(), nonce: z.string(), verifier: z.string() });
export type OidcFlow = z.infer<typeof flowSchema>;

/** Who logged in, by the word of the provider. */
export interface OidcIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** In small letters; null if the provider does not say that it is verified. */
  readonly email: string | null;
}

export interface Oidc {
  /** Returns where to send the browser, and what it has to bring back. Throws if the provider does not answer. */
  begin(): Promise<{ readonly url: string; readonly flow: OidcFlow }>;
  /** `query` is that of the callback, unchanged, with its question mark. Throws if anything does not match the flow. */
  finish(query: string, flow: OidcFlow): Promise<OidcIdentity>;
}

/** Asks the provider for its configuration only when it is first needed. Requests to it time out after 5 s. */
export function openOidc(
  settings: OidcSettings,
  controlUrl: string,
  { guard, now }: Pick<Context, 'guard' | 'now'>,
): Oidc {
  const callback = `${controlUrl}${callbackPath}`;
  let known: Promise<Configuration> | null = null;
  /** When a provider that did not answer is asked again, ms. */
  let askedAgainAt = 0;
  // Asked when it is first needed, and kept. A failure is kept for some seconds, so that however many ask, the provider is
  // asked seldom, and nobody has to be slowed down for it.
  const configuration = (): Promise<Configuration> => {
    if (askedAgainAt > 0 && now().getTime() >= askedAgainAt) {
      known = null;
      askedAgainAt = 0;
    }
    known ??= discover(settings, guard).catch((error: unknown) => {
      askedAgainAt = now().getTime() + pauseMs;
      throw error;
    });
    return known;
  };
  return {
    begin: async () => {
      const flow = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
      const url = buildAuthorizationUrl(await configuration(), {
        redirect_uri: callback,
        scope: 'openid email',
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, flow };
    },
    finish: async (query, { nonce, state, verifier }) => {
      const tokens = await authorizationCodeGrant(await configuration(), new URL(`${callback}${query}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('The identity provider sent no ID token.');
      const verified = claims.email_verified === true && typeof claims.email === 'string';
      return { issuer: claims.iss, subject: claims.sub, email: verified ? String(claims.email).toLowerCase() : null };
    },
  };
}

function discover({ clientId, clientSecret, issuer }: OidcSettings, guard: AddressGuard): Promise<Configuration> {
  const url = new URL(issuer);
  // The settings allow plain HTTP on loopback alone.
  const execute = url.protocol === 'http:' ? [allowInsecureRequests] : [];
  return discovery(url, clientId, clientSecret, undefined, {
    timeout: timeoutS,
    [customFetch]: fetchThrough(guard),
    execute: [...execute, enableNonRepudiationChecks],
  });
}

const maxBytes = 1024 * 1024;

/** As the library asks, by the guard. Throws where nothing came back. */
const fetchThrough =
  (guard: AddressGuard): CustomFetch =>
  async (url, { body, headers, method }) => {
    // With an issuer on loopback the library would ask over plain HTTP wherever its endpoints are.
    if (!isConfidentialUrl(url)) throw new Error('The identity provider names an address that is not https.');
    const reply = await guardedRequest(guard, {
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers,
      timeoutMs: timeoutS * 1000,
      maxBytes,
      ...(body == null ? {} : { body: String(body) }),
    });
    if (!reply.ok) throw new Error(`The identity provider could not be asked: ${reply.error.text}.`);
    const given = Object.entries(reply.value.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    );
    return new Response(reply.value.body || null, { status: reply.value.status, headers: given });
  };
