/** The command line as commander reads it: its help, its complaints and its exit code in our way. */
import { Problem } from '@gw/stack/problem';
import { Command, CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };

type Action = Parameters<Command['action']>[0];

/** A program without commands. `print` is given the help that was asked for. */
export function openProgram(print: (text: string) => unknown) {
  let exitCode = 0;
  let complaint = '';
  const writeErr = (text: string) => {
    complaint += text;
  };
  const program = new Command('gw')
    .description('An inference gateway that speaks the OpenAI API and attaches an environmental receipt to every call.')
    .version(manifest.version)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: (text) => void print(text), writeErr });
  return {
    program,
    /** Makes an action that loads a command, runs it with what commander has read, and keeps the exit code that it resolves with. */
    ends:
      (load: () => Promise<(...given: never[]) => Promise<number>>): Action =>
      async (...given) => {
        const command = await load();
        exitCode = await command(...(given as never[]));
      },
    async run(args: readonly string[]): Promise<number> {
      const isListWanted = args.length === 0 || args.join() === 'admin';
      try {
        await program.parseAsync(isListWanted ? [...args, 'help'] : args, { from: 'user' });
        return exitCode;
      } catch (error) {
        if (!(error instanceof CommanderError)) throw error;
        if (error.exitCode === 0) return 0;
        throw new Problem(
          complaint
            .trim()
            .replace(/^error: /, '')
            .replace('\n(Did', ' (Did'),
        );
      }
    },
  };
}

export type Program = ReturnType<typeof openProgram>;
export type Ends = Program['ends'];
