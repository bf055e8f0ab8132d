/** Settings of the operators' port and of those who log in there. */
import type { SettingReader } from '@gw/contract/internal/environment';

export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface FirstOperator {
  readonly credential: string;
  /** An operator token for scripts, or null. */
  readonly token: string | null;
}

export interface AccessSettings {
  /** Where people reach the operators' port, without a slash at the end. */
  readonly controlUrl: string;
  /** Addresses or networks of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  readonly oidc: OidcSettings | null;
  /** Made once, while there is no operator at all. */
  readonly firstOperator: FirstOperator | null;
}

export const defaultAccessSettings: AccessSettings = {
  controlUrl: 'http://127.0.0.1:8081',
  trustedProxies: [],
  oidc: null,
  firstOperator: null,
};

export function readAccessSettings(settings: SettingReader): AccessSettings {
  const controlUrl = settings.optional('GW_CONTROL_URL', defaultAccessSettings.controlUrl).replace(/\/$/, '');
  if (!isSafeUrl(controlUrl))
    settings.problem(
      'GW_CONTROL_URL has to be https, or http on loopback. Example: GW_CONTROL_URL=https://ops.example.com',
    );
  const proxies = settings.optional('GW_CONTROL_TRUSTED_PROXIES', '');
  return {
    controlUrl,
    trustedProxies: proxies
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean),
    oidc: readOidc(settings),
    firstOperator: readFirstOperator(settings),
  };
}

function readOidc(settings: SettingReader): OidcSettings | null {
  const issuer = settings.optional('GW_OIDC_ISSUER', '');
  if (!issuer) return null;
  if (!isSafeUrl(issuer))
    settings.problem('GW_OIDC_ISSUER has to be https. Example: GW_OIDC_ISSUER=https://login.example.com');
  return {
    issuer,
    clientId: settings.required('GW_OIDC_CLIENT_ID', 'gw-operators'),
    clientSecret: settings.required('GW_OIDC_CLIENT_SECRET', '<from the provider>'),
  };
}

function readFirstOperator(settings: SettingReader): FirstOperator | null {
  const credential = settings.optional('GW_FIRST_OPERATOR_CREDENTIAL', '');
  if (!credential) return null;
  if (credential.length < 20)
    settings.problem(
      'GW_FIRST_OPERATOR_CREDENTIAL is shorter than 20 characters. Example: from openssl rand -base64 24',
    );
  const token = settings.optional('GW_FIRST_OPERATOR_TOKEN', '') || null;
  if (token !== null && !/^gwop_[A-Za-z0-9_-]{43}$/.test(token))
    settings.problem('GW_FIRST_OPERATOR_TOKEN has not the right form: gwop_ and 43 of A-Z a-z 0-9 _ -');
  return { credential, token };
}

/** Whether what is sent there can not be read on the way. */
function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
