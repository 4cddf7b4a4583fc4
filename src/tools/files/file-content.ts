/** Reads a file that a path check has already approved, and says what kind of thing is in it. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { codeOf } from '../../base/errors.ts';
import { heldMessage, holdParent, NO_LINK } from '../../base/files/held-folder.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { groupDigits } from '../bounded.ts';
import type { InsidePath } from './workspace.ts';

export interface FileContent {
  readonly bytes: Buffer;
  /** Permission bits, kept when the file is replaced. */
  readonly mode: number;
  /** How many names it has in the file system, on our disk or on another's. */
  readonly links: number;
}

const SNIFFED_BYTES = 8_192;

/** Never follows a link in any part, never waits on a pipe, never reads more than the limit. */
export async function readContent(
  path: InsidePath,
  maxBytes: number = limits.readFileBytes,
): Promise<Result<FileContent, string>> {
  let file: FileHandle | undefined;
  try {
    using parent = holdParent(path);
    file = await open(parent.entry, constants.O_RDONLY | NO_LINK | constants.O_NONBLOCK);
    const facts = await file.stat();
    if (facts.isDirectory()) return fail(`${path.relative || '.'} is a folder; use \`list\`.`);
    if (!facts.isFile()) return fail(`${path.relative} is not a regular file.`);
    if (facts.size > maxBytes) return fail(tooLarge(path.relative, facts.size));
    const bytes = await readAtMost(file, maxBytes + 1, facts.size);
    if (bytes.length > maxBytes) return fail(tooLarge(path.relative, bytes.length));
    return ok({ bytes, mode: facts.mode & 0o777, links: facts.nlink });
  } catch (error) {
    return fail(`${path.relative || '.'}: ${explain(error)}`);
  } finally {
    await file?.close();
  }
}

/** The text of a file, byte-order mark included, or `undefined` when it is not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** As they are counted for whoever reads it. */
export function numberedLines(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Such a line is not shown whole. */
export function isTooLong(line: string): boolean {
  return line.length > limits.readLineCharacters;
}

export function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, SNIFFED_BYTES).includes(0);
}

/** The media type of an image that models can see, told by its first bytes. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  const starts = (text: string, at = 0): boolean => bytes.toString('latin1', at, at + text.length) === text;
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (starts('\xff\xd8\xff')) return 'image/jpeg';
  if (starts('GIF87a') || starts('GIF89a')) return 'image/gif';
  if (starts('RIFF') && starts('WEBP', 8)) return 'image/webp';
  return undefined;
}

/** Reads on past the size in the file's facts, because it may have grown since, or be a file that reports none. */
async function readAtMost(file: FileHandle, maxBytes: number, expected: number): Promise<Buffer> {
  let buffer = Buffer.alloc(Math.min(maxBytes, expected + 1));
  let length = 0;
  while (length < maxBytes) {
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(maxBytes, buffer.length * 2));
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function tooLarge(name: string, size: number): string {
  return (
    `${name} has ${groupDigits(size)} bytes, more than the limit of ${groupDigits(limits.readFileBytes)} (readFileBytes). ` +
    'Use `search` to find the part you need.'
  );
}

function explain(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ENOENT') return 'no such file.';
  if (code === 'ELOOP' || code === 'ENOTDIR') return 'a part of the path was replaced by a link or a file while it was opened.';
  if (code === 'EACCES') return 'permission denied.';
  if (code === 'ENXIO') return 'is not a regular file.';
  return heldMessage(error);
}
