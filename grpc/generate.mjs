/**
 * Writes `generated/protocols.json`: the messages of Envoy's services that we serve, from the `.proto` files that
 * @grpc/grpc-js-xds ships. Reading the files themselves takes a service most of a second at its start.
 *
 * Only what can be part of these messages is kept, and no options, which nothing here reads.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

const serviceFiles = [
  'envoy/service/auth/v3/external_auth.proto',
  'envoy/service/ratelimit/v3/rls.proto',
  'envoy/service/ext_proc/v3/external_processor.proto',
  'envoy/service/accesslog/v3/als.proto',
];

/** Imports in `.proto` files are relative to one of these folders. */
function protoFolders() {
  const { resolve } = createRequire(import.meta.url);
  const deps = join(dirname(resolve('@grpc/grpc-js-xds/package.json')), 'deps');
  const inDeps = ['envoy-api', 'xds', 'googleapis', 'protoc-gen-validate'].map((name) => join(deps, name));
  return [...inDeps, dirname(resolve('protobufjs/package.json'))];
}

function load() {
  const folders = protoFolders();
  const root = new protobuf.Root();
  // The well-known types are built into protobufjs.
  root.resolvePath = (_origin, target) =>
    protobuf.common.get(target) ? target : (folders.map((folder) => join(folder, target)).find(existsSync) ?? null);
  root.loadSync(serviceFiles);
  root.resolveAll();
  return root;
}

/** All types and enums that a message of one of the services can hold. */
function reachable(root) {
  const found = new Set();
  const visit = (type) => {
    if (!type || found.has(type)) return;
    found.add(type);
    if (type instanceof protobuf.Type) for (const field of type.fieldsArray) visit(field.resolvedType);
  };
  const services = (namespace) =>
    (namespace.nestedArray ?? []).flatMap((nested) =>
      nested instanceof protobuf.Service ? [nested] : services(nested),
    );
  for (const service of services(root))
    for (const method of service.methodsArray) {
      visit(method.resolvedRequestType);
      visit(method.resolvedResponseType);
    }
  return found;
}

/** A copy of the namespace as JSON with only these types in it, or null if it holds none of them. */
function pruned(object, kept) {
  const nested = Object.fromEntries(
    (object.nestedArray ?? []).map((each) => [each.name, pruned(each, kept)]).filter(([, json]) => json !== null),
  );
  const inside = Object.keys(nested).length > 0 ? { nested } : {};
  if (!kept.has(object)) return 'nested' in inside ? inside : null;
  const { values, fields, oneofs, edition } = object.toJSON();
  if (values) return { values, edition };
  const plain = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, withoutOptions(field)]));
  return { fields: plain, oneofs, edition, ...inside };
}

/** Keeps only the options that change the bytes. */
function withoutOptions({ options = {}, ...field }) {
  const { packed, proto3_optional } = options;
  return { ...field, options: { packed, proto3_optional } };
}

/** How each field of a type stands on the wire. */
const wire = (type) =>
  type.fieldsArray.map(({ name, id, repeated, packed, map, resolvedType, type: scalar, partOf, hasPresence }) =>
    JSON.stringify([name, id, repeated, packed, map, resolvedType?.fullName ?? scalar, partOf?.name, hasPresence]),
  );

function assertSameOnTheWire(types, json) {
  const again = protobuf.Root.fromJSON(json);
  again.resolveAll();
  for (const type of types) {
    if (!(type instanceof protobuf.Type)) continue;
    const [expected, found] = [wire(type), wire(again.lookupType(type.fullName))].map((fields) => fields.join());
    if (expected !== found) throw new Error(`${type.fullName} is ${found} in place of ${expected}.`);
  }
}

const root = load();
const kept = reachable(root);
const json = JSON.stringify(pruned(root, kept));
assertSameOnTheWire(kept, JSON.parse(json));
const folder = fileURLToPath(new URL('generated', import.meta.url));
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'protocols.json'), json);
