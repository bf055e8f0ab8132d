/** The gateway that this file of tests shares with others: one for each worker of vitest, so no two files use it at once. */
import { inject } from 'vitest';
import type { SharedStack } from './whole-stack.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Missing in projects that start no gateway. */
    stacks?: readonly SharedStack[];
  }
}

function ofThisWorker(): SharedStack | undefined {
  const stacks = inject('stacks');
  const worker = Number(process.env.VITEST_POOL_ID);
  if (stacks && !stacks[worker - 1])
    throw new Error(`${stacks.length} gateways were started, and this is worker ${worker}.`);
  return stacks?.[worker - 1];
}

// Helpers of suites with a gateway of their own name it too, and do not use it.
export const stack = ofThisWorker() as SharedStack;
