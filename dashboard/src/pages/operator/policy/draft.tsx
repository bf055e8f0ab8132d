/** A set of rules that nobody is screened by yet: written or read from a file, tried, and published by an admin. */
import { Button, FileButton, Group, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { usePolicy } from '../../../api/policy.ts';
import { Failed } from '../../../parts/failure.tsx';
import { words } from '../../../words/operator-words.ts';
import { Publish } from './publish.tsx';
import { readDraft } from './read-draft.ts';
import { TryRules } from './try-rules.tsx';
import type { ViewProps } from './view-props.ts';

interface Written {
  readonly text: string;
  /** The version that held when the draft was begun. */
  readonly begunAt: number | null;
}
const nothing: Written = { text: '', begunAt: null };

export function Draft({ mayChange }: ViewProps) {
  const [written, setWritten] = useState(nothing);
  const [isPublishing, setIsPublishing] = useState(false);
  const policy = usePolicy();
  const holding = policy.data?.version ?? null;
  const write = (text: string) =>
    setWritten(({ begunAt }) => (text.trim() === '' ? nothing : { text, begunAt: begunAt ?? holding }));
  const isEmpty = written.text === '';
  const draft = readDraft(written.text);
  const basedOn = draft?.version ?? written.begunAt;
  return (
    <Stack>
      <Failed of={policy} />
      <Text size="sm">{words.policy.draftHint}</Text>
      <Sources holding={policy.data?.rules} onRead={write} />
      <Textarea
        label={words.policy.draft}
        description={isEmpty || basedOn === null ? words.policy.draftEmpty : words.policy.basedOn(basedOn)}
        rows={14}
        value={written.text}
        onChange={({ currentTarget }) => write(currentTarget.value)}
        error={!isEmpty && draft === null && words.policy.draftWrong}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      />
      {mayChange && (
        <Group>
          <Button disabled={draft === null || basedOn === null} onClick={() => setIsPublishing(true)}>
            {words.policy.publish}
          </Button>
        </Group>
      )}
      <TryRules isReady={isEmpty || draft !== null} rules={draft?.rules} />
      {isPublishing && draft && basedOn !== null && (
        <Publish
          title={words.policy.publishTitle}
          set={{ rules: draft.rules }}
          basedOn={basedOn}
          onDone={() => setWritten(nothing)}
          onClose={() => setIsPublishing(false)}
        />
      )}
    </Stack>
  );
}

interface SourcesProps {
  readonly holding: readonly object[] | undefined;
  readonly onRead: (text: string) => void;
}

/** What a draft can begin with. */
function Sources({ holding, onRead }: SourcesProps) {
  const read = async (file: File | null) => {
    if (file !== null) onRead(await file.text());
  };
  return (
    <Group>
      <Button
        variant="default"
        disabled={holding === undefined}
        onClick={() => onRead(JSON.stringify(holding, null, 2))}
      >
        {words.policy.fromHolding}
      </Button>
      <FileButton accept="application/json,.json" onChange={read}>
        {(props) => (
          <Button variant="default" {...props}>
            {words.policy.fromFile}
          </Button>
        )}
      </FileButton>
    </Group>
  );
}
