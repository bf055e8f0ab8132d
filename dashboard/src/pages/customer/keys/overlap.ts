import { useQuery } from '@tanstack/react-query';
import { api, must } from '../../../api/client.ts';
import { whileUsed } from '../../../api/while-used.ts';

const dayMs = 86_400_000;

/** Calls of the last 24 hours by the id of their key, simulated ones too; null if nobody can say, undefined while they are not known. */
export function useCallsByKey(): ReadonlyMap<string, number> | null | undefined {
  const { data, isError } = useQuery({
    queryKey: ['calls by key'],
    refetchInterval: () => whileUsed(15_000),
    queryFn: () => {
      const query = {
        from: new Date(Date.now() - dayMs).toISOString(),
        group_by: 'key_id',
        interval: 'total',
        simulated: 'include',
      } as const;
      return must(api.GET('/organisation/v1/usage', { params: { query } }));
    },
  });
  if (isError) return null;
  if (data === undefined) return undefined;
  const calls = new Map<string, number>();
  for (const { key_id, requests } of data.data) if (key_id) calls.set(key_id, (calls.get(key_id) ?? 0) + requests);
  return calls;
}
