/** Describes what is looked at, and what is found there. */

export interface Finding {
  /** As it is in `/healthz` and in `gw_degraded`. */
  readonly name: string;
  /** The cause and the cure, without secrets. */
  readonly sentence: string;
  /** A part does not start on it. */
  readonly refuses: boolean;
}

export interface Look {
  readonly facts: Readonly<Record<string, string | number | boolean>>;
  readonly findings: readonly Finding[];
  /** How far the clock of this machine is ahead, if it was compared. */
  readonly aheadS?: number;
}

export interface Foundation {
  readonly name: 'valkey' | 'postgres' | 'spool';
  /** Rejects if nothing answers. */
  readonly look: () => Promise<Look>;
}
