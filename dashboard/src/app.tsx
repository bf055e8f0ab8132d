/** Chooses between the login and the pages of whoever is logged in. */
import { Center, Loader } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useSession } from './api/session.ts';
import { Login } from './login.tsx';
import { Failed } from './parts/failure.tsx';

const Customer = lazy(() => import('./pages/customer/customer.tsx'));
const Operator = lazy(() => import('./pages/operator/operator.tsx'));

const waiting = (
  <Center h="100vh">
    <Loader aria-label="Loading" />
  </Center>
);

export function App() {
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
