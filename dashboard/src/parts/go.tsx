import { Anchor } from '@mantine/core';
import { Link } from 'wouter';

/** A link to another page of the dashboard. */
export function Go({ to, children }: { readonly to: string; readonly children: string }) {
  return (
    <Anchor component={Link} href={to} size="sm">
      {children}
    </Anchor>
  );
}
