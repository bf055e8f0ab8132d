/** The master key of names: it wraps the keys of persons and accounts. */
import type { SettingReader } from '@gw/contract/internal/environment';
import { type KeyRing, readKeyRing } from '@gw/contract/internal/key-ring';

export const readNameKeys = (settings: SettingReader): KeyRing =>
  readKeyRing(settings, { key: 'GW_NAMES_KEY', id: 'GW_NAMES_KEY_ID', previous: 'GW_NAMES_KEYS_PREVIOUS' });
