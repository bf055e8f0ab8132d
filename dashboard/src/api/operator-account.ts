/** One account, as operators see it. */
import { useQuery } from '@tanstack/react-query';
import { api, must } from './client.ts';

/** Where the account is kept that was read last. */
export const operatorAccountKey = (id: string) => ['account of', id] as const;

/** Asks nothing for an empty id. */
export const useOperatorAccount = (id: string) =>
  useQuery({
    queryKey: operatorAccountKey(id),
    queryFn: () => must(api.GET('/operator/v1/accounts/{accountId}', { params: { path: { accountId: id } } })),
    enabled: id !== '',
  });
