/** The headers with which Envoy forwards a verified call. */
export type IdentityHeaders = Record<string, string>;

export const identified = (internalToken: string, changes: Partial<IdentityHeaders> = {}): IdentityHeaders => ({
  'x-gw-internal-token': `Bearer ${internalToken}`,
  'x-gw-account-id': 'acct_demo_audit',
  'x-gw-key-id': 'key',
  'x-gw-tier': 'audit',
  'x-gw-scopes': 'inference:read inference:write gw:read',
  ...(changes as IdentityHeaders),
});
