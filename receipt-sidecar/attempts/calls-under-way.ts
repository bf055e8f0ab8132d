/**
 * Counts the calls of this process that are under way at each deployment.
 *
 * Invariant: a call counts at one deployment at a time, at first where it begins, and then where its answer comes from.
 */
export interface CallsUnderWay {
  readonly at: (deployment: string) => number;
  begins(deployment: string): CallUnderWay;
}

export interface CallUnderWay {
  answeredBy(deployment: string): void;
  /** Counts once. */
  end(): void;
}

export function countCallsUnderWay(): CallsUnderWay {
  /** Only deployments of the catalogue get in, so the map stays small. */
  const counts = new Map<string, { calls: number }>();
  const countOf = (deployment: string): { calls: number } => {
    const count = counts.get(deployment) ?? { calls: 0 };
    counts.set(deployment, count);
    return count;
  };
  return {
    at: (deployment) => countOf(deployment).calls,
    begins: (deployment) => {
      let count = countOf(deployment);
      let isOver = false;
      count.calls += 1;
      return {
        answeredBy: (other) => {
          if (isOver) return;
          count.calls -= 1;
          count = countOf(other);
          count.calls += 1;
        },
        end: () => {
          if (!isOver) count.calls -= 1;
          isOver = true;
        },
      };
    },
  };
}
