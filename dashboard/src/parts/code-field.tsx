/** The code of a second factor, asked for once the gateway has said that the person has one. */
import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { RefusedError } from '../api/refused.ts';

const isNeeded = (error: Error | null): boolean =>
  error instanceof RefusedError && error.code === 'second_factor_needed';

export interface AskedCode {
  readonly isAsked: boolean;
  /** For `onError` of what was sent. */
  readonly hear: (error: Error) => void;
  /** Somebody else is to log in. */
  readonly forget: () => void;
}

export function useAskedCode(): AskedCode {
  const [isAsked, setIsAsked] = useState(false);
  return {
    isAsked,
    hear: (error) => {
      if (isNeeded(error)) setIsAsked(true);
    },
    forget: () => setIsAsked(false),
  };
}

/** Returns the failure that a form shows: a request for a code is not a failure. */
export const failureBeside = (error: Error | null): Error | null => (isNeeded(error) ? null : error);

export const CodeField = () => (
  <TextInput
    name="code"
    label="Code"
    description="6 digits, as the authenticator shows them"
    inputMode="numeric"
    autoComplete="one-time-code"
    pattern="[0-9 ]{6,}"
    data-autofocus
    autoFocus
    required
  />
);

/** The code of a form; nothing if it was not asked for. */
export function codeIn(form: FormData): { readonly code?: string } {
  const code = form.get('code');
  return typeof code === 'string' ? { code } : {};
}
