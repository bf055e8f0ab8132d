/**
 * Another gateway that is measured beside ours: which release, and how it is started with as little as it needs.
 *
 * Invariant: its provider is the simulator, and it has no keys, limits, retries or telemetry that can be switched off: what is
 * measured is the least that it can do. It listens on 127.0.0.1 alone, and what it writes elsewhere than in its folder is in
 * `leaves`; envoy-ai-gateway.ts says what it cannot be kept from.
 */
import { readFileSync } from 'node:fs';
import { inCheckout } from '@gw/stack/checkout';
import type { PeerName } from '../load/target.ts';

export interface Peer {
  readonly name: PeerName;
  /** As its file pins it. */
  version(): string;
  /** Path of what was installed. */
  install(log: (line: string) => void): Promise<string>;
  plan(place: PeerPlace): Plan;
}

export interface PeerPlace {
  readonly installed: string;
  /** A folder of its own. */
  readonly dir: string;
  readonly port: number;
  /** The simulator's URL, with `/v1`. */
  readonly providerUrl: string;
  readonly model: string;
}

export interface Plan {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** In its folder, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** Folders that it makes outside of its own, which are removed behind it. It is not started if there is one already. */
  readonly leaves?: readonly string[];
  /** The headers that each call must carry. */
  readonly headers: Readonly<Record<string, string>>;
}

/** These headers tell the simulator how to answer; a peer passes them on. */
export const simulatorHeaders = ['x-sim-tokens', 'x-sim-tokens-per-second', 'x-sim-delay-ms'];

export const inPeers = (...path: string[]): string => inCheckout('bench', 'peers', ...path);

/** The version that a text says after `name`, as requirements.txt and package.json write it. */
export function pinnedVersion(name: string, ...path: string[]): string {
  const text = readFileSync(inPeers(...path), 'utf8');
  const [, version] = new RegExp(`^\\W*${name}(?:==|": ")([\\d.]+)"?,?$`, 'm').exec(text) ?? [];
  if (version === undefined) throw new Error(`${path.join('/')} does not pin ${name}.`);
  return version;
}
