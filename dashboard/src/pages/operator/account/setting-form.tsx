/** The window in which a setting of an account is changed, with a reason. */
import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { api, must } from '../../../api/client.ts';
import { operatorAccountKey } from '../../../api/operator-queries.ts';
import { RefusedError } from '../../../api/refused.ts';
import type { AccountChange, OperatorAccount } from '../../../api/types.ts';
import { Failure } from '../../../parts/failure.tsx';
import { words } from '../../../words/operator-words.ts';

export interface FormOfAccountProps {
  readonly account: OperatorAccount;
  readonly onClose: () => void;
}

export interface SettingFormProps extends FormOfAccountProps {
  readonly setting: keyof typeof words.settings.names;
  /** The change to send; null while something is missing. */
  readonly wanted: Omit<AccountChange, 'seen' | 'reason'> | null;
  readonly children: ReactNode;
}

export function SettingForm({ account, setting, wanted, children, onClose }: SettingFormProps) {
  const [reason, setReason] = useState('');
  // The values that the person saw when the form opened, or was told of since, even if the account is read again meanwhile.
  const [seen, setSeen] = useState(() => seenOf(account, setting));
  const [isTold, setIsTold] = useState(false);
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (asked: AccountChange) => {
      const body = { ...asked, seen, ...(reason.trim() !== '' && { reason: reason.trim() }) };
      return must(
        api.PATCH('/operator/v1/accounts/{accountId}', { params: { path: { accountId: account.id } }, body }),
      );
    },
    onSuccess: async () => {
      // The lists, the keys and the audit log show it too. The window waits for them: opened again before the account is read, it
      // would take the former values for those that the person has seen, and the next change for a conflict.
      await queries.invalidateQueries();
      onClose();
    },
    // Behind the window, as it is meanwhile.
    onError: async (error) => {
      await queries.invalidateQueries();
      const now = queries.getQueryData<OperatorAccount>(operatorAccountKey(account.id));
      if (now === undefined || !isConflict(error) || isSame(seenOf(now, setting), seen)) return setIsTold(false);
      setSeen(seenOf(now, setting));
      setIsTold(true);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (wanted !== null) change.mutate(wanted);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={words.settings.names[setting]}
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{words.settings.hints[setting]}</Text>
          {children}
          <TextInput
            label="Reason, which the audit log keeps (may be empty)"
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
          />
          <Failure error={change.error} />
          {isTold && <Text size="sm">Save again to put yours in its place.</Text>}
          <Button type="submit" disabled={wanted === null} loading={change.isPending}>
            Save
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

/** Somebody else has changed it meanwhile, or the account is in no state in which it can be changed. */
const isConflict = (error: Error): boolean => error instanceof RefusedError && error.status === 409;
const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The limits are of the tier. */
function seenOf(account: OperatorAccount, setting: SettingFormProps['setting']) {
  const { limits, models, shadow, tier, tokens, tolerance, usage_impacts } = account;
  return {
    tier: { tier, limits },
    tokens: { tokens },
    shadow: { shadow },
    tolerance: { tolerance },
    usage_impacts: { usage_impacts },
    models: { models },
  }[setting];
}
