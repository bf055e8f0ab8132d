/** The names of a stack's parts, the order in which they end, and their ports. */
import { elementAt } from '@gw/contract/internal/defined';
import type { InternalTls } from '@gw/contract/internal/environment';
import { freePorts, takePort } from './ports.ts';
import {
  type ControlPlaneName,
  type EnvoyName,
  type InstanceName,
  instanceNames,
  type Layout,
  type PartName,
  sharedNames,
} from './stack-plans.ts';

export interface Wanted {
  /** Default: a free one. */
  readonly publicPort?: number;
  /** Default: a free one. */
  readonly controlPort?: number;
  /** How many there are of ext-authz and of the sidecar. Default 1. */
  readonly instances?: number;
  /** How many Envoys there are, each with a port of its own. Default 1. */
  readonly envoys?: number;
  /** Default 1. */
  readonly controlPlanes?: number;
  /** The internal certificates of a part, with which it listens on a port of loopback. Default: Unix sockets. */
  readonly internalTls?: (part: string) => InternalTls;
}

/** The names of parts that can have several instances. */
export interface Names {
  readonly shared: readonly InstanceName[];
  readonly envoys: readonly EnvoyName[];
  readonly controlPlanes: readonly ControlPlaneName[];
}

export const namesOf = ({ instances = 1, envoys = 1, controlPlanes = 1 }: Wanted): Names => ({
  shared: sharedNames.flatMap((name) => instanceNames(name, instances)),
  envoys: instanceNames('envoy', envoys),
  controlPlanes: instanceNames('control-plane', controlPlanes),
});

/** Ends first what takes requests, and last what keeps data. */
export const stopOrder = ({ shared, envoys, controlPlanes }: Names): readonly (readonly PartName[])[] => [
  envoys,
  [...shared, ...controlPlanes],
  ['simulator'],
  ['valkey', 'postgres'],
];

export async function takePorts(options: Wanted, { shared, envoys, controlPlanes }: Names) {
  const further = [...envoys, ...controlPlanes].filter((name) => name !== 'envoy' && name !== 'control-plane');
  const probes = envoys.map((name) => `${name}-probe`);
  const internal = options.internalTls ? [...shared, ...controlPlanes, ...probes] : [];
  const count = 3 + shared.length + further.length + internal.length;
  const [simulator = 0, freePublic = 0, freeControl = 0, ...others] = await freePorts(count);
  const withPorts = (names: readonly string[], from: number) =>
    Object.fromEntries(names.map((name, index) => [name, elementAt(others, from + index)]));
  return {
    public: await takePort(options.publicPort || freePublic, '--port'),
    control: await takePort(options.controlPort || freeControl, '--control-port'),
    simulator,
    health: withPorts(shared, 0),
    further: withPorts(further, shared.length) as Layout['furtherPorts'],
    internal: withPorts(internal, shared.length + further.length),
  };
}
