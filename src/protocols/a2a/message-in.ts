/**
 * What a peer sends, as an agent is given it. Words are the request; data and files are fenced, because they may hold anything,
 * and an address is told but never fetched. What no agent can read is refused.
 */

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { type Message, type Part, Role } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { fenced, fenceNote } from '../../base/fence.ts';
import { type Json, readableJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { PeerParts, UserMessage } from '../../events/messages.ts';
import { tooMuch } from './errors.ts';
import { checkMessage } from './params-in.ts';

export interface HeardMessage {
  readonly id: string;
  readonly input: UserMessage;
  /** Its words alone, as an answer or a message to an agent at work. */
  readonly text: string;
  /** The same for the same message, and for no other. */
  readonly digest: string;
  /** As they came, where they are more than words and not too much to be kept twice. */
  readonly parts: PeerParts | undefined;
}

type Content = UserMessage['content'][number];

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

export function heardMessage(message: Message | undefined, nonce: string): HeardMessage {
  if (message === undefined) throw new RequestMalformedError('The request has no message.');
  checkMessage(message);
  const { messageId: id, parts } = message;
  // Whoever sends is the user here, also when it is an agent: what an agent says comes from here.
  if (message.role !== Role.ROLE_USER)
    throw new RequestMalformedError('The role of a message that is sent must be ROLE_USER (in version 0.3: user).');
  if (id === '') throw new RequestMalformedError('The message has no messageId.');
  for (const [name, value] of Object.entries({ messageId: id, taskId: message.taskId, contextId: message.contextId }))
    if (value.length > limits.a2aIdCharacters) throw tooMuch(`${name} has ${value.length} characters`, 'a2aIdCharacters');
  if (parts.length === 0) throw new RequestMalformedError('The message has no parts.');
  if (parts.length > limits.a2aParts) throw tooMuch(`The message has ${parts.length} parts`, 'a2aParts');
  const content = parts.map((part) => readPart(part, nonce));
  const strange = parts.some((part) => part.content?.$case !== 'text');
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const note: readonly Content[] = strange && text !== '' ? [{ type: 'text', text: fenceNote(nonce) }] : [];
  const kept = strange ? keptParts(parts) : undefined;
  return { id, text, digest: digestOf(message), parts: kept, input: { role: 'user', content: [...content, ...note] } };
}

/** What the agent is given is not what came: whoever asks for the history gets back what they sent. */
function keptParts(parts: readonly Part[]): PeerParts | undefined {
  let room: number = limits.a2aPartsKeptCharacters;
  const kept: PeerParts = [];
  for (const { content, filename, mediaType } of parts) {
    if (content === undefined) return undefined;
    const value = content.$case === 'raw' ? content.value.toString('base64') : ((content.value ?? null) as Json);
    room -= typeof value === 'string' ? value.length : JSON.stringify(value).length;
    if (room < 0) return undefined;
    kept.push({ kind: content.$case, value, ...present({ filename: filename || undefined, mediaType: mediaType || undefined }) });
  }
  return kept;
}

function readPart({ content, filename, mediaType }: Part, nonce: string): Content {
  const about = [filename, mediaType].filter((word) => word !== '').join(', ');
  const block = (label: string, text: string): Content => ({
    type: 'text',
    text: fenced(label, nonce, about === '' ? text : `(${oneLine(about)})\n${text}`),
  });
  switch (content?.$case) {
    case 'text':
      return { type: 'text', text: content.value };
    case 'data':
      return block('data', dataText(content.value));
    case 'url':
      return block('address', `${oneLine(content.value)}\nNobody has looked there.`);
    case 'raw':
      if (IMAGES.has(mediaType)) return image(content.value, mediaType);
      if (!isUtf8(content.value))
        throw new ContentTypeNotSupportedError(`A file of ${mediaType || 'unknown type'} cannot be read.`);
      return block('file', content.value.toString('utf8'));
    default:
      throw new RequestMalformedError('A part has neither text, data, raw nor url.');
  }
}

function image(bytes: Buffer, mediaType: string): Content {
  if (bytes.length > limits.imageBytes) throw tooMuch(`An image has ${bytes.length} bytes`, 'imageBytes');
  return { type: 'image', mediaType, data: bytes.toString('base64') };
}

function dataText(value: unknown): string {
  try {
    return readableJson(value);
  } catch {
    throw new RequestMalformedError('A data part is nested too deeply.');
  }
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 2_000);

/** Of all that it says, and not of how: a message that is sent again may come over another binding. */
function digestOf({ parts, metadata }: Message): string {
  const said = parts.map(({ content, filename, mediaType }) => {
    const value = content?.$case === 'raw' ? content.value.toString('base64') : (content?.value ?? null);
    return [content?.$case ?? null, value, filename, mediaType];
  });
  try {
    return createHash('sha256')
      .update(JSON.stringify([said, metadata ?? {}]))
      .digest('hex');
  } catch {
    throw new RequestMalformedError('The message is nested too deeply.');
  }
}
