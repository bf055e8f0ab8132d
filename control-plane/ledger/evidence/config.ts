/** The key that evidence packs are signed with. */
import type { SettingReader } from '@gw/contract/internal/environment';
import { readPublicKeys, type SigningKey, signingKeyOf } from '@gw/contract/internal/evidence-keys';

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
  return key;
}
