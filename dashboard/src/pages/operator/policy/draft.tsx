/** A set of rules that nobody is screened by yet: written or read from a file, tried, and published by an admin. */
import { Button, FileButton, Group, Stack, Text, Textarea } from '@mantine/core';
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { usePolicy } from '../../../api/operator-queries.ts';
import { Failed } from '../../../parts/failure.tsx';
import { words } from '../../../words/operator-words.ts';
import { readDraft } from './parse.ts';
import { Publish } from './publish.tsx';
import { TryRules } from './try-rules.tsx';

export function Draft({ mayChange }: { readonly mayChange: boolean }) {
  const [written, setWritten] = useDraft();
  const [isPublishing, setIsPublishing] = useState(false);
  const policy = usePolicy();
  const holding = policy.data?.version ?? null;
  const write = (text: string) =>
    setWritten(text.trim() === '' ? nothingWritten : { text, begunAt: written.begunAt ?? holding });
  const isEmpty = written.text === '';
  const draft = readDraft(written.text);
  const basedOn = draft?.version ?? written.begunAt;
  const origin = draft?.version == null ? words.policy.begunAt : words.policy.basedOn;
  return (
    <Stack>
      <Failed of={policy} />
      <Text size="sm">
        A draft is a whole set of rules as JSON: a list of rules, or what ./gw admin policy show --json gives. It is in
        this window alone until you publish it, and gone when you close or reload it, or log out.
      </Text>
      <Sources holding={policy.data?.rules} onRead={write} />
      <Textarea
        label="Rules as JSON"
        description={isEmpty || basedOn === null ? 'Empty: the rules that hold are tried.' : origin(basedOn)}
        rows={14}
        value={written.text}
        onChange={({ currentTarget }) => write(currentTarget.value)}
        error={!isEmpty && draft === null && 'This is not a list of rules as JSON.'}
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
          title="Publish the draft"
          set={{ rules: draft.rules }}
          basedOn={basedOn}
          onDone={() => setWritten(nothingWritten)}
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

/** The texts that a draft can begin with. */
function Sources({ holding, onRead }: SourcesProps) {
  const reset = useRef<() => void>(null);
  const read = async (file: File | null) => {
    if (file !== null) onRead(await file.text());
    // The same file can be chosen again, after it was changed.
    reset.current?.();
  };
  return (
    <Group>
      <Button
        variant="default"
        disabled={holding === undefined}
        onClick={() => onRead(JSON.stringify(holding, null, 2))}
      >
        Begin with the rules that hold
      </Button>
      <FileButton accept="application/json,.json" onChange={read} resetRef={reset}>
        {(props) => (
          <Button variant="default" {...props}>
            Read a file
          </Button>
        )}
      </FileButton>
    </Group>
  );
}

interface Written {
  readonly text: string;
  /** The version that held when the draft was begun; null if there is no draft. */
  readonly begunAt: number | null;
}

/** The draft of rules that somebody works on. It stays while they look at other pages, and goes when they log out. */
const nothingWritten: Written = { text: '', begunAt: null };
const queryKey = ['draft of rules'];

/** Kept with what was read, which is forgotten when somebody else logs in. */
function useDraft(): readonly [Written, (next: Written) => void] {
  const queries = useQueryClient();
  const { data = nothingWritten } = useQuery<Written>({
    queryKey,
    queryFn: skipToken,
    gcTime: Number.POSITIVE_INFINITY,
  });
  return [data, (next) => void queries.setQueryData(queryKey, next)];
}
