/** `./gw admin models|regions|providers|deployments|aliases list|show|add|set|remove`. */

import { type KnownProvider, knownProviders } from '@gw/contract/internal/catalogue/known-providers';
import { Problem } from '@gw/stack/problem';
import { z } from 'zod';
import type { Page } from './accounts.ts';
import {
  aliasGroup,
  type CatalogueGroup,
  deploymentGroup,
  modelGroup,
  providerGroup,
  regionGroup,
  type ShellField,
} from './catalogue-fields.ts';
import type { AdminCall, AdminCommand, AdminResult } from './command.ts';
import { card, type TableRow, table } from './table.ts';

const ids = Object.keys(knownProviders).join(', ');
/** The list of well-known providers, from which `providers add --as` takes what is not given. */
const asHelp = `how it is called, from the list of \`providers known\`: ${ids}`;

/** Returns the fields of a new entry: what is given, else what the list says. Throws a Problem that says what is missing. */
function providerAs(known: string | undefined, given: Readonly<Record<string, unknown>>): object {
  const { example, source: _, ...fields } = known === undefined ? noFields : knownProvider(known);
  const listed = isAtRoot(given.base_url) ? fields : { ...fields, health_path: undefined };
  const body: Readonly<Record<string, unknown>> = { ...listed, ...given };
  if (body.base_url === undefined)
    throw new Problem(`--url is missing${example === undefined ? '' : `: it is like ${example}`}.`);
  if (body.name === undefined) throw new Problem('--name is missing.');
  return body;
}

/** Whether what the list says of a path of its own holds: a proxy in front has the endpoint under another one, and not that. */
const isAtRoot = (url: unknown): boolean =>
  typeof url !== 'string' || !URL.canParse(url) || /^\/(v1\/?)?$/.test(new URL(url).pathname);

const noFields: Partial<KnownProvider> = {};

function knownProvider(id: string): Partial<KnownProvider> {
  const found = Object.hasOwn(knownProviders, id) ? knownProviders[id] : undefined;
  if (!found) throw new Problem(`--as takes one of ${ids}.`);
  // A header without a credential is asked for by nobody: `providers add` says when one is missing.
  return found;
}

const knownCommand: AdminCommand = {
  name: 'providers known',
  args: [],
  options: {},
  summary: 'well-known providers, for providers add --as',
  run: async () => {
    const rows = Object.entries(knownProviders).map(([id, { base_url, example, name, path }]) => ({
      id,
      name,
      url: base_url ?? example,
      path: path ?? null,
    }));
    return { value: knownProviders, text: table(rows, ['id', 'name', 'url', 'path'], 'None.') };
  },
};

const pathOf = ({ name }: CatalogueGroup): string => `/operator/v1/${name}`;

/** A deployment's models are no single value: each is named by an option of its own. */
const offers = (group: CatalogueGroup): boolean => group === deploymentGroup;
/** Well-known providers fill in what is not given. */
const isKnown = (group: CatalogueGroup): boolean => group === providerGroup;
const offerHelp = 'a model that it serves: id, or id=name that the provider knows it by';

function bodyOf(group: CatalogueGroup, call: AdminCall): Record<string, unknown> {
  const body = group.fields.flatMap(({ field, option, read }) => {
    const given = call.option(option);
    return given === undefined ? [] : [[field, read(given, option)]];
  });
  return { ...Object.fromEntries(body), ...offerOf(call) };
}

function offerOf(call: AdminCall): object {
  const served = call.all('model').map((given) => {
    const [id = '', ...name] = given.split('=');
    return [id, name.length === 0 ? id : name.join('=')];
  });
  const withdrawn = call.all('without').map((id) => [id, null]);
  const models = [...served, ...withdrawn];
  return models.length === 0 ? {} : { models: Object.fromEntries(models) };
}

const helpOf = (fields: readonly ShellField[], mark: (field: ShellField) => string): Record<string, string> =>
  Object.fromEntries(fields.map((field) => [`${field.option}${mark(field)}`, field.help]));

