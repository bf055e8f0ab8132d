import type { SettingReader } from '@gw/contract/internal/environment';
import { createReplyCipher, type ReplyCipher } from './reply-cipher.ts';

/** Reads the keys that encrypt stored replies. All instances of all services that store replies need the same keys. */
export function readReplyCipher(settings: SettingReader): ReplyCipher {
  const current = settings.hexKey('GW_IDEMPOTENCY_KEY');
  const previous = settings.optionalHexKey('GW_IDEMPOTENCY_KEY_PREVIOUS');
  return createReplyCipher(previous === null ? [current] : [current, previous]);
}
