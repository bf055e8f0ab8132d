/** Where credentials of providers come from. */
import { type Environment, hexKeyExample, type SettingReader } from '@gw/contract/internal/environment';
import { createVault, type Vault } from '../../shared/vault.ts';

export interface CredentialSettings {
  /** `GW_CREDENTIAL_<NAME>`: value by name. */
  readonly environment: ReadonlyMap<string, string>;
  /** A folder with a file for each credential, as secret stores mount it; null: none. */
  readonly dir: string | null;
  /** Seals the credentials that operators set; null if none can be set. */
  readonly vault: Vault | null;
}

const prefix = 'GW_CREDENTIAL_';

export const credentialName = /^[A-Z0-9_]{1,64}$/;

/** A value that fits into a header: visible ASCII, with blanks only inside. */
export const credentialValue = /^[\x21-\x7e](?:[\x20-\x7e]{0,8190}[\x21-\x7e])?$/;

/** Reads the settings. What is wrong with them is reported to `settings`. */
export function readCredentialSettings(settings: SettingReader, environment: Environment): CredentialSettings {
  const given = Object.entries(environment).flatMap(([name, text]) => {
    const value = text?.trim() ?? '';
    if (!name.startsWith(prefix) || value === '') return [];
    if (!credentialValue.test(value))
      settings.problem(`${name} is not one line of visible characters, of at most 8,192`);
    return [[name.slice(prefix.length), value] as const];
  });
  return {
    environment: new Map(given),
    dir: settings.optional('GW_CREDENTIALS_DIR', '') || null,
    vault: readVault(settings),
  };
}

function readVault(settings: SettingReader): Vault | null {
  const current = settings.optionalHexKey('GW_CREDENTIALS_KEY');
  const previous = settings.optionalHexKey('GW_CREDENTIALS_KEY_PREVIOUS');
  if (current === null) {
    if (previous !== null)
      settings.problem(`GW_CREDENTIALS_KEY is needed beside the previous one. Example: ${hexKeyExample}`);
    return null;
  }
  return createVault(previous === null ? [current] : [current, previous]);
}
