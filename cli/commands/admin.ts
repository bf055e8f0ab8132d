/** `./gw admin …`: the operator API from the shell. Tables for people, `--json` for scripts. */
import { elementAt } from '@gw/contract/internal/defined';
import { stateFolder } from '@gw/stack/checkout';
import { Problem } from '@gw/stack/problem';
import { readRunFile } from '@gw/stack/run-file';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { accountCommands } from './admin/accounts.ts';
import { ApiRefusal, findTarget, type OperatorApi, openOperatorApi } from './admin/api.ts';
import { archiveCommands } from './admin/archive.ts';
import { auditCommands } from './admin/audit.ts';
import { budgetCommands } from './admin/budgets.ts';
import { catalogueCommands } from './admin/catalogue.ts';
import { catalogueFileCommands } from './admin/catalogue-file.ts';
import type { AdminCommand } from './admin/command.ts';
import { credentialCommands } from './admin/credentials.ts';
import { doctorCommands } from './admin/doctor.ts';
import { energyContractCommands } from './admin/energy-contracts.ts';
import { eraseCommands } from './admin/erase.ts';
import { holdCommands } from './admin/holds.ts';
import { integrityCommands } from './admin/integrity.ts';
import { issuerCommands } from './admin/issuers.ts';
import { keyCommands } from './admin/keys.ts';
import { onboardingCommands } from './admin/onboarding.ts';
import { operatorCommands } from './admin/operators.ts';
import { policyCommands } from './admin/policy.ts';
import { priceCommands } from './admin/prices.ts';
import { providerCommands } from './admin/provider-commands.ts';
import { receiptCommands } from './admin/receipts.ts';
import { restoreCommands } from './admin/restore.ts';
import { restoreCheckCommands } from './admin/restore-check.ts';
import { retentionCommands } from './admin/retention.ts';
import { secretCommands } from './admin/secrets.ts';
import { momentCommands } from './admin/this-moment.ts';
import { usageCommands } from './admin/usage.ts';
import { type Ends, openProgram } from './program.ts';

/** In the order in which help shows them. */
const commands: readonly AdminCommand[] = [
  ...onboardingCommands,
  ...accountCommands,
  ...issuerCommands(),
  ...keyCommands,
  ...operatorCommands,
  ...catalogueCommands,
  ...providerCommands,
  ...priceCommands,
  ...energyContractCommands,
  ...catalogueFileCommands,
  ...credentialCommands(),
  ...momentCommands,
  ...policyCommands,
  ...auditCommands,
  ...secretCommands,
  ...doctorCommands,
  ...integrityCommands,
  ...receiptCommands,
  ...restoreCommands,
  ...restoreCheckCommands,
  ...archiveCommands,
  ...usageCommands,
  ...budgetCommands,
  ...holdCommands,
  ...retentionCommands,
  ...eraseCommands,
];

interface Surroundings {
  readonly openApi: () => OperatorApi;
  readonly print: (text: string) => void;
  /** Prints what only people should see, separately from the result. */
  readonly tell: (text: string) => void;
}

const shell: Surroundings = {
  openApi: () => openOperatorApi(findTarget(process.env, readRunFile(stateFolder))),
  print: (text) => void process.stdout.write(text),
  tell: (text) => void process.stderr.write(text),
};

/** For tests, which have their own surroundings. Resolves with the exit code. */
export function runAdmin(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { ends, program, run } = openProgram(surroundings.print);
  addAdminCommands(program.command('admin'), ends, surroundings);
  return run(['admin', ...args]);
}

export function addAdminCommands(admin: Command, ends: Ends, surroundings = shell): void {
  const groupOf = (name: string) => admin.commands.find((each) => each.name() === name) ?? admin.command(name);
  for (const command of commands) {
    const [group = '', verb] = command.name.split(' ');
    const shown = verb === undefined ? groupOf(group) : groupOf(group).command(verb);
    shown.description(command.summary);
    for (const arg of command.args) shown.argument(`<${arg}>`);
    for (const [name, meaning] of Object.entries(command.options)) shown.addOption(optionOf(name, meaning));
    shown.option('--json', 'the result as JSON').action(ends(async () => () => runOne(command, shown, surroundings)));
  }
  for (const group of admin.commands)
    if (group.description() === '') group.description(group.commands.map((each) => each.name()).join(', '));
  admin.addHelpText(
    'after',
    '\nThe address and the token come from .gw/run.json, or from GW_CONTROL_URL and GW_OPERATOR_TOKEN.',
  );
}

/** `!` at the end of the name: it is needed; `*`: it may be repeated. */
function optionOf(name: string, meaning: string): Option {
  const isList = name.endsWith('*');
  const note = isList ? ' (may be repeated)' : name.endsWith('!') ? ' (needed)' : '';
  return new Option(`--${bare(name)} <value>`, meaning + note).argParser((value, before: readonly string[] = []) => {
    if (!isList && before.length > 0) throw new InvalidArgumentError('It is given twice.');
    return [...before, value];
  });
}

async function runOne(command: AdminCommand, shown: Command, { openApi, print, tell }: Surroundings): Promise<number> {
  const all = (name: string): readonly string[] => shown.getOptionValue(attributeOf(name)) ?? [];
  const missing = Object.keys(command.options).filter((name) => name.endsWith('!') && all(bare(name)).length === 0);
  // Commander would complain of these before it looks at options that it does not know, such as one with a slip in it.
  if (missing.length > 0) shown.error(`--${missing.map(bare).join(', --')} is missing, see --help`);
  const call = {
    api: openApi(),
    all,
    arg: (index: number) => elementAt(shown.args, index),
    option: (name: string) => all(name)[0],
    progress: tell,
  };
  const {
    exitCode = 0,
    note = '',
    text,
    value,
  } = await command.run(call).catch((error: unknown) => Promise.reject(inOptions(error, command)));
  const { json = false } = shown.opts<{ json?: boolean }>();
  print(json ? `${JSON.stringify(value, null, 2)}\n` : text);
  if (!json) tell(note);
  return exitCode;
}

/** The API names its fields; whoever sits at a shell knows options. */
function inOptions(error: unknown, { fields = {}, options }: AdminCommand): unknown {
  if (!(error instanceof ApiRefusal) || error.param === null) return error;
  const field = /^\w+/.exec(error.param)?.[0] ?? '';
  const option = fields[field] ?? field.replaceAll('_', '-');
  const [, meaning] = Object.entries(options).find(([name]) => bare(name) === option) ?? [];
  return meaning === undefined ? error : new Problem(`${error.message} The option is --${option}: ${meaning}.`);
}

const bare = (name: string): string => name.replace(/[!*]$/, '');
const attributeOf = (name: string): string => new Option(`--${name}`).attributeName();
