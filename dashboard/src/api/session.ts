/** Who is logged in. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, must } from './client.ts';
import { RefusedError } from './refused.ts';
import type { Session } from './types.ts';

const key = ['session'];

/** `undefined` while it is not known, null for nobody. */
export function useSession() {
  return useQuery({
    queryKey: key,
    queryFn: async (): Promise<Session | null> => {
      try {
        return await must(api.GET('/session'));
      } catch (error) {
        if (error instanceof RefusedError && error.status === 401) return null;
        throw error;
      }
    },
    // Sessions end by themselves, and in other windows.
    refetchInterval: 60_000,
    refetchOnWindowFocus: 'always',
  });
}

/** Forgets all that was read, since it was another person's, and looks again who is logged in. */
export function useForgetSession(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== key[0] });
    await queries.refetchQueries({ queryKey: key });
  };
}
