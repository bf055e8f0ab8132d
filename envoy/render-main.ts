/** Writes Envoy's configuration from the environment to the file in the argument; for containers. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadEnvoySettings } from './config.ts';
import { writeEnvoyConfig } from './render.ts';

const path = process.argv[2];
if (!path) throw new Error('Name the file to write, e.g. render-envoy.js /run/gw/envoy.json');
const templateDir = resolve(fileURLToPath(new URL('../envoy', import.meta.url)));
const warn = (text: string) => void process.stderr.write(`${text}\n`);
writeEnvoyConfig(loadEnvoySettings(process.env, templateDir, warn), path);
