/** Reads the key that signs evidence packs, and the limits for packs that are kept. */
import { readFileSync } from 'node:fs';
import { hexKeyExample, type SettingReader } from '@gw/contract/internal/environment';
import { errorText } from '@gw/contract/internal/error-text';
import { readPublicKeys, type SigningKey, signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { hasLogin, isConfidentialUrl } from '@gw/contract/internal/loopback';
import { isPublicKey, publicJwkOf } from '@gw/contract/internal/public-jwk';
import type { PackKey } from '@gw/evidence/seal';
import { readCertificates } from './certificate-chain.ts';
import type { PackLimits } from './packs.ts';
import { type RemoteKeySettings, remoteKey, remoteKeyForm } from './remote-key.ts';

/** Reads `GW_EVIDENCE_KEY`: a seed, `file:` and the path of one, or the address of a key in a key service. Problems are reported to `settings`. */
export function readEvidenceKey(settings: SettingReader): PackKey {
  const stated = settings.required('GW_EVIDENCE_KEY', hexKeyExample);
  const tokenFile = settings.optional('GW_EVIDENCE_KEY_TOKEN_FILE', '');
  const published = readPublicKeys(settings);
  const key = /^https?:/.test(stated)
    ? readRemoteKey(settings, { url: stated, tokenFile }, published)
    : readSeed(settings, stated);
  const { x } = key.publicJwk;
  // Otherwise nobody could check what is signed from now on.
  if (published.length > 0 && published[0] !== x)
    settings.problem(
      `GW_EVIDENCE_PUBLIC_KEYS does not begin with the public part of GW_EVIDENCE_KEY. Example: GW_EVIDENCE_PUBLIC_KEYS=${[x, ...published.filter((other) => other !== x)].join(',')}`,
    );
  const certificates = readCertificates(settings, key.publicJwk);
  return { ...key, former: published.slice(1).map(publicJwkOf), ...(certificates.length > 0 && { certificates }) };
}

const anySeed = '00'.repeat(32);

/** A wrong seed is reported with all other problems; until then any key will do. */
function readSeed(settings: SettingReader, stated: string): SigningKey {
  if (stated === '') return signingKeyOf(anySeed);
  const seed = stated.startsWith('file:') ? textOf(settings, stated.slice('file:'.length)) : stated;
  if (/^[0-9a-f]{64}$/i.test(seed)) return signingKeyOf(seed);
  settings.problem(`GW_EVIDENCE_KEY does not have the right form. Example: GW_EVIDENCE_KEY=${hexKeyExample}`);
  return signingKeyOf(anySeed);
}

function textOf(settings: SettingReader, file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    settings.problem(`GW_EVIDENCE_KEY: ${file} cannot be read: ${errorText(error)}.`);
    return anySeed;
  }
}

const remoteExample = 'https://bao.example.com:8200/v1/transit/keys/gw-evidence?version=1';

function readRemoteKey(
  settings: SettingReader,
  { tokenFile, url }: RemoteKeySettings,
  [x]: readonly string[],
): SigningKey {
  if (tokenFile === '')
    settings.problem(
      'GW_EVIDENCE_KEY_TOKEN_FILE is not set. Example: GW_EVIDENCE_KEY_TOKEN_FILE=/run/secrets/bao-token',
    );
  if (!remoteKeyForm.test(url) || !isConfidentialUrl(url) || hasLogin(url))
    settings.problem(
      `GW_EVIDENCE_KEY is not the address of a key, by https and without a user name. Example: GW_EVIDENCE_KEY=${remoteExample}`,
    );
  if (x !== undefined && isPublicKey(x)) return remoteKey({ url, tokenFile }, publicJwkOf(x));
  if (x === undefined)
    settings.problem(
      'GW_EVIDENCE_PUBLIC_KEYS is not set. It begins with the public part of the key in the key service.',
    );
  return signingKeyOf(anySeed);
}

export interface PackSettings extends PackLimits {
  /** How many packs an instance builds at a time; 0: other instances build them. */
  readonly builds: number;
  /** The service that stamps packs with its time; null: none does. */
  readonly timestampUrl: string | null;
}

function readTimestampUrl(settings: SettingReader): string | null {
  const url = settings.optional('GW_TIMESTAMP_URL', '');
  if (url !== '' && (!isConfidentialUrl(url) || hasLogin(url)))
    settings.problem(
      'GW_TIMESTAMP_URL is neither https nor on loopback, or has a user name in it. Example: GW_TIMESTAMP_URL=https://tsa.example.com/tsr',
    );
  return url === '' ? null : url;
}

/** Reads the settings for packs. Problems are reported to `settings`. */
export function readPackSettings(settings: SettingReader): PackSettings {
  const quotaMb = settings.integer('GW_EVIDENCE_QUOTA_MB', 5000);
  const builds = settings.integer('GW_EVIDENCE_BUILDS', 1);
  if (quotaMb < 1) settings.problem('GW_EVIDENCE_QUOTA_MB is less than 1. Example: GW_EVIDENCE_QUOTA_MB=5000');
  if (builds < 0 || builds > 16) settings.problem('GW_EVIDENCE_BUILDS is from 0 to 16. Example: GW_EVIDENCE_BUILDS=1');
  return { quotaBytes: quotaMb * 1_000_000, builds, timestampUrl: readTimestampUrl(settings) };
}
