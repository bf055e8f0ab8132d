import { Button, Stack, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import { Failure } from '../../../parts/failure.tsx';
import { words } from '../../../words/words.ts';

export interface IssueFormProps {
  readonly onSubmit: (key: { name: string; project: string | null }) => void;
  readonly isRunning: boolean;
  readonly error: Error | null;
}

export function IssueForm({ onSubmit, isRunning, error }: IssueFormProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    onSubmit({ name: String(form.get('name')), project: String(form.get('project')).trim() || null });
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
        <Failure error={error} />
        <Button type="submit" loading={isRunning}>
          {words.keys.issue}
        </Button>
      </Stack>
    </form>
  );
}
