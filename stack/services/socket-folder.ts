/** Folders for Unix sockets: entered by their owner alone, and short enough for the kernel's limit on socket paths. */
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Problem } from '../machine/problem.ts';

/** The kernel takes 107 bytes on Linux and 103 on macOS; this leaves room for the longest name of a socket. */
const longestFolder = 103 - '/receipt-sidecar-99.sock'.length;

/**
 * `wanted`, or a folder of its own under the system's temporary one if that path is too long.
 * `owner` is a user other than ours that has to create sockets in it.
 */
export function socketFolder(wanted: string, owner?: { uid: number; gid: number }): string {
  const folder = Buffer.byteLength(wanted) <= longestFolder ? wanted : shortStandIn(wanted);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  const uid = process.getuid?.();
  // Somebody else may have put a folder or a link of theirs where we are about to trust the owner of a socket.
  if (!found.isDirectory() || (found.uid !== uid && found.uid !== owner?.uid)) {
    throw new Problem(`${folder} belongs to another user; remove it and start again.`);
  }
  if (owner) chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, 0o700);
  return folder;
}

export function removeSocketFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

function shortStandIn(wanted: string): string {
  const name = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  return join(tmpdir(), `gw-${process.getuid?.() ?? 0}-${name}`);
}
