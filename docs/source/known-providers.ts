/** The table of well-known providers. */
import { knownProviders } from '@gw/contract/internal/catalogue/known-providers';
import { tableOf } from './numbers.ts';

export const knownProvidersTable = (): string =>
  tableOf(
    ['`--as`', 'Provider', 'Address', 'Called otherwise than OpenAI by', 'Written after'],
    Object.entries(knownProviders).map(([id, known]) => {
      const { auth_header: header, base_url, example, health_path: health, path, request_fields = {} } = known;
      const fields = Object.entries(request_fields);
      const renamed = fields.flatMap(([name, as]) => (as ? `\`${name}\` as \`${as}\`` : []));
      const left = fields.flatMap(([name, as]) => (as ? [] : `\`${name}\``));
      const otherwise = [
        ...(path ? [`path \`${path}\``] : []),
        ...(header ? [`header \`${header}\``] : []),
        ...(health ? [`health path \`${health}\``] : []),
        ...renamed,
        ...(left.length > 0 ? [`without ${left.join(', ')}`] : []),
      ];
      const address = base_url ?? `its own, like ${example}`;
      return [`\`${id}\``, known.name, address, otherwise.join(', '), known.source];
    }),
  );
