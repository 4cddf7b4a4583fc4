/** What is said of a call, put together: as real executors say it. */
import { describe, expect, it } from 'vitest';
import { toolCallSaid } from '../acp-wire/schemas.ts';
import { type CallNeeds, createCalls } from './calls.ts';
import { updateOf } from './updates.ts';

function said(needs: Partial<CallNeeds>, ...updates: readonly object[]) {
  const calls = createCalls({ titleIsCommand: false, terminal: () => undefined, ...needs });
  return updates.map((update) => calls.said(toolCallSaid.parse({ toolCallId: 'c', ...update }))).at(-1);
}

describe('the command of a call', () => {
  const asked = { title: 'npm test', kind: 'execute', content: [] };

  it('is its title where that is known of an executor, and only of commands', () => {
    expect(said({ titleIsCommand: true }, asked)).toMatchObject({ input: { command: 'npm test' } });
    expect(said({}, asked)).not.toHaveProperty('input');
    expect(said({ titleIsCommand: true }, { ...asked, kind: 'edit' })).not.toHaveProperty('input');
  });

  it('is what it says before its title', () => {
    expect(said({ titleIsCommand: true }, { ...asked, rawInput: { command: 'ls' } }, { title: 'List' })).toMatchObject({
      input: { command: 'ls' },
    });
  });
});

describe('what came of a call', () => {
  const shown = { content: [{ type: 'terminal', terminalId: 'its own' }] };
  const piece = (data: string) => ({ _meta: { terminal_output_delta: { data, terminal_id: 'its own' } } });
  const text = (words: string) => ({ content: [{ type: 'content', content: { type: 'text', text: words } }] });

  it('is what a terminal of its own printed, in pieces or whole', () => {
    expect(said({}, shown, piece('it '), { ...piece('ran\n'), status: 'completed' })).toMatchObject({ output: 'it ran\n' });
    expect(said({}, shown, piece('it '), { _meta: { terminal_output: { data: 'all' } } })).toMatchObject({ output: 'all' });
  });

  it('is not what it showed when it asked', () => {
    const asked = { status: 'pending', ...text('[current working directory /w] (why)') };
    expect(said({}, asked, { status: 'completed', content: [] })).toMatchObject({ output: '' });
    expect(said({}, asked, { status: 'completed', content: [], rawOutput: 'done' })).toMatchObject({ output: 'done' });
    expect(said({}, text('kept'), { status: 'completed' })).toMatchObject({ output: 'kept' });
  });
});

describe('a mode', () => {
  it('that is an option of the configuration is told like any other', () => {
    const calls = createCalls({ titleIsCommand: false, terminal: () => undefined });
    const options = [{ id: 'm', category: 'mode', currentValue: 'plan', options: [] }];
    expect(updateOf('config_option_update', { configOptions: options }, calls)).toEqual({ kind: 'mode', mode: 'plan' });
    expect(updateOf('config_option_update', { configOptions: [] }, calls)).toBeUndefined();
  });
});
