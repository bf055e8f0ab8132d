/**
 * Follows which versions the Envoys that ask this instance have taken up. With each question they say which version they have: one that they refuse, or whose
 * clusters they lack, they ask for again and again.
 */
export interface Uptake {
  /** Notes that an Envoy asks at this time, ms since 1970, which has `version` of the resources, and would get the current one. */
  asked(resources: string, version: string | undefined, current: string, at: number): void;
  /** Whether nobody of late lacked what came at `from`, and whoever asked last for each kind of resources had it. */
  has(from: number, at: number): boolean;
}

interface Question {
  readonly at: number;
  readonly resources: string;
  /** The Envoy had what had come until then, ms since 1970. */
  readonly upTo: number;
}

/** How long an Envoy may stay with a version that it was offered a newer one for. After that it is taken to refuse that for good. */
const patienceMs = 10_000;

/** `lateMs`: how long every Envoy needs to ask again. */
export function openUptake(lateMs: number): Uptake {
  /** When each version was last the current one, by resources and version. */
  const currentAt = new Map<string, number>();
  let questions: Question[] = [];
  const valid = (at: number) => questions.filter((each) => at - each.at <= patienceMs);
  return {
    asked: (resources, version, current, at) => {
      currentAt.set(`${resources} ${current}`, at);
      for (const [name, last] of currentAt) if (at - last > patienceMs) currentAt.delete(name);
      const upTo = currentAt.get(`${resources} ${version}`);
      // Otherwise it comes from another instance, or the Envoy has only just begun.
      if (upTo !== undefined) questions = [...valid(at), { at, resources, upTo }];
    },
    has: (from, at) => {
      const all = valid(at);
      const last = new Map(all.map((each) => [each.resources, each]));
      return [...last.values(), ...all.filter((each) => at - each.at < lateMs)].every(({ upTo }) => upTo > from);
    },
  };
}
