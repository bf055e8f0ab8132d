/** Settings of the operators' port and of those who log in there. */
import { readAllowedHosts, readNetworks, type SettingReader } from '@gw/contract/internal/environment';
import { readHostPort } from '@gw/contract/internal/listen';
import { isConfidentialUrl, isLoopback } from '@gw/contract/internal/loopback';
import { type HashCost, recommendedCost } from './credential.ts';
import type { OidcSettings } from './oidc.ts';
import { issuerProblem } from './oidc-issuer.ts';
import { personClaims } from './oidc-person.ts';
import { isOperatorToken } from './token-hash.ts';

/** Certificate files of the operators' port. */
interface OperatorTls {
  readonly certFile: string;
  readonly keyFile: string;
}

/** The login of the operator who is made on an empty database. */
export interface FirstOperator {
  readonly credential: string;
  /** An operator token for scripts, or null. */
  readonly token: string | null;
  /** Days until the token expires; null means never. */
  readonly tokenDays: number | null;
}

export interface AccessSettings {
  /** Where people reach the operators' port, without a slash at the end. */
  readonly controlUrl: string;
  /** Addresses or CIDR networks of the proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** Further names by which the port is reached, as behind a proxy that names it otherwise. */
  readonly allowedHosts: readonly string[];
  /** Null: the port speaks plain HTTP, on loopback or behind a proxy. */
  readonly tls: OperatorTls | null;
  /** The identity provider that operators can log in with. */
  readonly oidc: OidcSettings | null;
  /** Made only if there is no operator at all; null makes none. */
  readonly firstOperator: FirstOperator | null;
  /** The cost of hashing a credential. The environment does not set it. */
  readonly credentialCost: HashCost;
}

export const defaultAccessSettings: AccessSettings = {
  controlUrl: 'http://127.0.0.1:8081',
  trustedProxies: [],
  allowedHosts: [],
  tls: null,
  oidc: null,
  firstOperator: null,
  credentialCost: recommendedCost,
};

/** Reads the settings. What is wrong with them is reported to `settings`, and nothing is thrown here. */
export function readAccessSettings(settings: SettingReader): AccessSettings {
  const controlUrl = settings.optional('GW_CONTROL_URL', defaultAccessSettings.controlUrl).replace(/\/$/, '');
  if (!isConfidentialUrl(controlUrl))
    settings.problem(
      'GW_CONTROL_URL has to be https, or http on loopback. Example: GW_CONTROL_URL=https://ops.example.com',
    );
  checkListener(settings, controlUrl);
  return {
    controlUrl,
    trustedProxies: readNetworks(settings, 'GW_CONTROL_TRUSTED_PROXIES'),
    allowedHosts: readAllowedHosts(settings),
    tls: readTls(settings, controlUrl),
    oidc: readOidc(settings),
    firstOperator: readFirstOperator(settings),
    credentialCost: recommendedCost,
  };
}

/** A port that others can reach would show credentials and cookies on the way. */
function checkListener(settings: SettingReader, controlUrl: string): void {
  // Reading the setting in order to listen reports what is wrong with it.
  const host = readHostPort(settings.optional('GW_CONTROL_LISTEN', '127.0.0.1:8081'))?.host;
  const isContained = settings.optional('GW_CONTROL_CONTAINED', 'false') === 'true';
  if (isContained || host === undefined || isLoopback(host) || controlUrl.startsWith('https:')) return;
  settings.problem(
    'GW_CONTROL_LISTEN is open beyond loopback while GW_CONTROL_URL is plain HTTP. Example: GW_CONTROL_URL=https://ops.example.com, or in a container whose port is published on loopback alone GW_CONTROL_CONTAINED=true',
  );
}

function readTls(settings: SettingReader, controlUrl: string): OperatorTls | null {
  const certFile = settings.optional('GW_CONTROL_TLS_CERT_FILE', '');
  if (!certFile) return null;
  if (!controlUrl.startsWith('https:'))
    settings.problem(
      'GW_CONTROL_TLS_CERT_FILE is set, but GW_CONTROL_URL is plain HTTP. Example: GW_CONTROL_URL=https://ops.example.com',
    );
  return { certFile, keyFile: settings.required('GW_CONTROL_TLS_KEY_FILE', '/etc/gw/tls/operators.key') };
}

function readOidc(settings: SettingReader): OidcSettings | null {
  const issuer = settings.optional('GW_OIDC_ISSUER', '');
  if (!issuer) return null;
  const wrong = issuerProblem(issuer);
  if (wrong !== null) settings.problem(`GW_OIDC_ISSUER ${wrong}. Example: GW_OIDC_ISSUER=https://login.example.com`);
  const named = settings.optional('GW_OIDC_CLAIM', 'email');
  const claim = personClaims.find((each) => each === named);
  if (claim === undefined)
    settings.problem(`GW_OIDC_CLAIM takes one of ${personClaims.join(', ')}. Example: GW_OIDC_CLAIM=email`);
  return {
    issuer,
    clientId: settings.required('GW_OIDC_CLIENT_ID', 'gw-operators'),
    clientSecret: settings.required('GW_OIDC_CLIENT_SECRET', '<from the provider>'),
    claim: claim ?? 'email',
    // Each operator is named by an admin, so that no domain has to be.
    domain: null,
  };
}

function readFirstOperator(settings: SettingReader): FirstOperator | null {
  const credential = settings.optional('GW_FIRST_OPERATOR_CREDENTIAL', '');
  const token = settings.optional('GW_FIRST_OPERATOR_TOKEN', '') || null;
  if (!credential && token === null) return null;
  if (credential.length < 20)
    settings.problem(
      'GW_FIRST_OPERATOR_CREDENTIAL needs at least 20 characters. Example: GW_FIRST_OPERATOR_CREDENTIAL=<from openssl rand -base64 24>',
    );
  if (token !== null && !isOperatorToken(token))
    settings.problem('GW_FIRST_OPERATOR_TOKEN does not have the right form. Example: gwop_ and 43 of A-Z a-z 0-9 _ -');
  return { credential, token, tokenDays: readTokenDays(settings) };
}

function readTokenDays(settings: SettingReader): number | null {
  if (settings.optional('GW_FIRST_OPERATOR_TOKEN_DAYS', '') === 'unlimited') return null;
  const days = settings.integer('GW_FIRST_OPERATOR_TOKEN_DAYS', 90);
  if (days < 1 || days > 365)
    settings.problem(
      'GW_FIRST_OPERATOR_TOKEN_DAYS takes 1 to 365, or unlimited. Example: GW_FIRST_OPERATOR_TOKEN_DAYS=90',
    );
  return days;
}
