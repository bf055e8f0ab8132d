/** The catalogue, as operators read it. It is read again while somebody looks, since others change it too. */
import { useQuery } from '@tanstack/react-query';
import { api, must } from './client.ts';
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
export const useHealth = () =>
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
