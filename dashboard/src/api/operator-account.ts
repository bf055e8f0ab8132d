/** One account, as operators see it. */
import { useQuery } from '@tanstack/react-query';
import { api, must } from './client.ts';

/** Asks nothing for an empty id. */
export const useOperatorAccount = (id: string) =>
  useQuery({
    queryKey: ['account of', id],
    queryFn: () => must(api.GET('/operator/v1/accounts/{accountId}', { params: { path: { accountId: id } } })),
    enabled: id !== '',
  });
