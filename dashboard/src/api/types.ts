/** Names for the replies of the operators' port. */
import type { components, paths } from '../../generated/operator-api.d.ts';

type Schemas = components['schemas'];
type Reply<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { '2XX': { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;

export type Session = Reply<'/session'>;
export type OperatorSession = Extract<Session, { kind: 'operator' }>;
export type CustomerSession = Extract<Session, { kind: 'organisation_admin' }>;
export type Key = Schemas['Key'];
export type Receipt = Schemas['Receipt'];
export type Lineage = NonNullable<Schemas['ReceiptLineage']['lineage']>;
export type LineageStep = Schemas['LineageStep'];
export type Usage = Reply<'/operator/v1/usage'>;
export type UsageRow = Usage['data'][number];
export type AuditEntry = Schemas['AuditEntry'];
export type Budget = Reply<'/organisation/v1/budgets'>['data'][number];
export type OperatorAccount = Reply<'/operator/v1/accounts/{accountId}'>;
export type OrganisationAdmin = Reply<'/operator/v1/accounts/{accountId}/admins'>['data'][number];
export type Application = Reply<'/operator/v1/applications'>['data'][number];
export type ApplicationStep = Reply<'/operator/v1/applications/{account_id}'>['steps'][number];
export type LiveTraffic = Reply<'/operator/v1/live'>;
export type Health = Reply<'/healthz'>;
export type Account = Reply<'/organisation/v1/account'>;
export type Pack = Reply<'/organisation/v1/evidence-packs'>['data'][number];
export type Region = Reply<'/operator/v1/regions'>['data'][number];
export type Deployment = Reply<'/operator/v1/deployments'>['data'][number];
export type Model = Reply<'/operator/v1/models'>['data'][number];
export type Provider = Reply<'/operator/v1/providers'>['data'][number];
export type Credential = Reply<'/operator/v1/credentials'>['data'][number];
export type Price = Reply<'/operator/v1/prices'>['data'][number];
export type DeploymentHealth = Reply<'/operator/v1/deployment-health'>;
export type GridZone = Reply<'/operator/v1/grid'>['data'][number];
export type ProviderTest =
  paths['/operator/v1/providers/{id}/test']['post']['responses']['2XX']['content']['application/json'];
export type PolicyVersion = Reply<'/operator/v1/policy'>;
/** As it is stored: it may be of another release. */
export type StoredRule = PolicyVersion['rules'][number];
/** A rule of this release. */
export type PolicyRule = Reply<'/operator/v1/policy/defaults'>['rules'][number];
export type ListedVersion = Reply<'/operator/v1/policy/versions'>['data'][number];
export type Exemption = Reply<'/operator/v1/policy/exemptions'>['data'][number];
export type DryRun = paths['/operator/v1/policy/dry-run']['post']['responses']['2XX']['content']['application/json'];
export type ChainEntry = Reply<'/operator/v1/audit'>['data'][number];
export type BudgetWebhook = Reply<'/operator/v1/accounts/{accountId}/budget-webhook'>;
export type AccountIssuer = Reply<'/operator/v1/accounts/{accountId}/issuer'>;
export type IssuerInput =
  paths['/operator/v1/accounts/{accountId}/issuer']['put']['requestBody']['content']['application/json'];
export type AccountChange =
  paths['/operator/v1/accounts/{accountId}']['patch']['requestBody']['content']['application/json'];
