/** `./gw admin credentials list|set|restore|remove`. A credential comes on standard input, never in an argument. */
import type { Page } from './accounts.ts';
import { type AdminCall, type AdminCommand, given } from './command.ts';
import { standardInput } from './standard-input.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/credentials';
const columns = ['name', 'source', 'origin', 'set_at', 'has_previous', 'readable', 'providers'];
const at = ({ arg }: AdminCall): string => `${path}/${encodeURIComponent(arg(0))}`;
const inForce = 'Envoy has it within 3 s; calls that are under way end with the one before.\n';

const usage = './gw admin credentials set <name> < the-file-that-holds-it';

/** `readValue` is for tests. */
export const credentialCommands = (
  readValue: () => Promise<string> = () => standardInput('The credential', usage),
): readonly AdminCommand[] => [
  {
    name: 'credentials list',
    args: [],
    options: {},
    summary: 'credentials of providers: who gives them, where they go, who names them; never what they are',
    run: async ({ api }) => {
      const { data } = (await api.get(path)) as Page;
      return { value: data, text: table(data, columns, 'None.') };
    },
  },
  {
    name: 'credentials set',
    args: ['name'],
    options: { url: 'where it may be sent, if no provider names it yet: https://llm.example.com/v1' },
    summary: 'set or rotate a credential, read from standard input',
    fields: { base_url: 'url' },
    run: async (call) => {
      const { url } = given(call, 'url');
      const body = { value: await readValue(), ...(url === undefined ? {} : { base_url: url }) };
      const value = await call.api.send('PUT', at(call), body);
      return { value, text: card(value as TableRow), note: inForce };
    },
  },
  {
    name: 'credentials restore',
    args: ['name'],
    options: {},
    summary: 'put back the one before, for a rotation that went wrong',
    run: async (call) => {
      const value = await call.api.send('POST', `${at(call)}/restore`);
      return { value, text: card(value as TableRow), note: inForce };
    },
  },
  {
    name: 'credentials remove',
    args: ['name'],
    options: {},
    summary: 'remove a credential that no provider names',
    run: async (call) => {
      const value = await call.api.send('DELETE', at(call));
      return { value, text: card(value as TableRow) };
    },
  },
];
