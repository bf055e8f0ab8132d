/** `./gw admin policy …`: the rules that requests are screened by, and who is exempt from which. */
import { Problem } from '@gw/stack/problem';
import { yesOrNo } from './catalogue-fields.ts';
import { type AdminCall, type AdminCommand, type AdminResult, given } from './command.ts';
import { everyPage } from './every-page.ts';
import { card, type TableRow, table } from './table.ts';
import { readTextFile } from './text-file.ts';

const path = '/operator/v1/policy';
const versionColumns = ['version', 'created_at', 'created_by', 'rule_count', 'sha256', 'note'];
const ruleColumns = ['id', 'screen', 'action', 'enabled', 'kind', 'size', 'title'];
const exemptionColumns = ['account_id', 'rule_id', 'created_at', 'created_by', 'reason'];
const sampleColumns = ['sample', 'outcome', 'code', 'rule', 'action', 'exempt'];

type Rules = readonly (TableRow & { readonly phrases?: readonly string[] })[];

/** The head of a version and its rules. */
function shown(value: unknown): AdminResult {
  const { object: _, rules, ...head } = value as TableRow & { readonly rules: Rules };
  const rows = rules.map((rule) => ({ ...rule, size: rule.phrases?.length ?? 1 }));
  return { value, text: `${card(head)}\n${table(rows, ruleColumns, 'No rules: nothing is screened.')}` };
}

const plain = (value: unknown): AdminResult => ({ value, text: card(value as TableRow) });

async function show(call: AdminCall): Promise<AdminResult> {
  const version = call.option('version');
  if (version === undefined) return shown(await call.api.get(path));
  const at = version === 'defaults' ? 'defaults' : `versions/${encodeURIComponent(version)}`;
  return shown(await call.api.get(`${path}/${at}`));
}

async function publish(call: AdminCall): Promise<AdminResult> {
  const { rules, version } = readRules(call.arg(0));
  const basedOn = call.option('based-on') ?? version;
  if (basedOn === undefined)
    throw new Problem('The file does not say from which version its rules were made: give --based-on.');
  const body = { based_on: Number(basedOn), rules, ...given(call, 'note') };
  return shown(await call.api.send('POST', `${path}/versions`, body));
}

async function rollBack(call: AdminCall): Promise<AdminResult> {
  const { version } = (await call.api.get(path)) as { readonly version: number };
  const body = { based_on: version, version: Number(call.arg(0)), ...given(call, 'note') };
  return shown(await call.api.send('POST', `${path}/versions`, body));
}

async function set(call: AdminCall): Promise<AdminResult> {
  const enabled = call.option('enabled');
  const change = {
    ...given(call, 'action'),
    ...(enabled === undefined ? {} : { enabled: yesOrNo(enabled, 'enabled') }),
  };
  if (Object.keys(change).length === 0) throw new Problem('Nothing to change: give --enabled or --action.');
  const at = `${path}/rules/${encodeURIComponent(call.arg(0))}`;
  return shown(await call.api.send('PATCH', at, { ...change, ...given(call, 'note') }));
}

interface DryRun {
  readonly rules: TableRow & { readonly changes: TableRow };
  readonly samples: readonly {
    readonly name: string;
    readonly outcome: string;
    readonly code: string | null;
    readonly matches: readonly TableRow[];
  }[];
}

async function dryRun(call: AdminCall): Promise<AdminResult> {
  const rules = call.option('rules');
  const version = call.option('version');
  const body = {
    ...(rules === undefined ? {} : { rules: readRules(rules).rules }),
    ...(version === undefined ? {} : { version: Number(version) }),
    ...(call.option('account') === undefined ? {} : { account_id: call.option('account') }),
    samples: [
      ...call.all('text').map((text, at) => ({ name: `text ${at + 1}`, text })),
      ...call.all('text-file').map((file) => ({ name: file, text: readTextFile(file) })),
      ...call.all('body').map((file) => ({ name: file, body: readJsonFile(file) })),
    ],
  };
  const value = (await call.api.send('POST', `${path}/dry-run`, body)) as DryRun;
  const rows = value.samples.flatMap(({ code, matches, name, outcome }) => {
    return (matches.length === 0 ? [{}] : matches).map((match) => ({ sample: name, outcome, code, ...match }));
  });
  return { value, text: `${card(value.rules)}\n${table(rows, sampleColumns, 'No samples.')}` };
}

