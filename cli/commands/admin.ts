/** `./gw admin …`: the operator API from the shell. Tables for people, `--json` for scripts. */
import { parseArgs } from 'node:util';
import { elementAt } from '@gw/contract/internal/defined';
import { stateFolder } from '@gw/stack/checkout';
import { Problem } from '@gw/stack/problem';
import { readRunFile } from '@gw/stack/run-file';
import { accountCommands } from './admin/accounts.ts';
import { ApiRefusal, findTarget, type OperatorApi, openOperatorApi } from './admin/api.ts';
import { auditCommands } from './admin/audit.ts';
import { budgetCommands } from './admin/budgets.ts';
import { catalogueCommands } from './admin/catalogue.ts';
import { catalogueFileCommands } from './admin/catalogue-file.ts';
import type { AdminCall, AdminCommand } from './admin/command.ts';
import { credentialCommands } from './admin/credentials.ts';
import { energyContractCommands } from './admin/energy-contracts.ts';
import { keyCommands } from './admin/keys.ts';
import { onboardingCommands } from './admin/onboarding.ts';
import { operatorCommands } from './admin/operators.ts';
import { policyCommands } from './admin/policy.ts';
import { priceCommands } from './admin/prices.ts';
import { providerCommands } from './admin/provider-commands.ts';
import { receiptCommands } from './admin/receipts.ts';
import { momentCommands } from './admin/this-moment.ts';
import { usageCommands } from './admin/usage.ts';

/** In the order in which help shows them. */
const commands: readonly AdminCommand[] = [
  ...onboardingCommands,
  ...accountCommands,
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
  ...receiptCommands,
  ...usageCommands,
  ...budgetCommands,
];

export const admin = (args: readonly string[]): Promise<number> =>
  runAdmin(args, {
    openApi: () => openOperatorApi(findTarget(process.env, readRunFile(stateFolder))),
    print: (text) => void process.stdout.write(text),
    tell: (text) => void process.stderr.write(text),
  });

interface Surroundings {
  readonly openApi: () => OperatorApi;
  readonly print: (text: string) => void;
  /** What is for people alone, beside the result. */
  readonly tell: (text: string) => void;
}

/** Resolves with the exit code. */
export async function runAdmin(args: readonly string[], { openApi, print, tell }: Surroundings): Promise<number> {
  const [group = 'help', verb = ''] = args;
  if (group === 'help' || args.includes('--help') || args.includes('-h')) {
    print(overview(group));
    return 0;
  }
  const command = commands.find(({ name }) => name === `${group} ${verb}` || name === group);
  if (!command) throw new Problem(`There is no command "admin ${`${group} ${verb}`.trim()}".\n${overview(group)}`);
  const { json, ...call } = readCall(command, args.slice(command.name.split(' ').length));
  const {
    exitCode = 0,
    note = '',
    text,
    value,
  } = await command
    .run({ api: openApi(), ...call })
    .catch((error: unknown) => Promise.reject(inOptions(error, command)));
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

type Parsed = Omit<AdminCall, 'api'>;

/** Throws a Problem that shows the usage if something is missing. */
function readCall(command: AdminCommand, args: readonly string[]): Parsed & { readonly json: boolean } {
  const names = Object.keys(command.options);
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      ...Object.fromEntries(names.map((name) => [bare(name), { type: 'string', multiple: true } as const])),
    },
  });
  const { json = false, ...lists } = values;
  const given: Readonly<Record<string, readonly string[] | undefined>> = lists;
  const missing = names.filter((name) => name.endsWith('!') && given[bare(name)] === undefined).map(bare);
  const twice = names.filter((name) => !name.endsWith('*') && (given[bare(name)]?.length ?? 0) > 1).map(bare);
  if (positionals.length !== command.args.length || missing.length > 0 || twice.length > 0)
    throw new Problem(`Usage: ./gw admin ${usage(command)}`);
  return {
    json,
    arg: (index) => elementAt(positionals, index),
    option: (name) => given[name]?.[0],
    all: (name) => given[name] ?? [],
  };
}

const bare = (name: string): string => name.replace(/[!*]$/, '');

function usage({ args, name, options }: AdminCommand): string {
  const shown = Object.keys(options).map((option) =>
    option.endsWith('!') ? `--${bare(option)} …` : `[--${bare(option)} …]${option.endsWith('*') ? '…' : ''}`,
  );
  return [name, ...args.map((arg) => `<${arg}>`), ...shown].join(' ');
}

/** All commands, or those of one group with their options. */
function overview(group: string): string {
  const own = commands.filter(({ name }) => `${name} `.startsWith(`${group} `));
  const lines = (own.length > 0 ? own : commands).flatMap((command) => [
    `  ./gw admin ${usage(command)}`,
    `      ${command.summary}`,
    ...(own.length > 0 ? Object.entries(command.options) : []).map(([name, text]) => `      --${bare(name)}: ${text}`),
  ]);
  return `${lines.join('\n')}\n\nAll take --json. The address and the token come from .gw/run.json, or from GW_CONTROL_URL and GW_OPERATOR_TOKEN.\n`;
}
