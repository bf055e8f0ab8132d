/** Asks before something is done that hurts, and does it. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { words } from '../words/words.ts';
import { Failure } from './failure.tsx';

export interface ConfirmProps {
  readonly title: string;
  /** An explanation, and the fields to fill in. */
  readonly hint: ReactNode;
  /** The name of the deed, on its button. */
  readonly label: string;
  readonly isDangerous?: boolean;
  /** False while something is missing. */
  readonly isReady?: boolean;
  /** An error of the fields in the hint. */
  readonly error?: Error | null;
  /** Does it; rejects where it was not done. */
  readonly send: () => Promise<unknown>;
  /** Once it is done; by default the window goes. */
  readonly onDone?: () => void;
  readonly onClose: () => void;
}

export function Confirm({
  title,
  hint,
  label,
  isDangerous,
  isReady = true,
  error = null,
  send,
  onDone,
  onClose,
}: ConfirmProps) {
  const queries = useQueryClient();
  const deed = useMutation({
    mutationFn: send,
    onSuccess: async () => {
      onDone?.();
      // Lists and audit logs show it too, before the window goes: what is left in them could be chosen again.
      await queries.invalidateQueries();
      if (onDone === undefined) onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': words.close }}>
      <Stack>
        {typeof hint === 'string' ? <Text size="sm">{hint}</Text> : hint}
        <Failure error={error ?? deed.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {words.cancel}
          </Button>
          <Button
            {...(isDangerous && { color: 'red' })}
            disabled={!isReady}
            loading={deed.isPending}
            onClick={() => deed.mutate()}
          >
            {label}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
