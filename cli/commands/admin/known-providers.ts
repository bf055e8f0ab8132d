/** The list of well-known providers, from which `providers add --as` takes what is not given. */
import { type KnownProvider, knownProviders } from '@gw/contract/internal/catalogue/known-providers';
import { Problem } from '@gw/stack/problem';
import type { AdminCommand } from './command.ts';
import { table } from './table.ts';

const ids = Object.keys(knownProviders).join(', ');
export const asHelp = `how it is called, from the list of \`providers known\`: ${ids}`;

/** Returns the fields of a new entry: what is given, else what the list says. Throws a Problem that says what is missing. */
export function providerAs(known: string | undefined, given: Readonly<Record<string, unknown>>): object {
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

export const knownCommand: AdminCommand = {
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
