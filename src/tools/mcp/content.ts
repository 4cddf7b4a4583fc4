/** Turns what an MCP tool answered into a tool outcome. Media that models cannot see become a line that names them. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { readableJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import type { ImagePart, TextPart } from '../../events/messages.ts';
import { groupDigits } from '../bounded.ts';
import type { ToolOutcome } from '../port.ts';

const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

export function toolOutcomeOf(result: CallToolResult): ToolOutcome {
  const content = (result.content ?? []).map(partOf);
  // Servers are asked to repeat structured content as text; one that did not would otherwise answer nothing.
  if (result.structuredContent !== undefined && !content.some(({ type }) => type === 'text')) {
    content.push(text(readableJson(result.structuredContent)));
  }
  if (content.length === 0) content.push(text('(the tool answered without content)'));
  if (result.isError !== true) return { kind: 'ok', content };
  return { kind: 'error', message: content.map((part) => (part.type === 'text' ? part.text : '(an image)')).join('\n') };
}

function partOf(block: ContentBlock): TextPart | ImagePart {
  switch (block.type) {
    case 'text':
      return text(block.text);
    case 'image':
      return imageOrNote(block.mimeType, block.data, 'image');
    case 'audio':
      return text(note('audio', block.mimeType, block.data));
    case 'resource_link':
      return text(
        `[${block.title ?? block.name}](${block.uri})${block.description === undefined ? '' : `: ${block.description}`}`,
      );
    case 'resource':
      if ('text' in block.resource) return text(`${block.resource.uri}\n${block.resource.text}`);
      return imageOrNote(block.resource.mimeType ?? '', block.resource.blob, block.resource.uri);
    default:
      return text('(content of an unknown kind)');
  }
}

function imageOrNote(mediaType: string, data: string, what: string): TextPart | ImagePart {
  if (!IMAGE_TYPES.has(mediaType) || data.length * 0.75 > limits.imageBytes) return text(note(what, mediaType, data));
  return { type: 'image', mediaType, data };
}

function note(what: string, mediaType: string, data: string): string {
  return `(${what}: ${mediaType || 'unknown type'}, ${groupDigits(Math.floor(data.length * 0.75))} bytes, not shown)`;
}

const text = (content: string): TextPart => ({ type: 'text', text: content });
