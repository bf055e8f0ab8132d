import { useEffect, useRef } from 'react';

/** Returns what gives a signal that is aborted when the component goes. */
export function useWhileShown(): () => AbortSignal {
  const shown = useRef<AbortController>(null);
  useEffect(() => {
    const controller = new AbortController();
    shown.current = controller;
    return () => controller.abort();
  }, []);
  return () => shown.current?.signal ?? AbortSignal.abort();
}
