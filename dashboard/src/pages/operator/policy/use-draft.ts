/** The draft of rules that somebody works on. It stays while they look at other pages, and goes when they log out. */
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';

export interface Written {
  readonly text: string;
  /** The version that held when the draft was begun; null if there is no draft. */
  readonly begunAt: number | null;
}

export const nothingWritten: Written = { text: '', begunAt: null };
const queryKey = ['draft of rules'];

/** Kept with what was read, which is forgotten when somebody else logs in. */
export function useDraft(): readonly [Written, (next: Written) => void] {
  const queries = useQueryClient();
  const { data = nothingWritten } = useQuery<Written>({
    queryKey,
    queryFn: skipToken,
    gcTime: Number.POSITIVE_INFINITY,
  });
  return [data, (next) => void queries.setQueryData(queryKey, next)];
}
