/** Queries that several operator pages share. The catalogue is read again while somebody looks, since others change it too. */
import { useQuery } from '@tanstack/react-query';
import { api, must } from './client.ts';
import type { Health } from './types.ts';
import { whileUsed } from './while-used.ts';

const refetchInterval = () => whileUsed(15_000);
const kept = (name: string) => ({ queryKey: ['catalogue', name], refetchInterval });

export const useRegions = () => useQuery({ ...kept('regions'), queryFn: () => must(api.GET('/operator/v1/regions')) });
export const useDeployments = () =>
  useQuery({ ...kept('deployments'), queryFn: () => must(api.GET('/operator/v1/deployments')) });
export const useModels = () => useQuery({ ...kept('models'), queryFn: () => must(api.GET('/operator/v1/models')) });
export const useAliases = () => useQuery({ ...kept('aliases'), queryFn: () => must(api.GET('/operator/v1/aliases')) });
export const useProviders = () =>
  useQuery({ ...kept('providers'), queryFn: () => must(api.GET('/operator/v1/providers')) });
export const useCredentials = () =>
  useQuery({ ...kept('credentials'), queryFn: () => must(api.GET('/operator/v1/credentials')) });
export const usePrices = () => useQuery({ ...kept('prices'), queryFn: () => must(api.GET('/operator/v1/prices')) });

/** A trouble holds for seconds. */
export const useDeploymentHealth = () =>
  useQuery({
    queryKey: ['catalogue', 'health'],
    refetchInterval: () => whileUsed(3000),
    queryFn: () => must(api.GET('/operator/v1/deployment-health')),
  });

/** Entries of providers do not say who changed them: the newest entries of the audit log do. */
export const useProviderChanges = () =>
  useQuery({
    ...kept('changes of providers'),
    queryFn: async () => {
      const pages = await Promise.all(
        ['provider.added', 'provider.changed'].map((action) =>
          must(api.GET('/operator/v1/audit', { params: { query: { action, limit: 200 } } })),
        ),
      );
      const entries = pages.flatMap(({ data }) => data).sort((a, b) => a.seq - b.seq);
      return new Map(
        entries.map(({ actor, at, target }) => [target, { changed_at: at, changed_by: actor.name ?? actor.id }]),
      );
    },
  });

/** The version of the screening rules that is in force. */
export const usePolicy = () => useQuery({ queryKey: ['policy'], queryFn: () => must(api.GET('/operator/v1/policy')) });

/** Names who made something, of whom a reply has the id alone. One that is not known by name keeps the id. */
export function useMaker(): (id: string) => string {
  const operators = useQuery({ queryKey: ['operators'], queryFn: () => must(api.GET('/operator/v1/operators')) });
  const names = new Map(operators.data?.data.map(({ id, name }) => [id, name]));
  return (id) => (id === 'system' ? 'the software' : (names.get(id) ?? id));
}

/** Where the account is kept that was read last. */
export const operatorAccountKey = (id: string) => ['account of', id] as const;

/** Asks nothing for an empty id. */
export const useOperatorAccount = (id: string) =>
  useQuery({
    queryKey: operatorAccountKey(id),
    queryFn: () => must(api.GET('/operator/v1/accounts/{accountId}', { params: { path: { accountId: id } } })),
    enabled: id !== '',
  });

/** An unhealthy gateway says so with 503, and with the same body. */
async function readHealth(): Promise<Health> {
  const response = await fetch('/healthz', { headers: { accept: 'application/json' } });
  const health: Health = await response.json();
  if (!('status' in health)) throw new Error('What answered is not the gateway.');
  return health;
}

/** Read again every `everyMs`. */
export const useHealth = (everyMs: number) =>
  useQuery({ queryKey: ['health'], queryFn: readHealth, refetchInterval: everyMs, retry: false });
