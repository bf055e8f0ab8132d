/**
 * Where the processor time of a call goes inside a service, by the profile that V8 writes of it.
 *
 * What the runtime does is shown as one frame on top of the function that asked for it: its own layers are many and say little.
 */
import { z } from 'zod';

const profileSchema = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
      children: z.array(z.number()).optional(),
    }),
  ),
  /** µs by the monotonic clock of the machine. */
  startTime: z.number(),
  samples: z.array(z.number()),
  /** µs to each sample from the one before. */
  timeDeltas: z.array(z.number()),
});
type Profile = z.infer<typeof profileSchema>;
type Node = Profile['nodes'][number];

/** `us`: of processor time for each call, with all that it calls. */
export interface Frame {
  readonly name: string;
  /** Whether it is what Node or V8 does for its caller. */
  readonly isRuntime: boolean;
  us: number;
  readonly callees: Map<string, Frame>;
}

/** What counts of a profile: from and to, µs by the monotonic clock, and how many calls were made meanwhile. */
export interface Window {
  readonly fromUs: number;
  readonly toUs: number;
  readonly calls: number;
}

/** Reads a `.cpuprofile`. Throws if it is none. */
export function frameTree(name: string, json: string, { calls, fromUs, toUs }: Window): Frame {
  const { nodes, samples, startTime, timeDeltas } = profileSchema.parse(JSON.parse(json));
  const paths = pathsOf(nodes);
  const root: Frame = { name, isRuntime: false, us: 0, callees: new Map() };
  let at = startTime;
  for (const [index, id] of samples.entries()) {
    const tookUs = timeDeltas[index] ?? 0;
    at += tookUs;
    const path = paths.get(id);
    if (at < fromUs || at > toUs || !path) continue;
    let frame = root;
    frame.us += tookUs / calls;
    for (const each of path) {
      frame = calleeOf(frame, each);
      frame.us += tookUs / calls;
    }
  }
  return root;
}

function calleeOf(frame: Frame, { isRuntime, name }: Step): Frame {
  const known = frame.callees.get(name);
  if (known) return known;
  const made: Frame = { name, isRuntime, us: 0, callees: new Map() };
  frame.callees.set(name, made);
  return made;
}

const idle = '(idle)';
const ofRuntime = new Map([
  ['(program)', 'V8 itself'],
  ['(garbage collector)', 'garbage collection'],
]);

/** Whether it is code of the service or of its packages: what protobufjs writes has no file. */
const isOwn = ({ lineNumber, url }: Node['callFrame']): boolean =>
  url === '' ? lineNumber >= 0 : !url.startsWith('node:');

type Step = Pick<Frame, 'isRuntime' | 'name'>;

/** From the outermost to each node; none of a node at which nothing was done. */
function pathsOf(nodes: readonly Node[]): ReadonlyMap<number, readonly Step[]> {
  const callers = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));
  const paths = new Map<number, readonly Step[]>();
  for (const node of nodes) {
    if (node.callFrame.functionName === idle) continue;
    const own: Step[] = [];
    for (let each: Node | undefined = node; each; each = callers.get(each.id)) {
      const { functionName } = each.callFrame;
      if (isOwn(each.callFrame) && functionName !== '' && functionName !== own[0]?.name)
        own.unshift({ name: functionName, isRuntime: false });
    }
    paths.set(node.id, isOwn(node.callFrame) ? own : [...own, { name: runtimeName(node), isRuntime: true }]);
  }
  return paths;
}

const runtimeName = ({ callFrame: { functionName } }: Node): string =>
  ofRuntime.get(functionName) ?? (functionName || 'Node');
