/**
 * The address of a server that the ledger asks for numbers, as the settings name it.
 *
 * Invariant: what is asked and answered can be read by nobody on the way, unless somebody has said that the way is their own. What
 * its name leads to is judged with each connection (`@gw/service/address-guard`).
 */
import type { SettingReader } from '@gw/contract/internal/environment';
import { isConfidentialUrl } from '@gw/contract/internal/loopback';
import { refusedHost } from '@gw/contract/internal/refused-host';

interface OutsideUrl {
  readonly name: string;
  readonly text: string;
  readonly example: string;
  /** The setting by which plain HTTP is allowed beyond loopback. */
  readonly localName: string;
}

/** Returns the address without a slash at its end. What is wrong with it is reported to `settings`. */
export function readOutsideUrl(settings: SettingReader, { example, localName, name, text }: OutsideUrl): string {
  const local = settings.optional(localName, 'false');
  if (local !== 'true' && local !== 'false')
    settings.problem(`${localName} is neither true nor false. Example: ${localName}=true`);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.username !== '')
    settings.problem(`${name} is not a plain http(s) address. Example: ${name}=${example}`);
  else if (refusedHost(text) !== null)
    settings.problem(`${name} names a host that is not allowed (${refusedHost(text)}). Example: ${name}=${example}`);
  else if (local !== 'true' && !isConfidentialUrl(text))
    settings.problem(
      `${name} is plain http to another machine, which can be read on the way. Example: ${name}=${example}, or if the way there is your own network ${localName}=true`,
    );
  return text.replace(/\/+$/, '');
}
