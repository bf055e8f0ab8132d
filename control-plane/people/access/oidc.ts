/**
 * Login with an identity provider (OpenID Connect, authorization code with PKCE).
 *
 * Invariant: what comes back is believed only with the state, nonce and verifier of the very browser that began, in an
 * ID token that the provider has signed. Also what the provider names itself (where tokens and keys are) is asked by the guard alone.
 */
import { minuteMs } from '@gw/contract/internal/durations';
import { errorText } from '@gw/contract/internal/error-text';
import { isConfidentialUrl } from '@gw/contract/internal/loopback';
import { ok, type Result } from '@gw/contract/internal/result';
import type { AddressGuard } from '@gw/service/address-guard';
import { guardedRequest } from '@gw/service/guarded-request';
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type IDToken,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { type OidcFailure, type OidcReason, oidcFailed } from './oidc-failure.ts';
import { issuerNameOf } from './oidc-issuer.ts';
import { type Claims, isToldIn, type OidcPerson, type PersonRule, personOf } from './oidc-person.ts';

/** An issuer, and the client that this gateway is there. */
export interface OidcSettings extends PersonRule {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const timeoutS = 5;
/** How far the clocks of the provider and of this host may differ. */
const toleranceS = 60;
/** How long a provider that did not answer is left alone. */
const pauseMs = 5000;
/** The provider's description of itself is read again after this time. */
const freshMs = 60 * minuteMs;

/** The state that the browser keeps between leaving and coming back. */
export const flowSchema = z.object({ state: z.string(), nonce: z.string(), verifier: z.string() });
export type OidcFlow = z.infer<typeof flowSchema>;

/** Who logged in, by the word of the provider. */
export interface OidcIdentity extends OidcPerson {
  /** As `issuerNameOf` writes it. */
  readonly issuer: string;
}

export interface Oidc {
  /** Returns where to send the browser, and what it has to bring back. */
  begin(): Promise<Result<{ readonly url: string; readonly flow: OidcFlow }, OidcFailure>>;
  /** `query` is that of the callback, unchanged, with its question mark. Refuses if anything does not match the flow. */
  finish(query: string, flow: OidcFlow): Promise<Result<OidcIdentity, OidcFailure>>;
}

/** Asks the provider for its configuration only when it is first needed. Requests to it time out after 5 s. */
export function openOidc(
  settings: OidcSettings,
  callback: string,
  { guard, now }: Pick<Context, 'guard' | 'now'>,
): Oidc {
  let known: Promise<Configuration> | null = null;
  let askedAgainAt = 0;
  const keepFor = (ms: number) => {
    askedAgainAt = now().getTime() + ms;
  };
  // A failure is kept too, for some seconds, so that however many ask, the provider is asked seldom, and nobody has to
  // be slowed down for it.
  const configuration = (): Promise<Configuration> => {
    if (known !== null && now().getTime() < askedAgainAt) return known;
    keepFor(freshMs);
    known = discover(settings, guard).catch((error: unknown) => {
      keepFor(pauseMs);
      throw error;
    });
    return known;
  };
  return {
    begin: async () => {
      const flow = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
      try {
        const url = buildAuthorizationUrl(await configuration(), {
          redirect_uri: callback,
          scope: scopeOf(settings),
          state: flow.state,
          nonce: flow.nonce,
          code_challenge: await calculatePKCECodeChallenge(flow.verifier),
          code_challenge_method: 'S256',
          // Google then offers accounts of this domain alone; others ignore it.
          ...(settings.domain !== null && { hd: settings.domain }),
        });
        return ok({ url: url.href, flow });
      } catch (error) {
        return failureOf(error);
      }
    },
    finish: async (query, { nonce, state, verifier }) => {
      const given = new URLSearchParams(query);
      const error = given.get('error');
      // Some providers leave the state out of an error, which lets nobody in anyway.
      if (error !== null && !given.has('state')) return said(error);
      if (given.get('state') !== state) return oidcFailed('expired', 'the state is not that of this browser');
      try {
        const config = await configuration();
        const tokens = await authorizationCodeGrant(config, new URL(`${callback}${query}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const token = tokens.claims();
        // The library lets the tokens of Entra have the issuer of any tenant.
        if (token === undefined || token.iss !== config.serverMetadata().issuer)
          return oidcFailed('token_invalid', 'the ID token is of another issuer');
        const person = personOf(token, await factsOf(config, tokens.access_token, token, settings), settings);
        return person.ok ? ok({ ...person.value, issuer: issuerNameOf(settings.issuer) }) : person;
      } catch (error) {
        const failure = failureOf(error);
        // Its keys may be other ones since they were read.
        if (!failure.ok && failure.error.reason === 'token_invalid')
          keepFor(Math.min(pauseMs, askedAgainAt - now().getTime()));
        return failure;
      }
    },
  };
}

const scopeOf = ({ claim }: PersonRule): string =>
  ({ email: 'openid email', preferred_username: 'openid profile', oid: 'openid profile', sub: 'openid' })[claim];

/** Okta and others leave it to this endpoint to name the person beside an access token. */
async function factsOf(
  config: Configuration,
  accessToken: string,
  token: IDToken,
  { claim }: PersonRule,
): Promise<Claims> {
  if (isToldIn(token, claim) || config.serverMetadata().userinfo_endpoint === undefined) return token;
  return await fetchUserInfo(config, accessToken, token.sub);
}

/** Sends the secret in the way that the provider takes; in the body if it takes both. */
const authentication =
  (secret: string): ClientAuth =>
  (server, ...rest) => {
    const inBody = server.token_endpoint_auth_methods_supported?.includes('client_secret_post');
    return (inBody ? ClientSecretPost(secret) : ClientSecretBasic(secret))(server, ...rest);
  };

async function discover({ clientId, clientSecret, issuer }: OidcSettings, guard: AddressGuard): Promise<Configuration> {
  const url = new URL(issuer);
  // The settings allow plain HTTP on loopback alone.
  const execute = url.protocol === 'http:' ? [allowInsecureRequests] : [];
  const config = await discovery(url, clientId, { [clockTolerance]: toleranceS }, authentication(clientSecret), {
    timeout: timeoutS,
    [customFetch]: fetchThrough(guard),
    execute: [...execute, enableNonRepudiationChecks],
  }).catch((error: unknown) => {
    throw codeOf(error) === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED' ? new IssuerMismatch(mismatch) : error;
  });
  // The library lets Entra call itself otherwise.
  if (issuerNameOf(config.serverMetadata().issuer) !== issuerNameOf(issuer)) throw new IssuerMismatch(mismatch);
  return config;
}

const mismatch = 'the "issuer" in its /.well-known/openid-configuration is another address than the one that is set';
const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

class IssuerMismatch extends Error {}
class ProviderAway extends Error {}

const maxBytes = 1024 * 1024;

/** As the library asks, by the guard. Throws where nothing came back. */
const fetchThrough =
  (guard: AddressGuard): CustomFetch =>
  async (url, { body, headers, method }) => {
    // With an issuer on loopback the library would ask over plain HTTP wherever its endpoints are.
    if (!isConfidentialUrl(url)) throw new ProviderAway('it names an address that is not https');
    const reply = await guardedRequest(guard, {
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers,
      timeoutMs: timeoutS * 1000,
      maxBytes,
      ...(body == null ? {} : { body: String(body) }),
    });
    if (!reply.ok) throw new ProviderAway(reply.error.text);
    const given = Object.entries(reply.value.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    );
    return new Response(reply.value.body || null, { status: reply.value.status, headers: given });
  };

const reasonByCode: ReadonlyMap<string, OidcReason> = new Map([
  ['access_denied', 'denied'],
  ['invalid_client', 'client_refused'],
  ['unauthorized_client', 'client_refused'],
  // The code: it lives for a minute or so, and is taken once.
  ['invalid_grant', 'expired'],
  // The subject of the userinfo endpoint.
  ['OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', 'token_invalid'],
  ['OAUTH_JWT_TIMESTAMP_CHECK_FAILED', 'clock'],
  ['OAUTH_JWT_CLAIM_COMPARISON_FAILED', 'token_invalid'],
  ['OAUTH_KEY_SELECTION_FAILED', 'token_invalid'],
  ['OAUTH_INVALID_RESPONSE', 'token_invalid'],
  ['OAUTH_UNSUPPORTED_OPERATION', 'token_invalid'],
]);

/** Without the causes that the library gives: of a reply that is not JSON they quote the beginning, which may be that of a token. */
function failureOf(error: unknown): Result<never, OidcFailure> {
  const own = ownCause(error);
  if (own instanceof IssuerMismatch) return oidcFailed('issuer_mismatch', own.message);
  if (own !== null) return oidcFailed('provider_away', own.message);
  if (error instanceof WWWAuthenticateChallengeError)
    return oidcFailed('client_refused', `the provider answers ${error.status} to the client`);
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) return said(error.error);
  const code = codeOf(error);
  return oidcFailed(reasonByCode.get(code) ?? 'provider_away', [errorText(error), code].filter(Boolean).join(': '));
}

/** The provider says so itself; anybody may have written it. */
function said(error: string) {
  const code = /^[a-z_]{1,40}$/.test(error) ? error : 'an unknown error';
  return oidcFailed(reasonByCode.get(code) ?? 'provider_error', `the provider answers ${code}`);
}

function ownCause(error: unknown): Error | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof IssuerMismatch || cause instanceof ProviderAway) return cause;
  return null;
}
