/** A real server of the S3 API, which checks signatures, with one empty bucket. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';

export interface TestBucket {
  readonly settings: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export async function startBucket(bucket = 'gw-archive'): Promise<TestBucket> {
  const directory = mkdtempSync(join(tmpdir(), 'gw-s3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port } = await server.run();
  return {
    settings: {
      GW_OBJECTS_URL: `http://127.0.0.1:${port}`,
      GW_OBJECTS_BUCKET: bucket,
      // The only one that this server knows.
      GW_OBJECTS_ACCESS_KEY: 'S3RVER',
      GW_OBJECTS_SECRET_KEY: 'S3RVER',
    },
    stop: async () => {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
