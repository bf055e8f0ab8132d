/**
 * Reads settings from an environment.
 *
 * Invariant: all problems are reported together, each with the variable's name and an example, and never with a secret.
 */
import { isIP } from 'node:net';
import type { Addresses } from '../errors.ts';
import { ignoredSettings } from './ignored-settings.ts';
import { readHostPort, readListen } from './listen.ts';
import type { SettingReaderName } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export class ConfigurationError extends Error {
  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n  ${problems.join('\n  ')}`,
    );
  }
}

export interface SettingReader {
  /** Reads a required setting. */
  required(name: string, example: string): string;
  optional(name: string, fallback: string): string;
  integer(name: string, fallback: number): number;
  /** Reads a required secret that matches `pattern`. */
  secret(name: string, pattern: RegExp, example: string): string;
  /** Reads a required key of 32 bytes, in hexadecimal. */
  hexKey(name: string): Buffer;
  /** Reads such a key, or null if it is not set. */
  optionalHexKey(name: string): Buffer | null;
  /** Reads a required `unix:/path` or `host:port`. */
  listen(name: string, example: string): string;
  /** Reads `host:port`; the example is for a fallback of null. */
  hostPort<Fallback extends string | null>(name: string, fallback: Fallback, example?: string): string | Fallback;
  addresses(): Addresses;
  /** Returns a sentence for each variable that has no effect in this program. Call it when all are read. */
  ignored(reader: SettingReaderName): string[];
  /** Adds a problem that a service found itself. Name the variable, give an example, and never include a secret. */
  problem(text: string): void;
  /** Throws a ConfigurationError if there were problems. Call it last. */
  finish(): void;
}

export const hexKeyExample = '<64 hex digits, e.g. from: openssl rand -hex 32>';

export function readSettings(environment: Environment): SettingReader {
  const problems: string[] = [];
  const asked = new Set<string>();
  const read = (name: string): string | undefined => {
    asked.add(name);
    return environment[name];
  };
  const required = (name: string, example: string): string => {
    const value = read(name);
    if (!value) problems.push(`${name} is not set. Example: ${name}=${example}`);
    return value ?? '';
  };
  const optional = (name: string, fallback: string): string => read(name) || fallback;
  const secret = (name: string, pattern: RegExp, example: string): string => {
    const value = required(name, example);
    if (value && !pattern.test(value))
      problems.push(`${name} does not have the right form. Example: ${name}=${example}`);
    return value;
  };
  const hexKey = (name: string): Buffer => Buffer.from(secret(name, /^[0-9a-f]{64}$/i, hexKeyExample), 'hex');
  return {
    required,
    optional,
    integer(name, fallback) {
      const text = read(name);
      if (!text) return fallback;
      const value = Number(text);
      if (!Number.isSafeInteger(value) || value < 0)
        problems.push(`${name} is not a whole number. Example: ${name}=${fallback}`);
      return value;
    },
    secret,
    hexKey,
    optionalHexKey: (name) => (read(name) ? hexKey(name) : null),
    listen(name, example) {
      const value = required(name, example);
      if (value && readListen(value) === null)
        problems.push(`${name} is "${value}", which is neither unix:/path nor host:port. Example: ${name}=${example}`);
      return value;
    },
    hostPort(name, fallback, example = '127.0.0.1:9001') {
      const value = read(name);
      if (!value) return fallback;
      if (readHostPort(value) !== null) return value;
      problems.push(`${name} is "${value}", which is not host:port. Example: ${name}=${fallback ?? example}`);
      return fallback;
    },
    addresses: () => ({
      baseUrl: optional('GW_BASE_URL', 'http://localhost:8080').replace(/\/$/, ''),
      ...readDocsUrl(read('GW_DOCS_URL'), problems),
      statusUrl: optional('GW_STATUS_URL', 'https://status.example.com'),
      auditEmail: optional('GW_AUDIT_EMAIL', 'audit@example.com'),
      securityEmail: optional('GW_SECURITY_EMAIL', 'security@example.com'),
    }),
    ignored: (reader) => ignoredSettings(environment, reader, asked),
    problem: (text) => void problems.push(text),
    finish() {
      if (problems.length > 0) throw new ConfigurationError(problems);
    },
  };
}

/** Reads what is separated by commas. */
export const readList = (settings: SettingReader, name: string): string[] =>
  settings
    .optional(name, '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

function readDocsUrl(value: string | undefined, problems: string[]): Pick<Addresses, 'docsUrl'> {
  if (!value) return {};
  // The code becomes the fragment.
  if (!/^https?:\/\/[^\s#]+$/.test(value))
    problems.push('GW_DOCS_URL is not the address of a page. Example: GW_DOCS_URL=https://docs.example.com/errors');
  return { docsUrl: value };
}

/** A name, or `*.` and a suffix of two labels or more: whoever owns a name below a shorter one could lead a web page here. */
const allowedHost = /^(\*\.[a-z0-9_-]+(?=\.)|[a-z0-9_-]+)(\.[a-z0-9_-]+)*$/i;

/**
 * Further names, without a port, by which the operators' port and the health ports are reached (service/own-host.ts). `*.svc.cluster.local`,
 * also written `.svc.cluster.local`, stands for all names below that.
 */
export function readAllowedHosts(settings: SettingReader): readonly string[] {
  const hosts = readList(settings, 'GW_ALLOWED_HOSTS').map((name) => name.replace(/^\./, '*.'));
  for (const host of hosts.filter((name) => !allowedHost.test(name)))
    settings.problem(
      `GW_ALLOWED_HOSTS: "${host}" is neither a name without a port nor *. and a suffix of at least two labels. Example: GW_ALLOWED_HOSTS=ops.example.com,*.gw.svc.cluster.local`,
    );
  return hosts;
}

/** Addresses and networks in CIDR form, separated by commas. */
export function readNetworks(settings: SettingReader, name: string): readonly string[] {
  const networks = readList(settings, name);
  if (!networks.every(isNetwork)) settings.problem(`${name} takes addresses or networks. Example: ${name}=10.0.0.0/8`);
  return networks;
}

function isNetwork(text: string): boolean {
  const [, address = '', bits = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  return isIP(address) !== 0 && Number(bits) <= (isIP(address) === 6 ? 128 : 32);
}

/** The tokens by which Envoy authenticates to the services. */
export interface InternalTokens {
  readonly internalToken: string;
  /** Accepted as well while the token is exchanged. */
  readonly previousInternalToken?: string | null;
}

export function readInternalTokens(settings: SettingReader): Required<InternalTokens> {
  const read = (name: string) =>
    settings.secret(name, /^[A-Za-z0-9_-]{32,}$/, '<at least 32 of A-Z a-z 0-9 _ ->, e.g. from: openssl rand -hex 32');
  const isExchanged = settings.optional('GW_INTERNAL_TOKEN_PREVIOUS', '') !== '';
  return {
    internalToken: read('GW_INTERNAL_TOKEN'),
    previousInternalToken: isExchanged ? read('GW_INTERNAL_TOKEN_PREVIOUS') : null,
  };
}

/**
 * The address of Redis (Valkey): `redis://…`, `rediss://…` over TLS, `redis+sentinel://…`, `redis+cluster://…` (service/redis-address.ts), or the path of a Unix socket, with `?username=…&password=…` if it asks for
 * them. It can contain a password.
 */
export const readRedisUrl = (settings: SettingReader): string =>
  settings.secret('GW_REDIS_URL', /^(?:rediss?(?:\+sentinel|\+cluster)?:\/\/.|\/)/, 'redis://localhost:6379');

/** Certificate files for connections between Envoy and the services across machines. */
export interface InternalTls {
  readonly certFile: string;
  readonly keyFile: string;
  /** The authority that signs both sides. It has to be private, since every certificate of it grants access to the services. */
  readonly caFile: string;
}

/** Returns null without `GW_INTERNAL_TLS_CERT_FILE`, for Unix sockets or one private network. */
export function readInternalTls(settings: SettingReader): InternalTls | null {
  const certFile = settings.optional('GW_INTERNAL_TLS_CERT_FILE', '');
  if (!certFile) return null;
  return {
    certFile,
    keyFile: settings.required('GW_INTERNAL_TLS_KEY_FILE', '/etc/gw/internal/tls.key'),
    caFile: settings.required('GW_INTERNAL_TLS_CA_FILE', '/etc/gw/internal/ca.crt'),
  };
}
