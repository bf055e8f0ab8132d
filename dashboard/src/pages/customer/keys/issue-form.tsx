import { Button, Checkbox, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useAccount } from '../../../api/account.ts';
import type { Account } from '../../../api/types.ts';
import { Failed, Failure } from '../../../parts/failure.tsx';
import { words } from '../../../words/words.ts';

type Scope = Account['scopes'][number];

export interface WantedKey {
  readonly name: string;
  readonly project: string | null;
  readonly scopes: Scope[];
  readonly expires_at: string | null;
}

export interface IssueFormProps {
  readonly onSubmit: (key: WantedKey) => void;
  readonly isRunning: boolean;
  readonly error: Error | null;
}

const usual: readonly Scope[] = ['inference:read', 'inference:write', 'gw:read'];

export function IssueForm({ onSubmit, isRunning, error }: IssueFormProps) {
  const account = useAccount();
  const [chosen, setChosen] = useState<readonly string[]>(usual);
  // Keys of the tier Audit never expire.
  const mayExpire = account.data !== undefined && account.data.tier !== 'audit';
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string): string => String(form.get(name) ?? '').trim();
    onSubmit({
      name: text('name'),
      project: text('project') || null,
      scopes: (account.data?.scopes ?? usual).filter((scope) => chosen.includes(scope)),
      expires_at: text('expires') ? `${text('expires')}T00:00:00Z` : null,
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          name="name"
          label={words.keys.name}
          description={words.keys.nameHint}
          maxLength={100}
          required
          data-autofocus
        />
        <TextInput name="project" label={words.keys.project} description={words.keys.projectHint} maxLength={64} />
        <Failed of={account} />
        <Checkbox.Group label={words.keys.scopes} value={[...chosen]} onChange={setChosen}>
          <Stack gap={4} mt={4}>
            {(account.data?.scopes ?? []).map((scope) => (
              <Checkbox key={scope} value={scope} label={words.keys.scopeHints[scope]} />
            ))}
          </Stack>
        </Checkbox.Group>
        {mayExpire && (
          <TextInput name="expires" type="date" label={words.keys.expires} description={words.keys.expiresHint} />
        )}
        <Failure error={error} />
        <Button type="submit" loading={isRunning} disabled={chosen.length === 0}>
          {words.keys.issue}
        </Button>
      </Stack>
    </form>
  );
}
