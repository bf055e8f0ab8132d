/** The interface that Postgres and Valkey share. */
import type { Child } from '../machine/child.ts';

export interface ServiceOptions {
  /** Holds the data; made if it is missing. */
  readonly dir: string;
  /** Progress, one line each. */
  readonly log: (line: string) => void;
  /** Default: a file in `dir`. */
  readonly logFile?: string;
  /** Default: `sock` in `dir`. Another folder is used if the path is too long for a socket. */
  readonly socketDir?: string;
  /** False: data need not survive a crash, which makes tests faster. Default true. */
  readonly durable?: boolean;
}

export interface Service {
  readonly url: string;
  readonly pid: number;
  readonly child: Child;
  stop(): Promise<void>;
}
