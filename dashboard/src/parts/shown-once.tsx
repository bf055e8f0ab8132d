import { Button, Modal, Stack, Text } from '@mantine/core';
import { Copyable } from './copy.tsx';

export interface ShownOnceProps {
  readonly title: string;
  readonly hint: string;
  /** Describes the text for screen readers. */
  readonly label: string;
  readonly text: string;
  /** Says that the text is kept, on the button that closes. */
  readonly done: string;
  readonly onClose: () => void;
}

/** A secret. It closes by its button alone: a click beside it would lose the secret for good. */
export function ShownOnce({ title, hint, label, text, done, onClose }: ShownOnceProps) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Text size="sm">{hint}</Text>
        <Copyable label={label} text={text} />
        <Button onClick={onClose}>{done}</Button>
      </Stack>
    </Modal>
  );
}
