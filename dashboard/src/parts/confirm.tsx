/** Asks before something is done that hurts. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { words } from '../words/words.ts';
import { Failure } from './failure.tsx';

export interface ConfirmProps {
  readonly opened: boolean;
  readonly title: string;
  readonly hint: ReactNode;
  /** The name of the deed, on its button. */
  readonly label: string;
  readonly isDangerous?: boolean;
  /** False while something is missing. */
  readonly isReady?: boolean;
  readonly isRunning: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function Confirm({
  opened,
  title,
  hint,
  label,
  isDangerous,
  isReady = true,
  isRunning,
  error,
  onConfirm,
  onClose,
}: ConfirmProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': words.close }}>
      <Stack>
        {typeof hint === 'string' ? <Text size="sm">{hint}</Text> : hint}
        <Failure error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {words.cancel}
          </Button>
          <Button {...(isDangerous && { color: 'red' })} disabled={!isReady} loading={isRunning} onClick={onConfirm}>
            {label}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
