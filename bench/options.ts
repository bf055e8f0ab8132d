/** What `./gw bench` is asked for. The command line has checked it (cli/command-list.ts) and hands it over as JSON. */
export interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly peers?: boolean;
  readonly json?: boolean;
}
