/** The commands, in the order in which a newcomer meets them. Each is loaded when it is called, so all start fast. */

/** Takes its own arguments; resolves with the exit code. */
type Run = (args: readonly string[]) => Promise<number>;

export interface Command {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly run: Run;
}

const commands: readonly Command[] = [
  {
    name: 'up',
    usage: 'up [--detach] [--json] [--port N] [--control-port N] [--instances N] [--provider URL]',
    summary: 'start everything; print the base URL, a demo key and a curl to paste',
    run: async (args) => (await import('./commands/up.ts')).up(args),
  },
  {
    name: 'status',
    usage: 'status [--json]',
    summary: 'what runs',
    run: async (args) => (await import('./commands/status.ts')).status(args),
  },
  {
    name: 'logs',
    usage: 'logs [part] [-f]',
    summary: 'what the parts have to say',
    run: async (args) => (await import('./commands/logs.ts')).logs(args),
  },
  {
    name: 'down',
    usage: 'down',
    summary: 'stop everything',
    run: async (args) => (await import('./commands/down.ts')).down(args),
  },
  {
    name: 'doctor',
    usage: 'doctor',
    summary: 'what is missing on this machine and how to get it',
    run: async (args) => (await import('./commands/doctor.ts')).doctor(args),
  },
  {
    name: 'check',
    usage: 'check',
    summary: 'types, style, dead code and the fast tests, in about a minute',
    run: async (args) => (await import('./commands/test.ts')).check(args),
  },
  {
    name: 'test',
    usage: 'test [long] [file…]',
    summary: 'everything that check does, and all other tests on a stack of their own; long: outages under load',
    run: async (args) => (await import('./commands/test.ts')).test(args),
  },
  {
    name: 'bench',
    usage: 'bench [--peers] [--json]',
    summary: 'the benchmarks, side by side in one run; --peers: with other gateways',
    run: async (args) => (await import('./commands/bench.ts')).bench(args),
  },
  {
    name: 'verify',
    usage: 'verify FILE [--jwks FILE] [--key THUMBPRINT]',
    summary: 'check an evidence pack offline: signature, digests, sums, and each number from its lineage',
    run: async (args) => (await import('./commands/verify.ts')).verify(args),
  },
  {
    name: 'admin',
    usage: 'admin <group> <command> [--json]',
    summary: 'the operator API from the shell: accounts, keys, people, catalogue, audit; admin help lists all',
    run: async (args) => (await import('./commands/admin.ts')).admin(args),
  },
  {
    name: 'help',
    usage: 'help',
    summary: 'this list',
    run: async () => {
      process.stdout.write(overview());
      return 0;
    },
  },
];

export const commandNames: readonly string[] = commands.map((command) => command.name);

export function findCommand(name: string): Command | undefined {
  const wanted = name === '--help' || name === '-h' ? 'help' : name;
  return commands.find((command) => command.name === wanted);
}

function overview(): string {
  const lines = commands.map(({ usage, summary }) => `  ./gw ${usage}\n      ${summary}`);
  return `An inference gateway that speaks the OpenAI API and attaches an environmental receipt to every call.\n\n${lines.join('\n')}\n`;
}
