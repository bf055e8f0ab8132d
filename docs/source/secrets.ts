/** The table of secrets, from the facts that `./gw admin secrets` shows. */
import { comparedSecrets, otherSecrets } from '@gw/control-plane/internals/secrets/facts';
import { tableOf } from './numbers.ts';

export function secretsTable(): string {
  const compared = Object.entries(comparedSecrets).map(([name, facts]) => [
    `\`${name}\``,
    facts.held_by,
    facts.protects,
    facts.rotation,
    facts.loss,
    facts.compared_with,
  ]);
  const others = Object.entries(otherSecrets).map(([name, facts]) => [
    name.replace(/GW_[A-Z_]+…?/g, '`$&`'),
    facts.held_by,
    facts.protects,
    facts.rotation,
    facts.loss,
    '–',
  ]);
  return tableOf(
    ['Secret', 'Who has it', 'What it protects', 'Rotation', 'What is lost with it', 'Compared with'],
    [...compared, ...others],
  );
}
