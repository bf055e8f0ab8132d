/** The options of `./gw bench`, which the command line has checked (cli/command-list.ts) and passes as JSON. */
export interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly peers?: boolean;
  readonly json?: boolean;
}
