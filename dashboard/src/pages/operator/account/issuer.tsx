/** The identity provider with which the admins of an account log in. */
import { Alert, Button, Code, Group, Modal, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, must } from '../../../api/client.ts';
import { RefusedError } from '../../../api/refused.ts';
import type { AccountIssuer, IssuerInput } from '../../../api/types.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Failed, Failure } from '../../../parts/failure.tsx';
import { Empty } from '../../../parts/table.tsx';
import { time } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';

const texts = words.issuer;
const issuerPath = '/operator/v1/accounts/{accountId}/issuer';
const verifyPath = '/operator/v1/accounts/{accountId}/issuer/verify';

export interface IssuerProps {
  readonly accountId: string;
  readonly mayChange: boolean;
}

type Deed = 'set' | 'verify' | 'remove';

export function Issuer({ accountId, mayChange }: IssuerProps) {
  const [deed, setDeed] = useState<Deed | null>(null);
  const issuer = useQuery({ queryKey: ['issuer of', accountId], queryFn: () => readIssuer(accountId) });
  const close = () => setDeed(null);
  return (
    <>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {texts.title}
        </Title>
        {mayChange && issuer.data !== undefined && <Deeds of={issuer.data} onChoose={setDeed} />}
      </Group>
      <Text size="sm">{texts.hint}</Text>
      <Failed of={issuer} />
      {issuer.data === null && <Empty title={texts.none}>{texts.noneHint}</Empty>}
      {issuer.data && <State of={issuer.data} />}
      {deed === 'set' && <SetIssuer accountId={accountId} before={issuer.data ?? null} onClose={close} />}
      {deed === 'verify' && <Verify accountId={accountId} onClose={close} />}
      {deed === 'remove' && (
        <Confirm
          title={texts.remove}
          hint={texts.removeHint}
          label={texts.remove}
          isDangerous
          send={() => must(api.DELETE(issuerPath, { params: { path: { accountId } } }))}
          onClose={close}
        />
      )}
    </>
  );
}

interface DeedsProps {
  readonly of: AccountIssuer | null;
  readonly onChoose: (deed: Deed) => void;
}

function Deeds({ of, onChoose }: DeedsProps) {
  const deeds: readonly (readonly [Deed, string])[] = [
    ['set', of === null ? texts.set : texts.change],
    ...(of !== null && of.verified_at === null ? [['verify', texts.verify] as const] : []),
    ...(of === null ? [] : [['remove', texts.remove] as const]),
  ];
  return (
    <Group gap="xs">
      {deeds.map(([deed, label]) => (
        <Button key={deed} variant="default" size="xs" onClick={() => onChoose(deed)}>
          {label}
        </Button>
      ))}
    </Group>
  );
}

/** Null where none is set. */
async function readIssuer(accountId: string): Promise<AccountIssuer | null> {
  try {
    return await must(api.GET(issuerPath, { params: { path: { accountId } } }));
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) return null;
    throw error;
  }
}

function State({ of }: { readonly of: AccountIssuer }) {
  const record = of.dns_record;
  const facts: readonly (readonly [string, string])[] = [
    ['Issuer', of.issuer],
    ['Client id', of.client_id],
    ['Domain', of.domain],
    ['Claim that names the person', of.claim],
    ['Callback address, to be registered at the provider', of.callback_url],
    [
      'Verified',
      of.verified_at === null ? 'no' : `${time(of.verified_at)}, ${texts.verifiedBy[of.verified_by ?? 'dns']}`,
    ],
    ['Set', time(of.set_at)],
  ];
  return (
    <Stack gap={4}>
      {!of.readable && <Alert color="red">{texts.unreadable}</Alert>}
      {of.verified_at === null && (
        <Alert color="yellow" title={texts.unverified}>
          {texts.record}{' '}
          <Code style={{ overflowWrap: 'anywhere' }}>{`${record.name} ${record.type} "${record.value}"`}</Code>
        </Alert>
      )}
      {facts.map(([name, value]) => (
        <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {name}: <Code>{value}</Code>
        </Text>
      ))}
    </Stack>
  );
}

/** DNS is asked, unless the operator gives a reason. */
function Verify({ accountId, onClose }: { readonly accountId: string; readonly onClose: () => void }) {
  const [reason, setReason] = useState('');
  return (
    <Confirm
      title={texts.verify}
      hint={
        <Stack>
          <Text size="sm">{texts.verifyHint}</Text>
          <TextInput
            label={texts.reason}
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </Stack>
      }
      label={texts.verify}
      send={() => {
        const body = reason.trim() === '' ? {} : { reason: reason.trim() };
        return must(api.POST(verifyPath, { params: { path: { accountId } }, body }));
      }}
      onClose={onClose}
    />
  );
}

interface SetIssuerProps {
  readonly accountId: string;
  readonly before: AccountIssuer | null;
  readonly onClose: () => void;
}

function SetIssuer({ accountId, before, onClose }: SetIssuerProps) {
  const queries = useQueryClient();
  const set = useMutation({
    mutationFn: (body: IssuerInput) => must(api.PUT(issuerPath, { params: { path: { accountId } }, body })),
    onSuccess: async () => {
      await queries.invalidateQueries();
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name)).trim();
    set.mutate({
      issuer: text('issuer'),
      client_id: text('client_id'),
      client_secret: text('client_secret'),
      claim: claims.find((claim) => claim === text('claim')) ?? 'email',
      domain: text('domain'),
    });
  };
  return (
    <Modal
      opened
      onClose={() => !set.isPending && onClose()}
      title={texts.title}
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <form onSubmit={submit} autoComplete="off">
        <Stack>
          <Text size="sm">{texts.setHint}</Text>
          <TextInput
            name="issuer"
            type="url"
            label="Issuer (https)"
            defaultValue={before?.issuer}
            required
            data-autofocus
          />
          <TextInput name="client_id" label="Client id" defaultValue={before?.client_id} required />
          <TextInput name="client_secret" type="password" label="Client secret" autoComplete="off" required />
          <TextInput name="domain" label="Domain of its e-mail addresses" defaultValue={before?.domain} required />
          <NativeSelect
            name="claim"
            label="Claim that names the person"
            data={[...claims]}
            defaultValue={before?.claim ?? 'email'}
          />
          <Failure error={set.error} />
          <Button type="submit" loading={set.isPending}>
            {texts.save}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

const claims = ['email', 'preferred_username', 'oid', 'sub'] as const;
