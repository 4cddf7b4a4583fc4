/** A prompt as the protocol has it. */
import type { ImagePart, TextPart } from '../../events/messages.ts';

export interface Blocks {
  readonly blocks: readonly object[];
  readonly notices: readonly string[];
}

/** An image goes to one that can see it; to others goes that there was one. */
export function blocksOf(content: readonly (TextPart | ImagePart)[], takesImages: boolean): Blocks {
  const notices: string[] = [];
  const blocks = content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    if (/^https?:\/\//.test(part.data)) return { type: 'resource_link', uri: part.data, name: 'image', mimeType: part.mediaType };
    if (takesImages) return { type: 'image', data: part.data, mimeType: part.mediaType };
    notices.push('It takes no images: it is told only that there was one.');
    return { type: 'text', text: `[an image (${part.mediaType}) that cannot be shown here]` };
  });
  return { blocks, notices };
}
