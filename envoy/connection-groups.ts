/**
 * Keeps a single address from taking all connections.
 *
 * Envoy cannot count connections by address, but limits those of a filter chain. So the public listener has several equal chains, and
 * a hash assigns each address to one of them (docs/decisions/0010).
 *
 * Invariant: each group here is a filter chain of the template, and an address is always in the same one.
 */
import { randomInt } from 'node:crypto';
import { typed } from './typed.ts';

/** The number of filter chains in the template. */
export const groupCount = 8;

const action = (group: number) => ({
  action: {
    name: 'group',
    typed_config: typed('google.protobuf.StringValue', { value: `group-${group}` }),
  },
});

/** Matches the addresses of this group and all higher ones. */
const hashIsAtLeast = (group: number, seed: number) => ({
  single_predicate: {
    input: {
      name: 'source',
      typed_config: typed('envoy.extensions.matching.common_inputs.network.v3.SourceIPInput'),
    },
    custom_match: {
      name: 'hash',
      typed_config: typed('envoy.extensions.matching.input_matchers.consistent_hashing.v3.ConsistentHashing', {
        threshold: group,
        modulo: groupCount,
        seed,
      }),
    },
  },
});

/** Selects the filter chain of a connection; the same for all without `separate`. */
export function connectionGroups(separate: boolean): object {
  // Random, so that outsiders cannot tell which addresses share a group.
  const seed = randomInt(2 ** 31);
  const others = Array.from({ length: groupCount - 1 }, (_, index) => groupCount - 1 - index);
  return {
    ...(separate && {
      matcher_list: {
        matchers: others.map((group) => ({ predicate: hashIsAtLeast(group, seed), on_match: action(group) })),
      },
    }),
    on_no_match: action(0),
  };
}
