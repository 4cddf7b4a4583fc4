import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as older } from 'zod/v3';
import { TroupeError } from '../base/errors.ts';
import { defineTool, type InputSchema } from './define-tool.ts';
import { errorResult, type ToolContext } from './port.ts';

const context = {} as ToolContext;
const draft = {
  name: 'stock',
  description: 'How many are left.',
  input: z.object({ article: z.string().min(2) }),
  run: () => 'ok',
};

describe('a tool of a program', () => {
  it('shows the model its schema', () => {
    expect(defineTool(draft)).toMatchObject({
      name: 'stock',
      inputSchema: {
        type: 'object',
        properties: { article: { type: 'string', minLength: 2 } },
        required: ['article'],
      },
    });
    expect(defineTool(draft).inputSchema).not.toHaveProperty('$schema');
  });

  it('is not repeated unless it says so or changes nothing', () => {
    const replays = [{}, { readOnly: true }, { replay: 'safe' as const }, { readOnly: true, replay: 'never' as const }];
    expect(replays.map((more) => defineTool({ ...draft, ...more })).map(({ replay, readOnly }) => [replay, readOnly])).toEqual([
      ['never', undefined],
      ['safe', true],
      ['safe', undefined],
      ['never', true],
    ]);
  });

  it('gets what its schema makes of the arguments', async () => {
    const input = z.object({ count: z.number().default(3), word: z.string().transform((word) => word.toUpperCase()) });
    const tool = defineTool({ ...draft, input, run: ({ count, word }) => word.repeat(count) });
    expect(await tool.run({ word: 'a' }, context)).toMatchObject({ kind: 'ok', content: [{ text: 'AAA' }] });
    expect(tool.inputSchema['required']).toEqual(['word']);
  });

  it('tells the model what does not fit, by name', async () => {
    const input = z.object({ from: z.object({ day: z.number() }).refine(({ day }) => day < 8, 'is not in this week') });
    const tool = defineTool({ ...draft, input, run: () => 'never' });
    const outcome = await tool.run({ from: { day: 9 } }, context);
    expect(outcome).toEqual(errorResult("The arguments do not fit the tool's schema: from: is not in this week."));
  });

  it('gives a text, an outcome, or an error of its own', async () => {
    const tool = defineTool({ ...draft, run: async ({ article }) => (article === 'lamp' ? '7' : errorResult('None.')) });
    expect(await tool.run({ article: 'lamp' }, context)).toMatchObject({ kind: 'ok' });
    expect(await tool.run({ article: 'chair' }, context)).toEqual(errorResult('None.'));
  });

  it.each([
    [undefined, 'It was done, and gave nothing back.'],
    [{ left: 7 }, '{"left":7}'],
    [7, '7'],
    [null, 'null'],
    [{ kind: 'ok' }, '{"kind":"ok"}'],
  ])('that gives %j has done its work all the same: nobody is told that it failed', async (given, text) => {
    const tool = defineTool({ ...draft, run: () => given as unknown as string });
    expect(await tool.run({ article: 'lamp' }, context)).toMatchObject({ kind: 'ok', content: [{ text }] });
  });

  it('may come from any schema that keeps to the standard', async () => {
    const input: InputSchema<{ readonly article: string }> = {
      '~standard': {
        validate: async (value) =>
          typeof value === 'object' && value !== null && 'article' in value
            ? { value: { article: String(value.article) } }
            : { issues: [{ message: 'is missing', path: [{ key: 'article' }] }] },
        jsonSchema: { input: () => ({ type: 'object', properties: { article: { type: 'string' } } }) },
      },
    };
    const tool = defineTool({ ...draft, input, run: ({ article }) => article });
    expect(await tool.run({ article: 'lamp' }, context)).toMatchObject({ content: [{ text: 'lamp' }] });
    expect(await tool.run({}, context)).toMatchObject({ kind: 'error', message: expect.stringContaining('article: is missing') });
  });

  it.each([
    ['a name that providers refuse', () => defineTool({ ...draft, name: 'the stock' }), 'the stock'],
    ['arguments without names', () => defineTool({ ...draft, input: z.string() }), 'not an object'],
    ['a name of the runtime’s own', () => defineTool({ ...draft, name: 'final_report' }), 'cannot be named final_report'],
    ['a misspelled key', () => defineTool({ ...draft, readonly: true } as typeof draft), 'Did you mean "readOnly"?'],
    ['nothing to run', () => defineTool({ ...draft, run: undefined } as unknown as typeof draft), '"run" is missing'],
    ['no description', () => defineTool({ ...draft, description: '' }), '"description" must be text'],
    ['another replay', () => defineTool({ ...draft, replay: 'always' as 'safe' }), "must be 'safe' or 'never'"],
    ['no time at all', () => defineTool({ ...draft, timeoutMs: 0 }), '"timeoutMs" must be a whole number from 1 on'],
    ['a time limit below nothing', () => defineTool({ ...draft, timeoutMs: -1 }), '"timeoutMs" must be a whole number'],
    ['a schema of zod/mini', () => defineTool({ ...draft, input: mini.object({}) as never }), 'no schema that can say'],
    ['a schema of zod 3', () => defineTool({ ...draft, input: older.object({}) as never }), 'no schema that can say'],
    ['a plain JSON Schema', () => defineTool({ ...draft, input: { type: 'object' } as never }), 'no schema that can say'],
    ['what no JSON Schema can say', () => defineTool({ ...draft, input: z.object({ when: z.date() }) }), 'cannot be shown'],
  ])('is refused with %s', (_why, make, message) => {
    expect(make).toThrow(TroupeError);
    expect(make).toThrow(message);
  });
});
