/**
 * The host's side of the numbers: what was given to runners, by number and by identity. The ports know messages and results by
 * identity, so whatever a runner names by its number is handed to them as the very object that they gave.
 */
import { present } from '../../base/present.ts';
import type { Message, ToolResultPart } from '../../events/messages.ts';
import type { FramedMessage, Given, LlmRequest, OwnMessage } from '../wire/frames.ts';

type Item = Message | ToolResultPart;

export interface GivenItems {
  give<Kind extends Item>(item: Kind): Given<Kind>;
  find(number: number): Item | undefined;
  /** Nobody will name others than these, and what is in them, any more. */
  keepOnly(messages: readonly Message[]): void;
}

export function createGivenItems(reference: (item: Item) => string | undefined): GivenItems {
  const items = new Map<number, Item>();
  const numbers = new WeakMap<Item, number>();
  let next = 0;
  return {
    give(item) {
      const given = numbers.get(item) ?? next;
      if (given === next) next += 1;
      numbers.set(item, given);
      items.set(given, item);
      const at = reference(item);
      const parts = 'role' in item && item.role === 'tool' ? { parts: item.content.map((part) => reference(part) ?? null) } : {};
      return { given, item: lean(item), ...present({ at }), ...parts };
    },
    find: (number) => items.get(number),
    keepOnly(messages) {
      const kept = new Set<Item>(messages);
      for (const message of messages) if (message.role === 'tool') for (const part of message.content) kept.add(part);
      for (const [number, item] of items) if (!kept.has(item)) items.delete(number);
    },
  };
}

/** Without what the loop never looks at: pictures, and what only the provider that wrote it may see. */
function lean<Kind extends Item>(item: Kind): Kind {
  const heavy = (part: { readonly type: string }): boolean => part.type === 'image' || 'opaque' in part || 'content' in part;
  if (!item.content.some(heavy)) return item;
  return { ...item, content: item.content.map((part) => leanPart(part)) };
}

function leanPart(part: Item['content'][number]): Item['content'][number] {
  if (part.type === 'image') return { ...part, data: '' };
  if (part.type === 'tool-result') return lean(part);
  return 'opaque' in part ? { ...part, opaque: undefined } : part;
}

/** A runner's conversation as the host sees it. One per runner: a new runner begins anew. */
export interface Mirror {
  /** The whole conversation of a request; `undefined` when it names what there is not. `fresh` are the runner's own items. */
  follow(request: LlmRequest): { readonly messages: readonly Message[]; readonly fresh: readonly Item[] } | undefined;
  find(sent: FramedMessage, fresh: Item[]): Message | undefined;
  keepOnly(messages: readonly Message[]): void;
}

export function createMirror(given: GivenItems): Mirror {
  const own = new Map<number, Message>();
  let messages: Message[] = [];

  const rebuild = (message: OwnMessage, fresh: Item[]): Message | undefined => {
    if (message.role === 'user') {
      fresh.push(message);
      return message;
    }
    const content: ToolResultPart[] = [];
    for (const sent of message.content) {
      const part = 'given' in sent ? given.find(sent.given) : sent;
      if (part === undefined || 'role' in part) return undefined;
      if (!('given' in sent)) fresh.push(part);
      content.push(part);
    }
    return { role: 'tool', content };
  };

  const find = (sent: FramedMessage, fresh: Item[]): Message | undefined => {
    if ('given' in sent) {
      const item = given.find(sent.given);
      return item !== undefined && 'role' in item ? item : undefined;
    }
    if (sent.message === undefined) return own.get(sent.own);
    const made = rebuild(sent.message, fresh);
    if (made !== undefined) own.set(sent.own, made);
    return made;
  };

  return {
    follow(request) {
      // A runner only ever adds to its conversation or tells it anew; requests before keep the list that they were made with.
      if (request.keep !== 0 && request.keep !== messages.length) return undefined;
      const fresh: Item[] = [];
      const added: Message[] = [];
      for (const sent of request.messages) {
        const message = find(sent, fresh);
        if (message === undefined) return undefined;
        added.push(message);
      }
      if (request.keep === 0) messages = added;
      else for (const message of added) messages.push(message);
      return request.new_from <= messages.length ? { messages, fresh } : undefined;
    },
    find,
    keepOnly(kept) {
      const left = new Set(kept);
      for (const [number, message] of own) if (!left.has(message)) own.delete(number);
      messages = [];
    },
  };
}
