import { Button, Center } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';

export interface MoreProps {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
}

/** The next page of a list. */
export function More({ hasNextPage, isFetchingNextPage, fetchNextPage }: MoreProps) {
  if (!hasNextPage) return null;
  return (
    <Center p="md">
      <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        Show more
      </Button>
    </Center>
  );
}

interface Page<Row> {
  readonly data: readonly Row[];
  readonly has_more: boolean;
  readonly last_id: string | null;
}

/** Reads a list from its beginning, and a page more each time that `fetchNextPage` is called. */
export function usePages<Row, Reply extends Page<Row>>(
  queryKey: readonly unknown[],
  read: (after: string | undefined) => Promise<Reply & Page<Row>>,
) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ has_more, last_id }) => (has_more ? (last_id ?? undefined) : undefined),
  });
  return { ...query, rows: query.data?.pages.flatMap(({ data }) => data), pages: query.data?.pages };
}
