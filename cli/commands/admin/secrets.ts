/** `./gw admin secrets`: what each secret is for, and whether the one in use fits the stored data. */
import type { Page } from './accounts.ts';
import type { AdminCall, AdminCommand } from './command.ts';
import { card, type TableRow } from './table.ts';

export const secretCommands: readonly AdminCommand[] = [
  {
    name: 'secrets',
    args: [],
    options: {},
    summary:
      'for each secret: whether it fits the stored data, who has it, how it is rotated, and what its loss costs; exit code 1 if one does not fit',
    run: show,
  },
];

async function show({ api }: AdminCall) {
  const { data } = (await api.get('/operator/v1/secrets')) as Page;
  const cards = data.map(({ id, object: _, ...facts }) => `${id}\n${indented(card(facts))}`);
  const unfit = data.filter(({ verdict }) => verdict === 'does_not_fit').map(({ id }) => id);
  const judged =
    unfit.length === 0
      ? 'No secret contradicts the stored data.\n'
      : `${unfit.join(', ')}: not the secret of the stored data. Set the right one and restart; docs/secrets.md says how.\n`;
  return {
    value: data as readonly TableRow[],
    text: `${cards.join('\n')}\n${judged}`,
    exitCode: unfit.length === 0 ? 0 : 1,
  };
}

const indented = (text: string): string => text.replace(/^(?=.)/gm, '  ');
