/** The frame of all pages: where one is, where one can go, who one is. */
import {
  ActionIcon,
  AppShell,
  Burger,
  Button,
  Group,
  Modal,
  NavLink,
  ScrollArea,
  Stack,
  Text,
  Title,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, lazy, type ReactNode, Suspense, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { api, must } from '../api/client.ts';
import { RefusedError } from '../api/refused.ts';
import { useLookAgain } from '../api/session.ts';
import { words } from '../words/words.ts';
import { CodeField, codeIn, failureBeside, useAskedCode } from './code-field.tsx';
import { CredentialField } from './credential-field.tsx';
import { Failure } from './failure.tsx';

const SecondFactor = lazy(() => import('./second-factor.tsx'));

export interface PagePlace {
  readonly path: string;
  readonly label: string;
}

export interface ShellProps {
  readonly places: readonly PagePlace[];
  /** Who is logged in, and as what. */
  readonly who: string;
  readonly children: ReactNode;
}

/** One that has ended already is as good. */
async function endSession(): Promise<void> {
  try {
    await must(api.DELETE('/session'));
  } catch (error) {
    if (!(error instanceof RefusedError && error.status === 401)) throw error;
  }
}

export function Shell({ places, who, children }: ShellProps) {
  const [opened, { close, toggle }] = useDisclosure();
  const [isChanging, changing] = useDisclosure();
  const [isAtFactor, atFactor] = useDisclosure();
  // Closed on a narrow screen, it is out of reach of the keyboard too.
  const isNarrow = useMediaQuery('(max-width: 48em)') ?? false;
  const [path] = useLocation();
  const lookAgain = useLookAgain();
  const logOut = useMutation({ mutationFn: endSession, onSuccess: lookAgain });
  const isAt = (place: PagePlace): boolean => (place.path === '/' ? path === '/' : path.startsWith(place.path));
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group wrap="nowrap" gap="xs">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={words.menu}
              aria-expanded={opened}
            />
            <Text fw={700}>{words.product}</Text>
          </Group>
          <Group wrap="nowrap" gap="xs">
            <Text size="sm" visibleFrom="xs" truncate maw={260}>
              {who}
            </Text>
            <ColorScheme />
            <Button variant="default" size="xs" onClick={() => logOut.mutate()} loading={logOut.isPending}>
              Log out
            </Button>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={words.menu} inert={isNarrow && !opened}>
        <AppShell.Section grow component={ScrollArea}>
          {places.map((place) => (
            <NavLink
              key={place.path}
              component={Link}
              href={place.path}
              label={place.label}
              active={isAt(place)}
              variant="filled"
              aria-current={isAt(place) ? 'page' : undefined}
              onClick={close}
            />
          ))}
        </AppShell.Section>
        <AppShell.Section>
          <NavLink component="button" label="Credential" onClick={changing.open} />
          <NavLink component="button" label={words.secondFactor.title} onClick={atFactor.open} />
          <NavLink href="/dashboard/assets/licences.txt" label="Licences of others" />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main>
        <Failure error={logOut.error} />
        {isChanging && <ChangeCredential onClose={changing.close} />}
        <Suspense fallback={null}>{isAtFactor && <SecondFactor onClose={atFactor.close} />}</Suspense>
        {children}
      </AppShell.Main>
    </AppShell>
  );
}

function ColorScheme() {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  return (
    <ActionIcon
      variant="default"
      size="md"
      aria-label={isDark ? words.light : words.dark}
      title={isDark ? words.light : words.dark}
      onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
    >
      <span aria-hidden>{isDark ? '☀' : '☾'}</span>
    </ActionIcon>
  );
}

/** The title of a page, which is also that of the window. Who comes to the page begins to read here. */
export function PageTitle({ children, actions }: { readonly children: string; readonly actions?: ReactNode }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus({ preventScroll: true }), []);
  return (
    <Group justify="space-between" mb="md">
      <title>{`${children} · ${words.product}`}</title>
      <Title order={1} size="h2" ref={title} tabIndex={-1} style={{ outline: 'none' }}>
        {children}
      </Title>
      {actions}
    </Group>
  );
}

/** Ends all sessions of the person, this one too: the login shows then. */
function ChangeCredential({ onClose }: { readonly onClose: () => void }) {
  const lookAgain = useLookAgain();
  const code = useAskedCode();
  const change = useMutation({
    mutationFn: (body: { current: string; next: string; code?: string }) =>
      must(api.PUT('/session/credential', { body })),
    onSuccess: lookAgain,
    onError: code.hear,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    change.mutate({ current: String(form.get('current')), next: String(form.get('next')), ...codeIn(form) });
  };
  return (
    <Modal opened onClose={onClose} title="Change your credential" closeButtonProps={{ 'aria-label': words.close }}>
      <form onSubmit={submit}>
        <Stack>
          <CredentialField name="current" label="Current credential" />
          <CredentialField name="next" label="New credential, at least 12 characters" isNew />
          {code.isAsked && <CodeField />}
          <Failure error={failureBeside(change.error)} />
          <Text size="xs" c="dimmed">
            You log in anew afterwards, on every device.
          </Text>
          <Button type="submit" loading={change.isPending}>
            Change it
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
