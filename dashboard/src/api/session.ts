/** Who is logged in. */
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, must } from './client.ts';
import { RefusedError } from './refused.ts';
import type { Session } from './types.ts';

const key = ['session'];

/** `data` is null for nobody. What another person has read is forgotten, also where the change was made in another tab. */
export function useSession() {
  const queries = useQueryClient();
  const session = useQuery({
    queryKey: key,
    queryFn: async (): Promise<Session | null> => {
      try {
        return await must(api.GET('/session'));
      } catch (error) {
        if (error instanceof RefusedError && error.status === 401) return null;
        throw error;
      }
    },
    // Sessions end in other tabs. Not at an interval: it would be use, and a session without use has to end.
    refetchOnWindowFocus: 'always',
  });
  const who = session.data === undefined ? undefined : (session.data?.id ?? null);
  useEffect(() => {
    // Again when it is somebody else.
    if (who !== undefined) return () => forgetAll(queries);
  }, [who]);
  return session;
}

function forgetAll(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== key[0] });
}

/** Looks again who is logged in. */
export function useLookAgain(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.refetchQueries({ queryKey: key });
}

export const useAccount = () =>
  useQuery({ queryKey: ['account'], queryFn: () => must(api.GET('/organisation/v1/account')) });
