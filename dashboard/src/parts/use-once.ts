import { useRef } from 'react';
import { RefusedError } from '../api/refused.ts';

/** Sends a change with a header by which it is made once, however often it is sent. */
export type Once = <T>(wanted: unknown, send: (headers: OnceHeaders) => Promise<T>) => Promise<T>;
export type OnceHeaders = { readonly 'idempotency-key': string };

/**
 * For what a person wants done in this window. The id stays while the same is wanted and no reply has come: what was lost on the way
 * may have been done. Something else, or what was refused and is tried again, gets another one.
 */
export function useOnce(): Once {
  const last = useRef<{ readonly text: string; readonly id: string } | null>(null);
  return async (wanted, send) => {
    const text = JSON.stringify(wanted);
    const kept = last.current?.text === text ? last.current : { text, id: crypto.randomUUID() };
    last.current = kept;
    try {
      return await send({ 'idempotency-key': kept.id });
    } catch (error) {
      if (error instanceof RefusedError && error.status < 500) last.current = null;
      throw error;
    }
  };
}
