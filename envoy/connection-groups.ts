/**
 * How no address gets all connections.
 *
 * Nothing in Envoy counts connections by address; it only bounds those of a filter chain. So the public listener has as
 * many equal chains as there are groups, and an address belongs to one of them by a hash (docs/decisions/0010).
 *
 * Invariant: each group that is named here is a filter chain of the template, and an address is always in the same one.
 */
import { randomInt } from 'node:crypto';

/** As many as the template has filter chains. */
export const groupCount = 8;

const action = (group: number) => ({
  action: {
    name: 'group',
    typed_config: { '@type': 'type.googleapis.com/google.protobuf.StringValue', value: `group-${group}` },
  },
});

/** Matches the addresses of this group and of those above it. */
const hashIsAtLeast = (group: number, seed: number) => ({
  single_predicate: {
    input: {
      name: 'source',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.matching.common_inputs.network.v3.SourceIPInput',
      },
    },
    custom_match: {
      name: 'hash',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.matching.input_matchers.consistent_hashing.v3.ConsistentHashing',
        threshold: group,
        modulo: groupCount,
        seed,
      },
    },
  },
});

/** Which filter chain a connection gets. Not `separate`: all the same one. */
export function connectionGroups(separate: boolean): object {
  // Nobody can tell from outside who shares a group with whom.
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
