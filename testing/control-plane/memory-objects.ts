/** A store of objects in memory, for tests of what uses one. */
import { expectName, type ObjectStore } from '@gw/control-plane/internals/shared/objects/objects';

export function memoryObjects(): ObjectStore {
  const kept = new Map<string, Buffer>();
  return {
    place: 'memory',
    put: async (name, bytes) => void kept.set(expectName(name), Buffer.from(bytes)),
    get: async (name, most = Number.POSITIVE_INFINITY) => kept.get(expectName(name))?.subarray(0, most + 1) ?? null,
    list: async function* (folder) {
      const prefix = `${expectName(folder)}/`;
      const below = [...kept.keys()].filter((name) => name.startsWith(prefix));
      yield* new Set(below.map((name) => name.slice(prefix.length).replace(/\/.*/, '')));
    },
    remove: async (name) => void kept.delete(expectName(name)),
  };
}
