import type { SettingReader } from '@gw/contract/internal/environment';
import { defaultRoomBytes } from './claims.ts';
import { createReplyCipher, type ReplyCipher } from './reply-cipher.ts';

const mebibyte = 1024 * 1024;

/** Reads how many bytes of stored replies all accounts together may have. All instances need the same. */
export const readReplyRoom = (settings: SettingReader): number =>
  settings.integer('GW_IDEMPOTENCY_MAX_MB', defaultRoomBytes / mebibyte) * mebibyte;

/** Reads the keys that encrypt stored replies. All instances of all services that store replies need the same keys. */
export function readReplyCipher(settings: SettingReader): ReplyCipher {
  const current = settings.hexKey('GW_IDEMPOTENCY_KEY');
  const previous = settings.optionalHexKey('GW_IDEMPOTENCY_KEY_PREVIOUS');
  return createReplyCipher(previous === null ? [current] : [current, previous]);
}
