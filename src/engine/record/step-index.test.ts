import { describe, expect, it } from 'vitest';
import { type Message, type ToolResultPart, userText } from '../../events/messages.ts';
import { createStepIndex } from './step-index.ts';

const result = (id: string): ToolResultPart => ({ type: 'tool-result', id, name: 'look', content: [{ type: 'text', text: id }] });

describe('what a request adds', () => {
  it('is named by its step where it has one, and by the run when it is another’s', () => {
    const index = createStepIndex();
    const request = userText('Go.');
    const broadcast = userText('Hello.');
    index.place(request, 'input');
    index.place(broadcast, 'broadcast/1', 'run_other');
    expect(index.added([request, broadcast])).toEqual([{ step: 'input' }, { step: 'broadcast/1', run: 'run_other' }]);
  });

  it('is given whole when nobody has recorded it', () => {
    const said = userText('You repeat yourself.');
    expect(createStepIndex().added([said])).toEqual([{ message: said }]);
  });

  it('is looked up result by result, since each is a step of its own', () => {
    const index = createStepIndex();
    const [known, unknown] = [result('one'), result('two')];
    const results: Message = { role: 'tool', content: [known, unknown] };
    index.place(known, 'turn/1/tool/0');
    expect(index.added([results])).toEqual([{ step: 'turn/1/tool/0' }, { message: { role: 'tool', content: [unknown] } }]);
  });

  it('is known by identity: the same words said again are something else', () => {
    const index = createStepIndex();
    index.place(userText('Go.'), 'input');
    expect(index.stepOf(userText('Go.'))).toBeUndefined();
  });
});
