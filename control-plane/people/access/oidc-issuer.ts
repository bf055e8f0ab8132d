/** Addresses of identity providers. */
import { isConfidentialUrl } from '@gw/contract/internal/loopback';
import { refusedHost } from '@gw/contract/internal/refused-host';
import { isEntra } from './oidc-person.ts';

/** Identities are bound to it by this: a slash at the end makes no other issuer. */
export const issuerNameOf = (issuer: string): string => issuer.replace(/\/$/, '');

/** Why nobody can log in with this issuer, as the end of a sentence; null: it can be asked. */
export function issuerProblem(issuer: string): string | null {
  if (!URL.canParse(issuer) || !isConfidentialUrl(issuer)) return 'has to be https';
  const refused = refusedHost(issuer);
  if (refused !== null) return `names a host that is not allowed (${refused})`;
  const { hash, password, pathname, search, username } = new URL(issuer);
  if (`${hash}${password}${search}${username}` !== '' || pathname.includes('/.well-known/'))
    return 'has to be the address of the issuer alone, without /.well-known/…, user, query and fragment';
  // In a token of these any tenant of the world may have written what it likes.
  if (isEntra(issuer) && /^\/(common|organizations|consumers|%7Btenantid%7D)(\/|$)/i.test(pathname))
    return 'stands for every tenant of Entra ID; name your own: https://login.microsoftonline.com/<tenant id>/v2.0';
  return null;
}
