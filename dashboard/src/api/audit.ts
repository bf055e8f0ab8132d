/** The chains of the audit log, as operators read them. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { api, must } from './client.ts';

export interface ChainQuery {
  /** Empty: nothing is asked. */
  readonly chain: string;
  readonly action?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Reads a chain from its newest entry back, and a page more each time that `fetchNextPage` is called. */
export function useChain(query: ChainQuery) {
  const entries = useInfiniteQuery({
    queryKey: ['chain', query],
    queryFn: ({ pageParam }) =>
      must(
        api.GET('/operator/v1/audit', {
          params: { query: { ...query, limit: 50, ...(pageParam !== undefined && { after: pageParam }) } },
        }),
      ),
    enabled: query.chain !== '',
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ data, has_more }) => (has_more ? data.at(-1)?.seq : undefined),
  });
  return { ...entries, rows: entries.data?.pages.flatMap(({ data }) => data) };
}
