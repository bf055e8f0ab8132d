/** Defines a command of `./gw admin`; each group has a table of them. */
import type { OperatorApi } from './api.ts';

export interface AdminCommand {
  /** One word or two: `accounts list`. */
  readonly name: string;
  /** Names of the arguments, in order; all are needed. */
  readonly args: readonly string[];
  /** Options that take a value, with what they mean; `!` at the end: needed, `*`: may be repeated. */
  readonly options: Readonly<Record<string, string>>;
  readonly summary: string;
  /** Fields of the API that an option of another name fills; the others are named alike. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly run: (call: AdminCall) => Promise<AdminResult>;
}

export interface AdminCall {
  readonly api: OperatorApi;
  /** The value of the argument at this place of the command's `args`. */
  readonly arg: (index: number) => string;
  /** The value of an option, or undefined. */
  readonly option: (name: string) => string | undefined;
  readonly all: (name: string) => readonly string[];
  /** Tells people how far a long command is. */
  readonly progress: (text: string) => void;
}

export interface AdminResult {
  /** The value that `--json` prints. */
  readonly value: unknown;
  /** The text that people see. */
  readonly text: string;
  /** For people alone: goes to standard error. */
  readonly note?: string;
  /** Default 0. */
  readonly exitCode?: number;
}

/** `{name: value}` of the options that were given. */
export function given(call: AdminCall, ...names: string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = call.option(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
