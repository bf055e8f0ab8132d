/** Whether a domain says in DNS that it belongs to an account. */
import { Resolver } from 'node:dns/promises';

/** The texts of a name; rejects as `node:dns` does. */
export type LookUpTxt = (name: string) => Promise<readonly (readonly string[])[]>;

const patience = { timeout: 2000, tries: 2 };
/** Asks the resolver of this host, which answers within 8 s or so. */
export const lookUpTxt: LookUpTxt = (name) => new Resolver(patience).resolveTxt(name);

export interface DomainClaim {
  readonly domain: string;
  readonly domainToken: string;
}

/** The record that whoever manages the domain sets. */
export const recordOf = ({ domain, domainToken }: DomainClaim) => ({
  name: `_gw-verification.${domain}`,
  type: 'TXT' as const,
  value: `gw-verification=${domainToken}`,
});

/** Null: it is there; otherwise a sentence that says what is not. */
export async function findRecord(lookUp: LookUpTxt, claim: DomainClaim): Promise<string | null> {
  const { name, value } = recordOf(claim);
  try {
    const texts = await lookUp(name);
    // A long text comes in pieces.
    if (texts.some((pieces) => pieces.join('') === value)) return null;
    return `The TXT record ${name} does not contain ${value}. Correct it, then verify again; resolvers may cache the old value for a while.`;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return code === 'ENOTFOUND' || code === 'ENODATA'
      ? `There is no TXT record ${name} yet. Set it to ${value}, then verify again.`
      : `DNS is unavailable (${code || 'no code'}), so ${name} could not be looked up. Try again, or verify with a reason.`;
  }
}