async function exempt(call: AdminCall): Promise<AdminResult> {
  const [account_id, rule_id] = [call.arg(0), call.arg(1)];
  return plain(await call.api.send('POST', `${path}/exemptions`, { account_id, rule_id, ...given(call, 'reason') }));
}

const unexempt = async ({ api, arg }: AdminCall): Promise<AdminResult> =>
  plain(await api.send('DELETE', `${path}/exemptions/${[arg(0), arg(1)].map(encodeURIComponent).join('/')}`));

const note = { 'note!': 'what for; it stands with the version and in the audit log of the operators' };

export const policyCommands: readonly AdminCommand[] = [
  {
    name: 'policy show',
    args: [],
    options: { version: 'an older one, or: defaults, for the rules that this release came with' },
    summary: 'the rules that requests are screened by; --json gives them in the form that publish takes',
    run: show,
  },
  {
    name: 'policy versions',
    args: [],
    options: {},
    summary: 'all versions of the rules, newest first; the first is in force',
    run: async ({ api }) => {
      const data = await everyPage(api, `${path}/versions`);
      return { value: data, text: table(data, versionColumns) };
    },
  },
  {
    name: 'policy dry-run',
    args: [],
    options: {
      rules: 'a file with rules in place of those in force',
      version: 'an older version in place of the one in force',
      account: 'with the exemptions of this account',
      'text*': 'a text to try them on',
      'text-file*': 'a file with a text to try them on',
      'body*': 'a file with the body of a request, as a client would send it',
    },
    summary: 'check rules and try them on samples; nothing is published, stored or logged',
    run: dryRun,
  },
  {
    name: 'policy publish',
    args: ['file'],
    options: { ...note, 'based-on': 'the version that they were made from, unless the file says so' },
    summary: 'put a whole set of rules into force',
    run: publish,
  },
  {
    name: 'policy roll-back',
    args: ['version'],
    options: note,
    summary: 'publish the rules of an older version again',
    run: rollBack,
  },
  {
    name: 'policy set',
    args: ['rule'],
    options: { ...note, enabled: 'yes or no', action: 'block or flag' },
    summary: 'change one rule and publish the set',
    run: set,
  },
  {
    name: 'policy exemptions',
    args: [],
    options: { account: 'of one account' },
    summary: 'rules that do not hold for an account',
    run: async (call) => {
      const account = call.option('account');
      const data = await everyPage(
        call.api,
        `${path}/exemptions`,
        account === undefined ? {} : { account_id: account },
      );
      return { value: data, text: table(data, exemptionColumns, 'None.') };
    },
  },
  {
    name: 'policy exempt',
    args: ['account', 'rule'],
    options: { 'reason!': 'why; it stands in the audit log, which the customer can read' },
    summary: 'let a rule not hold for an account',
    run: exempt,
  },
  {
    name: 'policy unexempt',
    args: ['account', 'rule'],
    options: {},
    summary: 'let it hold again',
    run: unexempt,
  },
];

/** Rules and samples as they come from files. What they hold is judged by the operator API alone. */
function readJsonFile(file: string): unknown {
  const text = readTextFile(file);
  try {
    return JSON.parse(text);
  } catch {
    // The parser quotes what it has met, and that may be somebody's text.
    throw new Problem(`${file} is not JSON.`);
  }
}

/** A list of rules, or what `policy show --json` has printed. */
function readRules(file: string): { readonly rules: unknown; readonly version?: unknown } {
  const value = readJsonFile(file);
  if (Array.isArray(value)) return { rules: value };
  if (typeof value === 'object' && value !== null && 'rules' in value && Array.isArray(value.rules))
    return { rules: value.rules, ...('version' in value ? { version: value.version } : {}) };
  throw new Problem(`${file} holds neither a list of rules nor an object with "rules".`);
}
