/** What version 2 tells, in the words of version 1. */
import { describe, expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import { version2 } from './version-2.ts';

const told = (...updates: readonly object[]) => {
  const dialect = version2();
  return updates.flatMap((update) =>
    dialect.updates({ sessionId: 's', update }).map((one) => (one as { readonly update: Record<string, unknown> }).update),
  );
};
const text = (said: string) => ({ type: 'text', text: said });
const base64 = (said: string): string => Buffer.from(said).toString('base64');

describe('a message', () => {
  const piece = (said: string) => ({ sessionUpdate: 'agent_message_chunk', messageId: 'm', content: text(said) });
  const whole = (...said: readonly string[]) => ({ sessionUpdate: 'agent_message', messageId: 'm', content: said.map(text) });

  it.each([
    { of: 'pieces, and then whole', updates: [piece('Hel'), piece('lo'), whole('Hello')], says: ['Hel', 'lo'] },
    { of: 'pieces, and then more', updates: [piece('Hel'), whole('Hel', 'lo'), whole('Hello')], says: ['Hel', 'lo'] },
    { of: 'only itself', updates: [whole('Hello')], says: ['Hello'] },
    { of: 'other words than before', updates: [piece('Hel'), whole('Bye')], says: ['Hel', '\nBye'] },
    { of: 'nothing', updates: [whole(), { sessionUpdate: 'agent_message', messageId: 'm' }], says: [] },
  ])('of $of is said once', ({ updates, says }) => {
    expect(told(...updates)).toEqual(
      says.map((said) => expect.objectContaining({ sessionUpdate: 'agent_message_chunk', content: text(said) })),
    );
  });
});

describe('a call', () => {
  const call = (more: object) => ({ sessionUpdate: 'tool_call_update', toolCallId: 'c', ...more });
  const diff = {
    type: 'diff',
    changes: [{ operation: 'move', oldPath: '/w/a', path: '/w/b' }],
    patch: { format: 'git_patch', text: '@@' },
  };

  it('names all places of its changes, whatever else it names', () => {
    const places = [{ path: '/w/a' }, { path: '/w/b' }];
    expect(told(call({ content: [diff] }))).toMatchObject([{ locations: places, content: [{ content: text('@@') }] }]);
    expect(told(call({ content: [diff] }), call({ locations: [{ path: '/w/c' }] })).at(-1)).toMatchObject({
      locations: [...places, { path: '/w/c' }],
    });
    expect(told(call({ content: [diff] }), call({ content: null })).at(-1)).toMatchObject({ locations: [], content: [] });
    expect(told(call({ status: 'paused' }), call({ status: 'cancelled' }))).toMatchObject([
      { status: 'in_progress' },
      { status: 'failed' },
    ]);
  });

  it('is put together from its pieces and the terminals that it shows', () => {
    const piece = (said: string) => ({
      sessionUpdate: 'tool_call_content_chunk',
      toolCallId: 'c',
      content: { type: 'content', content: text(said) },
    });
    expect(told(call({ content: [] }), piece('a'), piece('b')).at(-1)).toMatchObject({
      content: [{ content: text('a') }, { content: text('b') }],
    });
    const euro = Buffer.from('€');
    const bytes = (from: number, to?: number) => ({
      ...{ sessionUpdate: 'terminal_output_chunk', terminalId: 't', data: euro.subarray(from, to).toString('base64') },
    });
    const ended = { sessionUpdate: 'terminal_update', terminalId: 't', exitStatus: { exitCode: 0 } };
    const shown = call({ content: [{ type: 'terminal', terminalId: 't' }] });
    expect(told(shown, bytes(0, 1), bytes(1), ended).at(-1)).toMatchObject({
      toolCallId: 'c',
      content: [{ content: text('€') }],
    });
    const again = { sessionUpdate: 'terminal_update', terminalId: 't', output: { data: base64('all') } };
    expect(told(shown, bytes(0), again).at(-1)).toMatchObject({ content: [{ content: text('all') }] });
  });

  it('is bounded', () => {
    const piece = { sessionUpdate: 'tool_call_content_chunk', toolCallId: 'c', content: { type: 'content', content: text('x') } };
    const all = told(...Array.from({ length: limits.executorDiffs + 5 }, () => piece));
    expect(all.at(-1)?.['content']).toHaveLength(limits.executorDiffs);
    const flood = {
      sessionUpdate: 'terminal_output_chunk',
      terminalId: 't',
      data: base64('y'.repeat(limits.executorCallOutputBytes + 5)),
    };
    const shown = told(call({ content: [{ type: 'terminal', terminalId: 't' }] }), flood, {
      ...flood,
      sessionUpdate: 'terminal_update',
      data: '',
    });
    expect(JSON.stringify(shown.at(-1))).toHaveLength(JSON.stringify(shown.at(0)).length + limits.executorCallOutputBytes);
  });
});

describe('other things', () => {
  it('are told as version 1 has them, or not at all', () => {
    const entries = [{ content: 'one', priority: 'high', status: 'pending' }];
    expect(told({ sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'p', entries } })).toEqual([
      { sessionUpdate: 'plan', entries },
    ]);
    expect(
      told({ sessionUpdate: 'plan_update', plan: { type: '_other' } }, { sessionUpdate: 'tool_call', toolCallId: 'c' }),
    ).toEqual([]);
    expect(
      told({ sessionUpdate: 'config_option_update', configOptions: [{ configId: 'mode', currentValue: 'plan' }] }),
    ).toMatchObject([{ configOptions: [{ id: 'mode', currentValue: 'plan' }] }]);
    expect(told({ sessionUpdate: 'notice', severity: 'error', title: 'No', description: 'why' })).toMatchObject([
      { sessionUpdate: 'agent_thought_chunk', content: text('No: why\n') },
    ]);
  });

  it('that it asks are put as calls, and files and terminals of ours there are none', () => {
    const dialect = version2();
    const asked = (subject: object | undefined) =>
      dialect.asked('session/request_permission', { sessionId: 's', title: 'May I', description: 'run it', subject, options: [] })
        ?.params;
    expect(asked({ type: 'command', command: 'npm test', cwd: '/w' })).toMatchObject({
      sessionId: 's',
      toolCall: { kind: 'execute', title: 'May I: run it', rawInput: { command: 'npm test', cwd: '/w' } },
    });
    expect(asked({ type: 'tool_call', toolCall: { toolCallId: 'c', kind: 'edit' } })).toMatchObject({
      toolCall: { toolCallId: 'c', kind: 'edit', title: 'May I: run it' },
    });
    expect(asked(undefined)).toMatchObject({ toolCall: { kind: 'other', title: 'May I: run it' } });
    expect(dialect.asked('fs/read_text_file', {})).toBeUndefined();
    expect(dialect.asked('terminal/create', {})).toBeUndefined();
  });
});
