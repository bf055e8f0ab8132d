/** Verifies an evidence pack in this browser. */

import { harmless } from '@gw/evidence/harmless';
import { sealWords } from '@gw/evidence/seal-words';
import { type Verdict, verdictOf } from '@gw/evidence/verdict';
import type { PackVerification } from '@gw/evidence/verify';
import { wholeText } from '@gw/evidence/whole-text';
import { Alert, Button, Code, FileInput, Group, Progress, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, must } from '../../../api/client.ts';
import { useAccount } from '../../../api/session.ts';
import { Failed, Failure } from '../../../parts/failure.tsx';
import { type Column, Rows } from '../../../parts/table.tsx';
import { number } from '../../../words/format.ts';
import { words } from '../../../words/verify-words.ts';
import { UnreadableError, verifyInWorker } from './run-worker.ts';

/** A pack that is at hand. */
export interface GivenPack {
  readonly name: string;
  readonly read: () => Promise<Blob>;
}

/** `given`: null, where a file is to be chosen. */
export default function VerifyForm({ given }: { readonly given: GivenPack | null }) {
  const [file, setFile] = useState<File | null>(null);
  const [earlier, setEarlier] = useState<File | null>(null);
  const [thumbprint, setThumbprint] = useState('');
  const [part, setPart] = useState(0);
  const whileShown = useWhileShown();
  const account = useAccount();
  const name = given?.name ?? file?.name ?? '';
  const verify = useMutation({
    mutationFn: async (accountId: string) => {
      setPart(0);
      const pack = given === null ? file : await given.read();
      if (pack === null) throw new TypeError('No pack was chosen.');
      const trust = await trustIn(thumbprint.trim());
      const asked = { pack, earlier, trust, account: accountId };
      return verifyInWorker(asked, { progress: setPart, signal: whileShown() });
    },
  });
  const changed = after(verify.reset);
  const isReady = account.data !== undefined && (given !== null || file !== null);
  return (
    <Stack>
      <Text size="sm">
        The digests, the signature, the proofs and each number with a lineage are made again in this browser, and the
        file goes nowhere. Whoever does not trust this page does the same with ./gw verify FILE.
      </Text>
      <Failed of={account} />
      {given === null && (
        <FileInput
          label="Pack (JSON-LD)"
          placeholder={words.verify.choose}
          accept=".jsonld,.json,application/ld+json,application/json"
          value={file}
          onChange={changed(setFile)}
          required
        />
      )}
      <FileInput
        label="An earlier pack or checkpoint that was kept (may be empty)"
        description="Then it is seen whether anything in front of it was changed. Order the new pack with the tree_size of the earlier one."
        placeholder={words.verify.choose}
        accept=".jsonld,.json,application/ld+json,application/json"
        value={earlier}
        onChange={changed(setEarlier)}
        clearable
      />
      <TextInput
        label="Thumbprint of the key that has to have signed (may be empty)"
        description="Empty: the keys that this gateway publishes at this moment are trusted."
        value={thumbprint}
        onChange={({ currentTarget }) => changed(setThumbprint)(currentTarget.value)}
        spellCheck={false}
      />
      <Fault error={verify.error} name={name} />
      <Group>
        <Button
          loading={verify.isPending}
          disabled={!isReady}
          onClick={() => account.data && verify.mutate(account.data.id)}
        >
          Verify
        </Button>
      </Group>
      {verify.isPending && <Progress value={100 * part} animated aria-label="How much of it was read" />}
      {verify.data && <Findings found={verify.data} />}
    </Stack>
  );
}

/** A result belongs to the files chosen at the time, so another choice clears it. */
const after =
  (reset: () => void) =>
  <T,>(set: (value: T) => void) =>
  (value: T) => {
    reset();
    set(value);
  };

function Fault({ error, name }: { readonly error: Error | null; readonly name: string }) {
  if (!(error instanceof UnreadableError)) return <Failure error={error} />;
  return (
    <Alert color="red" role="alert" style={{ overflowWrap: 'anywhere' }}>
      {error.which === 'pack' ? name : 'The earlier file'} {error.message}
    </Alert>
  );
}

async function trustIn(thumbprint: string) {
  if (thumbprint !== '') return { thumbprint };
  return must(api.GET('/organisation/v1/evidence-keys'));
}

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
  { title: 'Receipt', cell: ({ receipt }) => (receipt === null ? 'the pack' : <Value text={receipt} />) },
  { title: 'Field', cell: ({ field }) => <Value text={field} /> },
  { title: 'Expected', cell: ({ expected }) => <Value text={expected} /> },
  { title: 'Found', cell: ({ found }) => <Value text={found} /> },
];

/** The result of a verification. */
function Findings({ found }: { readonly found: PackVerification }) {
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
        <Rows caption="What does not hold" columns={columns} rows={shown} idOf={({ at }) => String(at)} empty={null} />
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
    `Account ${about.account ?? words.unknown}`,
    `Selection ${about.selection}`,
    ...(about.isFiltered ? ['It is a part of the receipts: that no other belongs to it, the log does not prove.'] : []),
    texts.signatures[signature],
    ...sealWords(found),
    `Versions of receipts: ${number(receipts)}`,
    ...(left.length === 0 ? [] : [`Left out, with a reason: ${number(left.length + (untoldExcluded ?? 0))}`]),
    ...listed(left, untoldExcluded),
    `Numbers made again: ${number(recomputed)}; without a lineage: ${number(receipts - recomputed)}`,
    `Proven to be in the log: ${number(log.proven)}; not in it yet: ${number(receipts - log.proven)}`,
    `Whole: ${wholeText(found)}`,
    ...(log.archived.length === 0 ? [] : [`Archived months: ${log.archived.join(', ')}`]),
    ...(log.fault === null ? [] : [`There are no proofs: ${log.fault}`]),
    ...listed(asked, log.untold),
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

/** Returns what gives a signal that is aborted when the component goes. */
function useWhileShown(): () => AbortSignal {
  const shown = useRef<AbortController>(null);
  useEffect(() => {
    const controller = new AbortController();
    shown.current = controller;
    return () => controller.abort();
  }, []);
  return () => shown.current?.signal ?? AbortSignal.abort();
}
