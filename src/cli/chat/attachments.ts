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
import { type ChatDraft, draftOf, draftText } from './draft.ts';

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

/** What stands behind each @ that somebody typed and that begins a word; `@"…"` may hold spaces. */
export function mentionsIn({ cells }: Pick<ChatDraft, 'cells'>): readonly string[] {
  return [...new Set([...mentions(cells)].filter(({ at }) => cells[at]?.pasted === false).map(({ word }) => word))];
}

function* mentions(cells: ChatDraft['cells']): Generator<{ readonly at: number; readonly word: string }, void> {
  for (const [at, cell] of cells.entries()) {
    const before = cells[at - 1];
    if (cell.text !== '@' || (before !== undefined && !SPACE.test(before.text))) continue;
    const quoted = cells[at + 1]?.text === '"';
    let word = '';
    for (let next = at + (quoted ? 2 : 1); next < cells.length && word.length <= limits.pathCharacters; next += 1) {
      const text = cells[next]?.text ?? '';
      if (quoted ? text === '"' || text === '\n' : SPACE.test(text)) break;
      word += text;
    }
    if (word !== '') yield { at, word };
  }
}

const SENT_ALONG = /^\n\nThe file (.*), sent along:\n/;

/**
 * A message of the ledger, to be said again. It may have been pasted, or be a script's: nothing in it is a command, and of the
 * files that it names only those count as typed that were sent along with it.
 */
export function saidAgain({ content }: Pick<UserMessage, 'content'>): ChatDraft {
  const [first, ...others] = content;
  const draft = draftOf(first?.type === 'text' ? first.text : '', true);
  const named = new Set(others.flatMap((part) => (part.type === 'text' ? (SENT_ALONG.exec(part.text)?.[1] ?? []) : [])));
  const pictures = others.some(({ type }) => type === 'image');
  const wasSent = (word: string): boolean => named.has(word) || (pictures && isImageName(word));
  const typed = new Set([...mentions(draft.cells)].filter(({ word }) => namesOf(word).some(wasSent)).map(({ at }) => at));
  return { ...draft, cells: draft.cells.map((cell, index) => (typed.has(index) ? { ...cell, pasted: false } : cell)) };
}

const PUNCTUATION = /[.,;:!?)\]}'"]+$/;
/** The file may be the word, or what is left of it before the end of a sentence. */
const namesOf = (word: string): readonly string[] => [...new Set([word, word.replace(PUNCTUATION, '')])];
const looksLikePath = (word: string): boolean => word.includes('/') || /\.\w+$/.test(word);

/** `undefined` for a word that is no file and does not look like one, such as a name. */
async function fileOf(
  word: string,
  workspace: string,
): Promise<Result<{ readonly path: string; readonly name: string } | undefined, string>> {
  let problem = '';
  for (const name of namesOf(word)) {
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
const isImageName = (name: string): boolean => IMAGE_NAMES.has(extname(name).toLowerCase());

async function partOf(path: string, name: string, nonce: string): Promise<Result<Part, string>> {
  const isNamedImage = isImageName(path);
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
