/** How the gateway says that it is. */
import { useQuery } from '@tanstack/react-query';
import type { Health } from './types.ts';

/** An unhealthy gateway says so with 503, and with the same body. */
async function readHealth(): Promise<Health> {
  const response = await fetch('/healthz', { headers: { accept: 'application/json' } });
  const health: Health = await response.json();
  if (!('status' in health)) throw new Error('What answered is not the gateway.');
  return health;
}

/** Read again every `everyMs`. */
export const useHealth = (everyMs: number) =>
  useQuery({ queryKey: ['health'], queryFn: readHealth, refetchInterval: everyMs, retry: false });
