/** The account of the customer who is logged in. */
import { useQuery } from '@tanstack/react-query';
import { api, must } from './client.ts';

export const useAccount = () =>
  useQuery({ queryKey: ['account'], queryFn: () => must(api.GET('/organisation/v1/account')) });
