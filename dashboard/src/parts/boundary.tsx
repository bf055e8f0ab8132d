import { Center } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { Failure } from './failure.tsx';

interface State {
  readonly error: Error | null;
}

/** Says what went wrong where a page cannot be shown, in place of nothing at all. */
export class Boundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <Center mih="50vh" p="md">
        <Failure error={error} again={() => window.location.reload()} />
      </Center>
    );
  }
}
