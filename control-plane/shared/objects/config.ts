/** Reads where objects are kept: in a directory or in a bucket. */
import type { SettingReader } from '@gw/contract/internal/environment';
import { openDirectory } from './directory.ts';
import type { ObjectStore } from './objects.ts';
import { openBucket } from './s3.ts';

/** Opens the store that the settings name; it asks nobody yet. Problems are reported to `settings`. */
export function readObjects(settings: SettingReader): ObjectStore {
  const directory = settings.optional('GW_OBJECTS_DIR', '');
  const url = settings.optional('GW_OBJECTS_URL', '').replace(/\/$/, '');
  if (directory !== '' && url !== '')
    settings.problem('GW_OBJECTS_DIR and GW_OBJECTS_URL are both set; set only one. Example: GW_OBJECTS_URL= (empty)');
  if (directory === '' && url === '')
    settings.problem('GW_OBJECTS_DIR is not set, nor GW_OBJECTS_URL. Example: GW_OBJECTS_DIR=/var/lib/gw/objects');
  if (url === '') return openDirectory(directory);
  if (!/^https?:\/\/[^\s/?#@]+$/.test(url))
    settings.problem(
      'GW_OBJECTS_URL must be an address without a path. Example: GW_OBJECTS_URL=https://s3.eu-west-1.amazonaws.com',
    );
  const bucket = settings.required('GW_OBJECTS_BUCKET', 'gw-archive');
  if (bucket !== '' && !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    settings.problem('GW_OBJECTS_BUCKET is not the name of a bucket. Example: GW_OBJECTS_BUCKET=gw-archive');
  return openBucket({
    url,
    bucket,
    region: settings.optional('GW_OBJECTS_REGION', 'us-east-1'),
    accessKeyId: settings.required('GW_OBJECTS_ACCESS_KEY', 'AKIA…'),
    secretAccessKey: settings.secret('GW_OBJECTS_SECRET_KEY', /^\S+$/, '<the secret key of that access key>'),
  });
}
