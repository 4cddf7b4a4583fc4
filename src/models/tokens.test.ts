import { describe, expect, it } from 'vitest';
import type { Message } from '../events/messages.ts';
import { userText } from '../events/messages.ts';
import { estimateTokens, messageTokens, textTokens } from './tokens.ts';

describe('estimateTokens', () => {
  it('counts every kind of part', () => {
    const messages: Message[] = [
      userText('x'.repeat(400)),
      { role: 'user', content: [{ type: 'image', mediaType: 'image/png', data: 'x'.repeat(1_000_000) }] },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'read', input: { path: 'x'.repeat(400) } }] },
      {
        role: 'tool',
        content: [{ type: 'tool-result', id: 'a', name: 'read', content: [{ type: 'text', text: 'x'.repeat(400) }] }],
      },
    ];
    const [text = 0, image = 0, call = 0, result = 0] = messages.map(messageTokens);
    for (const tokens of [text, call, result]) expect(tokens).toBeGreaterThanOrEqual(100);
    for (const tokens of [text, call, result]) expect(tokens).toBeLessThan(130);
    expect(image).toBeLessThan(5_000);
    const tools = [{ name: 'read', description: 'x'.repeat(400), inputSchema: { type: 'object' } }];
    expect(estimateTokens(messages, 'x'.repeat(400), tools)).toBeGreaterThan(text + image + call + result + 200);
  });

  it('weighs a message once', () => {
    let reads = 0;
    const part = {
      type: 'text' as const,
      get text(): string {
        reads += 1;
        return 'hello';
      },
    };
    const messages: Message[] = [{ role: 'user', content: [part] }];
    estimateTokens(messages);
    estimateTokens(messages);
    expect(reads).toBe(1);
  });

  it('takes letters outside ASCII for more', () => {
    expect(textTokens('日本語日本語')).toBeGreaterThan(textTokens('abcabc'));
    expect(textTokens('')).toBe(0);
  });
});
