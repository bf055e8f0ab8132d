/** Verifies an evidence pack in this browser. */
import { Alert, Button, FileInput, Group, Progress, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccount } from '../../../api/account.ts';
import { api, must } from '../../../api/client.ts';
import { Failed, Failure } from '../../../parts/failure.tsx';
import { useWhileShown } from '../../../parts/use-while-shown.ts';
import { words } from '../../../words/verify-words.ts';
import { Findings } from './findings.tsx';
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
      <Text size="sm">{words.verify.hint}</Text>
      <Failed of={account} />
      {given === null && (
        <FileInput
          label={words.verify.pack}
          placeholder={words.verify.choose}
          accept=".jsonld,.json,application/ld+json,application/json"
          value={file}
          onChange={changed(setFile)}
          required
        />
      )}
      <FileInput
        label={words.verify.earlier}
        description={words.verify.earlierHint}
        placeholder={words.verify.choose}
        accept=".jsonld,.json,application/ld+json,application/json"
        value={earlier}
        onChange={changed(setEarlier)}
        clearable
      />
      <TextInput
        label={words.verify.thumbprint}
        description={words.verify.thumbprintHint}
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
          {words.verify.run}
        </Button>
      </Group>
      {verify.isPending && <Progress value={100 * part} animated aria-label={words.verify.running} />}
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
      {words.verify.unreadable(error.which === 'pack' ? name : words.verify.theEarlier, error.message)}
    </Alert>
  );
}

async function trustIn(thumbprint: string) {
  if (thumbprint !== '') return { thumbprint };
  return must(api.GET('/organisation/v1/evidence-keys'));
}