const optionsOf = ({ fields }: CatalogueGroup): Record<string, string> =>
  Object.fromEntries(fields.map(({ field, option }) => [field, option]));

/** Beside the table: a script that reads it meets nothing else. */
const warningsOf = (group: CatalogueGroup, entry: TableRow): string[] =>
  (entry.warnings as readonly string[]).map((warning) => `Warning: ${entry[group.idField]}: ${warning}\n`);

const lastChangeSchema = z.object({ catalogue_version: z.int(), changed_at: z.string(), changed_by: z.string() });

/** Who vouches for the entry; nothing of kinds that no number rests on. */
function lastChangeOf(change: unknown): TableRow {
  if (change === undefined) return {};
  const { data } = lastChangeSchema.safeParse(change);
  if (data === undefined) return { last_change: 'not known' };
  return {
    last_change: `${data.changed_at} by ${data.changed_by}, version ${data.catalogue_version} of the catalogue`,
  };
}

function shown(group: CatalogueGroup, value: unknown): AdminResult {
  const { last_change: change, warnings: _, ...entry } = group.shown(value as TableRow);
  return {
    value,
    text: card({ ...entry, ...lastChangeOf(change) }),
    note: warningsOf(group, value as TableRow).join(''),
  };
}

function listed(group: CatalogueGroup, { data }: Page): AdminResult {
  const note = data.flatMap((entry) => warningsOf(group, entry)).join('');
  return { value: data, text: table(data.map(group.shown), group.columns, 'None.'), note };
}

function groupCommands(group: CatalogueGroup): readonly AdminCommand[] {
  const { idField, name } = group;
  const path = pathOf(group);
  const one = group.one.replace(/^an? /, '');
  const at = ({ arg }: AdminCall): string => `${path}/${encodeURIComponent(arg(0))}`;
  return [
    {
      name: `${name} list`,
      args: [],
      options: {},
      summary: `${name} of the catalogue`,
      run: async ({ api }) => listed(group, (await api.get(path)) as Page),
    },
    {
      name: `${name} show`,
      args: [one],
      options: {},
      summary: `one ${one}`,
      run: async (call) => shown(group, await call.api.get(at(call))),
    },
    {
      name: `${name} add`,
      args: [one],
      options: {
        ...helpOf(group.fields, ({ needed }) => (needed && !isKnown(group) ? '!' : '')),
        ...(offers(group) ? { 'model*': offerHelp } : {}),
        ...(isKnown(group) ? { as: asHelp } : {}),
      },
      summary: `add ${group.one}`,
      fields: optionsOf(group),
      run: async (call) => {
        const given = { [idField]: call.arg(0), ...(offers(group) ? { models: {} } : {}), ...bodyOf(group, call) };
        const body = isKnown(group) ? providerAs(call.option('as'), given) : given;
        return shown(group, await call.api.send('POST', path, body));
      },
    },
    {
      name: `${name} set`,
      args: [one],
      options: {
        ...helpOf(group.fields, () => ''),
        ...(offers(group) ? { 'model*': offerHelp, 'without*': 'a model that it serves no more' } : {}),
      },
      summary: `change ${group.one}; what is not named stays`,
      fields: optionsOf(group),
      run: async (call) => {
        const body = bodyOf(group, call);
        if (Object.keys(body).length === 0) throw new Problem(`Nothing to change: ./gw admin ${name} --help.`);
        return shown(group, await call.api.send('PATCH', at(call), body));
      },
    },
    {
      name: `${name} remove`,
      args: [one],
      options: {},
      summary: `remove ${group.one} that nothing refers to`,
      run: async (call) => {
        const value = await call.api.send('DELETE', at(call));
        return { value, text: card(value as TableRow) };
      },
    },
  ];
}

export const catalogueCommands: readonly AdminCommand[] = [
  ...[modelGroup, regionGroup, providerGroup, deploymentGroup, aliasGroup].flatMap(groupCommands),
  knownCommand,
];
