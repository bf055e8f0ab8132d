/**
 * `x-sim-script: [{"name": "read", "input": {"path": "a"}}]`: the calls of tools with which a conversation is answered, one in each turn.
 * Behind the last one, and for a request that does not have the tool, the answer is what it is without a script. A turn is known by how many
 * results of tools the request has, so the simulator remembers nothing.
 */
export interface ScriptedCall {
  readonly name: string;
  readonly input: object;
}

/** Null if it is not such a list. */
export function readScript(value: string): readonly ScriptedCall[] | null {
  try {
    const steps: unknown = JSON.parse(value);
    return Array.isArray(steps) && steps.every(isCall) ? steps : null;
  } catch {
    return null;
  }
}

const isCall = (step: Partial<ScriptedCall> | null): step is ScriptedCall =>
  typeof step?.name === 'string' && typeof step.input === 'object' && step.input !== null;

/** `results`: how many tools have answered in this conversation. `known`: the names of the request's tools. */
export function scriptedCall(
  script: readonly ScriptedCall[],
  results: number,
  known: readonly unknown[],
): ScriptedCall | null {
  const step = script[results];
  return step !== undefined && known.includes(step.name) ? step : null;
}
