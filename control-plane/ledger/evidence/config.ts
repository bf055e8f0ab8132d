/** Reads the key that signs evidence packs, and the limits for packs that are kept. */
import type { SettingReader } from '@gw/contract/internal/environment';
import { readPublicKeys, signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { isConfidentialUrl } from '@gw/contract/internal/loopback';
import { publicJwkOf } from '@gw/contract/internal/public-jwk';
import type { PackKey } from '@gw/evidence/seal';
import { readCertificates } from './certificate-chain.ts';
import type { PackLimits } from './packs.ts';

/** Reads `GW_EVIDENCE_KEY`. Problems are reported to `settings`. */
export function readEvidenceKey(settings: SettingReader): PackKey {
  const seed = settings.hexKey('GW_EVIDENCE_KEY');
  // A wrong seed is reported with all other problems; until then any key will do.
  const key = signingKeyOf(seed.length === 32 ? seed.toString('hex') : '00'.repeat(32));
  const published = readPublicKeys(settings);
  const { x } = key.publicJwk;
  // Otherwise nobody could check what is signed from now on.
  if (published.length > 0 && published[0] !== x)
    settings.problem(
      `GW_EVIDENCE_PUBLIC_KEYS does not begin with the public part of GW_EVIDENCE_KEY. Example: GW_EVIDENCE_PUBLIC_KEYS=${[x, ...published.filter((other) => other !== x)].join(',')}`,
    );
  const certificates = readCertificates(settings, key.publicJwk);
  return { ...key, former: published.slice(1).map(publicJwkOf), ...(certificates.length > 0 && { certificates }) };
}

export interface PackSettings extends PackLimits {
  /** How many packs an instance builds at a time; 0: other instances build them. */
  readonly builds: number;
  /** The service that stamps packs with its time; null: none does. */
  readonly timestampUrl: string | null;
}

function readTimestampUrl(settings: SettingReader): string | null {
  const url = settings.optional('GW_TIMESTAMP_URL', '');
  if (url !== '' && !isConfidentialUrl(url))
    settings.problem(
      'GW_TIMESTAMP_URL is neither https nor on loopback. Example: GW_TIMESTAMP_URL=https://tsa.example.com/tsr',
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
