import { PasswordInput } from '@mantine/core';

export interface CredentialFieldProps {
  readonly name: string;
  readonly label: string;
  /** A new one is chosen, and not shown. */
  readonly isNew?: boolean;
}

export const CredentialField = ({ isNew = false, label, name }: CredentialFieldProps) => (
  <PasswordInput
    name={name}
    label={label}
    autoComplete={isNew ? 'new-password' : 'current-password'}
    {...(isNew && { minLength: 12 })}
    visibilityToggleButtonProps={{ 'aria-label': 'Show the credential' }}
    required
  />
);
