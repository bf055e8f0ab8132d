import '@mantine/core/styles.css';
import { Badge, Center, type CSSVariablesResolver, createTheme, Loader, MantineProvider } from '@mantine/core';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { Component, lazy, type ReactNode, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { RefusedError } from './api/refused.ts';
import { useSession } from './api/session.ts';
import { Login } from './login.tsx';
import { Failed, Failure } from './parts/failure.tsx';

interface State {
  readonly error: Error | null;
}

/** Says what went wrong where a page cannot be shown, in place of nothing at all. */
class Boundary extends Component<{ readonly children: ReactNode }, State> {
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

const Customer = lazy(() => import('./pages/customer/customer.tsx'));
const Operator = lazy(() => import('./pages/operator/operator.tsx'));

const waiting = (
  <Center h="100vh">
    <Loader aria-label="Loading" />
  </Center>
);

/** Chooses between the login and the pages of whoever is logged in. */
function App() {
  const session = useSession();
  if (session.isPending) return waiting;
  // A look that failed changes nothing of what is shown: who is logged in is known.
  if (session.data === undefined && session.isError)
    return (
      <Center h="100vh" p="md">
        <Failed of={session} />
      </Center>
    );
  if (session.data === undefined || session.data === null) return <Login />;
  return (
    <Suspense fallback={waiting}>
      {session.data.kind === 'operator' ? (
        <Operator key={session.data.id} session={session.data} />
      ) : (
        <Customer key={session.data.id} session={session.data} />
      )}
    </Suspense>
  );
}

const theme = createTheme({
  primaryColor: 'teal',
  primaryShade: 9,
  autoContrast: true,
  // In a narrow table a state is one word or two, and has to be read.
  components: { Badge: Badge.extend({ styles: { label: { overflow: 'visible' } } }) },
});

/** Keeps quiet text and text on a tint readable: a contrast of 4.5 to 1, as WCAG 2.2 AA asks. */
const readable: CSSVariablesResolver = ({ colors }) => {
  const onTints = (text: string) =>
    Object.fromEntries(Object.keys(colors).map((name) => [`--mantine-color-${name}-light-color`, text]));
  const quiet = (text: string) => ({ '--mantine-color-dimmed': text, '--mantine-color-placeholder': text });
  const hovered = { '--mantine-color-teal-filled-hover': '#065f46' };
  return {
    variables: {},
    light: { ...hovered, ...quiet(colors.gray[7]), ...onTints(colors.dark[7]) },
    dark: { ...hovered, ...quiet(colors.dark[1]), ...onTints(colors.gray[0]) },
  };
};

/** A refused request stays refused; only one that failed on the way is sent again. */
const retry = (failures: number, error: Error): boolean =>
  failures < 2 && !(error instanceof RefusedError && error.status < 500);
/** If the session has ended. */
function showLogin(error: Error, isLogin: boolean): void {
  if (error instanceof RefusedError && error.status === 401 && !isLogin)
    void queries.invalidateQueries({ queryKey: ['session'] });
}

// The gateway may be on this very machine, which may have no network: a browser that calls itself offline then would wait.
const networkMode = 'always';

const queries: QueryClient = new QueryClient({
  defaultOptions: {
    queries: { networkMode, refetchOnReconnect: 'always', retry, staleTime: 10_000 },
    // Replies hold keys and credentials that are shown once: they go with the window that shows them.
    mutations: { networkMode, gcTime: 0 },
  },
  queryCache: new QueryCache({ onError: (error, { queryKey }) => showLogin(error, queryKey[0] === 'session') }),
  mutationCache: new MutationCache({ onError: (error) => showLogin(error, false) }),
});

// Another release is served meanwhile, with files of other names.
window.addEventListener('vite:preloadError', () => {
  const [mark, patienceMs] = ['reloaded at', 10_000];
  if (Date.now() - Number(sessionStorage.getItem(mark)) < patienceMs) return;
  sessionStorage.setItem(mark, String(Date.now()));
  window.location.reload();
});

/** Vite leaves it there, with the nonce of this very reply. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
// For the styles that a window puts on the page behind it.
setNonce(nonce);

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element #root.');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={readable}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <Router base="/dashboard">
          <Boundary>
            <App />
          </Boundary>
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
