/** The account of the customer who is logged in. */
import { useQuery } from '@tanstack/react-query';
import { api, must } from './client.ts';
import type { Account } from './types.ts';

export const useAccount = () =>
  useQuery({ queryKey: ['account'], queryFn: () => must(api.GET('/organisation/v1/account')) });

/** Whether the tier of the account includes this; undefined while that is not known. */
export function useMay(scope: Account['scopes'][number]): boolean | undefined {
  return useAccount().data?.scopes.includes(scope);
}
