/** The key that evidence packs are signed with, and how much of them is kept. */
import type { SettingReader } from '@gw/contract/internal/environment';
import { readPublicKeys, type SigningKey, signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { publicJwkOf } from '@gw/contract/internal/public-jwk';
import type { PackLimits } from './packs.ts';

const form = /^[0-9a-f]{64}$/i;
const example = '<64 hex digits, e.g. from: openssl rand -hex 32>';

/** Reads `GW_EVIDENCE_KEY`. What is wrong is reported to `settings`. */
export function readEvidenceKey(settings: SettingReader): SigningKey {
  const seed = settings.secret('GW_EVIDENCE_KEY', form, example);
  // Whatever was wrong is told with all else; until then any key does.
  const key = signingKeyOf(form.test(seed) ? seed : '00'.repeat(32));
  const published = readPublicKeys(settings);
  const { x } = key.publicJwk;
  // Else nobody could check what is signed from now on.
  if (published.length > 0 && published[0] !== x)
    settings.problem(
      `GW_EVIDENCE_PUBLIC_KEYS does not begin with the public part of GW_EVIDENCE_KEY. Example: GW_EVIDENCE_PUBLIC_KEYS=${[x, ...published.filter((other) => other !== x)].join(',')}`,
    );
  return { ...key, former: published.slice(1).map(publicJwkOf) };
}

export interface PackSettings extends PackLimits {
  /** Long packs that an instance builds at once; 0: others build them. */
  readonly builds: number;
}

/** Reads the settings of packs that a job builds. What is wrong with them is reported to `settings`. */
export function readPackSettings(settings: SettingReader): PackSettings {
  const keepDays = settings.integer('GW_EVIDENCE_KEEP_DAYS', 7);
  const quotaMb = settings.integer('GW_EVIDENCE_QUOTA_MB', 5000);
  const builds = settings.integer('GW_EVIDENCE_BUILDS', 1);
  if (keepDays < 1 || keepDays > 3650 || quotaMb < 1)
    settings.problem(
      'GW_EVIDENCE_KEEP_DAYS is from 1 to 3650, and GW_EVIDENCE_QUOTA_MB is 1 at least. Example: GW_EVIDENCE_KEEP_DAYS=7',
    );
  if (builds < 0 || builds > 16) settings.problem('GW_EVIDENCE_BUILDS is from 0 to 16. Example: GW_EVIDENCE_BUILDS=1');
  return { keepDays, quotaBytes: quotaMb * 1_000_000, builds };
}
