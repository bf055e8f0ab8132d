import { Center, Loader, Modal } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { words } from '../../../words/words.ts';
import type { GivenPack } from './verify-form.tsx';

const VerifyForm = lazy(() => import('./verify-form.tsx'));

export interface VerifyWindowProps {
  /** Null: a file is chosen in the window. */
  readonly given: GivenPack | null;
  readonly onClose: () => void;
}

/** The verifier is loaded when somebody opens the window. */
export const VerifyWindow = ({ given, onClose }: VerifyWindowProps) => (
  <Modal
    opened
    onClose={onClose}
    size="xl"
    title={given === null ? words.packs.verify : `Verify ${given.name}`}
    closeButtonProps={{ 'aria-label': words.close }}
  >
    <Suspense
      fallback={
        <Center p="xl">
          <Loader aria-label={words.loading} />
        </Center>
      }
    >
      <VerifyForm given={given} />
    </Suspense>
  </Modal>
);
