/**
 * Files that a message names with `@path`: text is sent along between fences, pictures as pictures. Only words that somebody
 * typed count, only files of the workspace, and everything is looked at before anything is sent.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { confinedPath } from '../../agents/text/confined-path.ts';
import { messageOf } from '../../base/errors.ts';
import { fenced, fenceNote } from '../../base/fence.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { UserMessage } from '../../events/messages.ts';
import { type ChatDraft, draftText } from './draft.ts';

type Part = UserMessage['content'][number];

export interface WithFiles {
  readonly message: UserMessage;
  /** Words that begin with @ and are no files: they are sent as they are. */
  readonly notFiles: readonly string[];
  readonly images: number;
}

/** The failure is for the person who wrote it: nothing was sent. */
export async function withFiles(draft: ChatDraft, workspace: string, nonce: string): Promise<Result<WithFiles, string>> {
  const text = draftText(draft);
  if (Buffer.byteLength(text) > limits.promptBytes)
    return fail(
      `The message is larger than ${limits.promptBytes} bytes (limit promptBytes); put the text into a file and name it`,
    );
  const parts: Part[] = [{ type: 'text', text }];
  const notFiles: string[] = [];
  const words = mentionsIn(draft);
  for (const word of words) {
    const found = await fileOf(word, workspace);
    if (!found.ok) return found;
    if (found.value === undefined) {
      notFiles.push(word);
      continue;
    }
    const part = await partOf(found.value.path, found.value.name, nonce);
    if (!part.ok) return part;
    parts.push(part.value);
  }
  if (parts.length - 1 > limits.attachedFiles)
    return fail(`A message takes at most ${limits.attachedFiles} files (limit attachedFiles)`);
  if (parts.some((part, index) => index > 0 && part.type === 'text')) parts.push({ type: 'text', text: fenceNote(nonce) });
  const images = parts.filter(({ type }) => type === 'image').length;
  return ok({ message: { role: 'user', content: parts }, notFiles, images });
}

const SPACE = /^\s+$/;

/** What stands behind each @ that begins a word; `@"…"` may hold spaces. */
export function mentionsIn({ cells }: ChatDraft): readonly string[] {
  const found = new Set<string>();
  for (const [index, cell] of cells.entries()) {
    const before = cells[index - 1];
    if (cell.text !== '@' || cell.pasted || (before !== undefined && !SPACE.test(before.text))) continue;
    const quoted = cells[index + 1]?.text === '"';
    let word = '';
    for (let at = index + (quoted ? 2 : 1); at < cells.length && word.length <= limits.pathCharacters; at += 1) {
      const text = cells[at]?.text ?? '';
      if (quoted ? text === '"' || text === '\n' : SPACE.test(text)) break;
      word += text;
    }
    if (word !== '') found.add(word);
  }
  return [...found];
}

const PUNCTUATION = /[.,;:!?)\]}'"]+$/;
const looksLikePath = (word: string): boolean => word.includes('/') || /\.\w+$/.test(word);

/** `undefined` for a word that is no file and does not look like one, such as a name. */
async function fileOf(
  word: string,
  workspace: string,
): Promise<Result<{ readonly path: string; readonly name: string } | undefined, string>> {
  let problem = '';
  for (const name of new Set([word, word.replace(PUNCTUATION, '')])) {
    const confined = await confinedPath(workspace, resolve(workspace, name));
    if (confined.ok) return ok({ path: confined.value, name });
    if (problem === '' || confined.error.message !== 'does not exist') problem = confined.error.message;
  }
  if (!looksLikePath(word) && problem === 'does not exist') return ok(undefined);
  const why = problem === 'does not exist' ? 'there is no such file in the workspace' : problem;
  return fail(`@${word}: ${why}; nothing was sent`);
}

/** By their first bytes, whatever the name says. */
function imageTypeOf(bytes: Buffer): string | undefined {
  const begins = bytes.subarray(0, 16).toString('latin1');
  if (begins.startsWith('\u0089PNG\r\n\u001a\n')) return 'image/png';
  if (begins.startsWith('\u00ff\u00d8\u00ff')) return 'image/jpeg';
  if (begins.startsWith('GIF87a') || begins.startsWith('GIF89a')) return 'image/gif';
  return begins.startsWith('RIFF') && begins.startsWith('WEBP', 8) ? 'image/webp' : undefined;
}
const IMAGE_NAMES = new Set(['.png', '.jpg', '.jpeg', '.gif', '.webp']);

async function partOf(path: string, name: string, nonce: string): Promise<Result<Part, string>> {
  const isNamedImage = IMAGE_NAMES.has(extname(path).toLowerCase());
  const read = await readBounded(path, isNamedImage ? 'imageBytes' : 'attachedFileBytes');
  if (!read.ok) return fail(`@${name}: ${read.error}; nothing was sent`);
  const mediaType = imageTypeOf(read.value);
  if (mediaType !== undefined) return ok({ type: 'image', mediaType, data: read.value.toString('base64') });
  if (isNamedImage) return fail(`@${name}: is no picture that can be sent (png, jpg, gif, webp); nothing was sent`);
  const text = textOfBytes(read.value);
  if (text === undefined) return fail(`@${name}: is neither text nor a picture; nothing was sent`);
  return ok({ type: 'text', text: `\n\nThe file ${name}, sent along:\n${fenced('file', nonce, text)}\n` });
}

async function readBounded(path: string, limit: 'imageBytes' | 'attachedFileBytes'): Promise<Result<Buffer, string>> {
  const most = limits[limit];
  try {
    // Whoever opens a pipe for reading would wait for its other end.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (stat.isDirectory()) return fail('is a folder: name a file in it');
    if (!stat.isFile()) return fail('is not a file');
    const bytes = Buffer.alloc(most + 1);
    let size = 0;
    for (;;) {
      const { bytesRead } = await file.read(bytes, size, bytes.length - size, size);
      size += bytesRead;
      if (size > most) return fail(`is larger than ${most} bytes (limit ${limit})`);
      if (bytesRead === 0) return ok(bytes.subarray(0, size));
    }
  } catch (error) {
    return fail(`cannot be read: ${messageOf(error)}`);
  }
}

function textOfBytes(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\u0000') ? undefined : text;
  } catch {
    return undefined;
  }
}
