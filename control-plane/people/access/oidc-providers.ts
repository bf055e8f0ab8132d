/** The identity providers that people can log in with: that of the operators, and those of accounts. */
import type { Context } from '../../shared/context.ts';
import type { AccountIssuer, AccountIssuers } from './account-issuers.ts';
import { type Oidc, type OidcSettings, openOidc } from './oidc.ts';

/** Where an identity provider sends the browser back to. Each has an address of its own, which it knows alone. */
export const callbackPathOf = (accountId: string | null): string =>
  accountId === null ? '/session/oidc/callback' : `/session/oidc/callback/${accountId}`;

/** How many of accounts are kept open; one more closes the one that was opened first, which then reads its configuration again. */
const most = 500;

export interface OidcProviders {
  /** Null stands for that of the operators. Returns null if there is none, or its secret cannot be opened. */
  of(issuer: AccountIssuer | null): Oidc | null;
}

export function openOidcProviders(
  settings: { readonly oidc: OidcSettings | null; readonly controlUrl: string },
  accountIssuers: Pick<AccountIssuers, 'settingsOf'>,
  context: Pick<Context, 'guard' | 'now' | 'log'>,
): OidcProviders {
  const open = (own: OidcSettings, accountId: string | null): Oidc =>
    openOidc(own, `${settings.controlUrl}${callbackPathOf(accountId)}`, context);
  const ofOperators = settings.oidc && open(settings.oidc, null);
  const kept = new Map<string, Oidc>();
  return {
    of: (issuer) => {
      if (issuer === null) return ofOperators;
      const key = JSON.stringify([issuer.accountId, issuer.setAt]);
      const known = kept.get(key);
      if (known !== undefined) return known;
      const own = accountIssuers.settingsOf(issuer);
      if (own === null) {
        context.log.error(
          { account: issuer.accountId },
          'the secret of an issuer cannot be decrypted: GW_CREDENTIALS_KEY is another one; restore it, or set the issuer again',
        );
        return null;
      }
      const oidc = open(own, issuer.accountId);
      kept.set(key, oidc);
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
      return oidc;
    },
  };
}
