/** The forgeries that are tried in each run of the tests, as the page of evidence packs shows them. */
import { allForgeries, type Forgery, type Holder, holders, namers } from '@gw/testing/control-plane/forgeries/table';
import { tableOf } from './numbers.ts';

const files: Readonly<Record<Holder, string | null>> = {
  redis: 'redis',
  disk: 'disk',
  extAuthz: 'ext-authz',
  ledger: 'ledger',
  owner: 'owner',
  viewer: null,
};

export function forgeriesTable(): string {
  const rows = allForgeries.map((row) => [
    String(row.number),
    holders[row.holder],
    row.what,
    namedBy(row),
    testOf(row),
  ]);
  return tableOf(['', 'Who holds', 'may', 'Named by', 'Test'], rows);
}

function namedBy({ as, by, limit }: Forgery): string {
  const { withinMs, words } = namers[by];
  if (as === null) return 'nothing: it has no effect';
  const when = withinMs === 0 ? '' : `, within ${withinMs / 1000} s`;
  return `${words}${when}${limit === undefined ? '' : `, ${limit}`}`;
}

function testOf({ holder, tried }: Forgery): string {
  const file = tried?.[0] ?? `control-plane/ledger/forgeries/${files[holder]}.pg.test.ts`;
  return `[${file
    .split('/')
    .at(-1)
    ?.replace(/(\.pg)?\.test\.ts$/, '')}](../${file})`;
}
