/**
 * What a client sends along with a prompt, as a message of ours. Text of files is fenced: it is information, and not the words of
 * whoever asks. A link stands as its address: the agent's own tools read it, with the agent's own rights.
 */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { fenced } from '../../base/fence.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { ImagePart, TextPart, UserMessage } from '../../events/messages.ts';

type Part = TextPart | ImagePart;

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

export function messageIn(prompt: readonly ContentBlock[], nonce: string): Result<UserMessage, string> {
  if (prompt.length > limits.acpPromptParts)
    return fail(`The prompt has more than ${limits.acpPromptParts} parts (acpPromptParts)`);
  const content: Part[] = [];
  for (const block of prompt) {
    const part = partIn(block, nonce);
    if (!part.ok) return part;
    content.push(part.value);
  }
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  if (text.trim() === '' && content.every((part) => part.type === 'text')) return fail('The prompt is empty');
  if (Buffer.byteLength(text) > limits.promptBytes)
    return fail(`The prompt is larger than ${limits.promptBytes} bytes (promptBytes): put the text into a file and name it`);
  return ok({ role: 'user', content });
}

function partIn(block: ContentBlock, nonce: string): Result<Part, string> {
  switch (block.type) {
    case 'text':
      return ok({ type: 'text', text: block.text });
    case 'image':
      return imageIn(block.mimeType, block.data);
    case 'resource_link':
      return ok({ type: 'text', text: `\n[${flat(block.title ?? block.name)}](${flat(block.uri)})\n` });
    case 'resource': {
      const { resource } = block;
      if ('text' in resource)
        return ok({ type: 'text', text: `\n\n${flat(resource.uri)}, sent along:\n${fenced('file', nonce, resource.text)}\n` });
      const type = resource.mimeType ?? '';
      if (IMAGES.has(type)) return imageIn(type, resource.blob);
      return fail(`${flat(resource.uri)} is neither text nor a picture`);
    }
    default:
      return fail(`A prompt cannot have "${block.type}" here: text, pictures, links and resources are understood`);
  }
}

function imageIn(mediaType: string, data: string): Result<Part, string> {
  if (!IMAGES.has(mediaType)) return fail(`"${flat(mediaType)}" is no kind of picture that can be sent (png, jpeg, gif, webp)`);
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes > limits.imageBytes) return fail(`A picture is larger than ${limits.imageBytes} bytes (imageBytes)`);
  return ok({ type: 'image', mediaType, data });
}

/** A name from outside stays within its line. */
const flat = (text: string): string =>
  text
    .slice(0, limits.pathCharacters)
    .replaceAll(/[\s\p{Cc}[\]()]+/gu, ' ')
    .trim();
