/** Where Prisma's command line finds the schema. No database address: generating the client needs none. */
import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'schema.prisma',
  migrations: { path: 'migrations' },
});
