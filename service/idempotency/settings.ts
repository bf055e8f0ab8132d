import type { SettingReader } from '@gw/contract/internal/environment';
import { createReplyCipher, type ReplyCipher } from './reply-cipher.ts';

const form = /^[0-9a-f]{64}$/i;
const example = '<64 hex digits, e.g. from: openssl rand -hex 32>';

/** Reads the keys that encrypt stored replies. All instances of all services that store replies need the same keys. */
export function readReplyCipher(settings: SettingReader): ReplyCipher {
  const key = (name: string) => Buffer.from(settings.secret(name, form, example), 'hex');
  const current = key('GW_IDEMPOTENCY_KEY');
  const isRotating = settings.optional('GW_IDEMPOTENCY_KEY_PREVIOUS', '') !== '';
  return createReplyCipher(isRotating ? [current, key('GW_IDEMPOTENCY_KEY_PREVIOUS')] : [current]);
}
