import { harmless } from '@gw/evidence/harmless';
import { type Verdict, verdictOf } from '@gw/evidence/verdict';
import type { PackVerification } from '@gw/evidence/verify';
import { Alert, Code, Stack, Text } from '@mantine/core';
import { type Column, Rows } from '../../../parts/table.tsx';
import { number } from '../../../words/format.ts';
import { words } from '../../../words/verify-words.ts';

const texts = words.verify;
const colors: Readonly<Record<Verdict, string>> = {
  holds: 'green',
  fails: 'red',
  unauthenticated: 'orange',
  ask: 'orange',
};
/** How much of each list is shown; `./gw verify --json` has more. */
const mostShown = 50;

type Mismatch = PackVerification['mismatches'][number] & { readonly at: number };

const columns: readonly Column<Mismatch>[] = [
  { title: texts.where, cell: ({ receipt }) => (receipt === null ? texts.wholePack : <Value text={receipt} />) },
  { title: texts.field, cell: ({ field }) => <Value text={field} /> },
  { title: texts.expected, cell: ({ expected }) => <Value text={expected} /> },
  { title: texts.found, cell: ({ found }) => <Value text={found} /> },
];

/** The result of a verification. */
export function Findings({ found }: { readonly found: PackVerification }) {
  const verdict = verdictOf(found);
  const { mismatches, untold = 0 } = found;
  const shown = mismatches.slice(0, mostShown).map((each, at) => ({ ...each, at }));
  const more = mismatches.length + untold - shown.length;
  return (
    <Stack>
      <Alert color={colors[verdict]} title={texts.verdicts[verdict]} role="status">
        <Stack gap={2}>
          {linesOf(found).map((line, at) => (
            <Text key={at} size="sm" style={{ overflowWrap: 'anywhere' }}>
              {harmless(line)}
            </Text>
          ))}
        </Stack>
      </Alert>
      {shown.length > 0 && (
        <Rows caption={texts.mismatches} columns={columns} rows={shown} idOf={({ at }) => String(at)} empty={null} />
      )}
      {more > 0 && <Text size="sm">{texts.more(number(more))}</Text>}
    </Stack>
  );
}

function linesOf(found: PackVerification): string[] {
  const { about, excluded, log, receipts, recomputed, signature, untoldExcluded } = found;
  const left = excluded.map(({ reason, receipt_id, version }) =>
    texts.excludedFor(`${receipt_id} ${version ?? ''}`.trim(), reason),
  );
  const asked = [...log.late.map(texts.late), ...log.unlogged.map(texts.unlogged), ...log.changed.map(texts.changed)];
  return [
    texts.account(about.account ?? words.unknown),
    texts.selection(about.selection),
    ...(about.isFiltered ? [texts.filtered] : []),
    texts.signatures[signature],
    texts.receipts(number(receipts)),
    ...(left.length === 0 ? [] : [texts.excluded(number(left.length + (untoldExcluded ?? 0)))]),
    ...listed(left, untoldExcluded),
    texts.numbers(number(recomputed), number(receipts - recomputed)),
    texts.log(number(log.proven), number(receipts - log.proven)),
    ...(log.fault === null ? [] : [texts.noProofs(log.fault)]),
    ...listed(asked, log.untold),
    ...listed(log.gaps.map(([from, to]) => texts.gap(number(from), number(to)))),
  ];
}

/** `untold`: how many more there are that are not in the list. */
function listed(lines: readonly string[], untold = 0): string[] {
  const more = lines.length + untold - mostShown;
  return [...lines.slice(0, mostShown), ...(more > 0 ? [texts.more(number(more))] : [])];
}

const Value = ({ text }: { readonly text: string }) => (
  <Code style={{ overflowWrap: 'anywhere' }}>{harmless(text)}</Code>
);
