import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkVariables, expandPrompt, literalPrompt, promptValues } from './variables.ts';

describe('expanding a prompt', () => {
  it('fills in values once and leaves the rest', () => {
    const values = { A: 'one', B: `\${A}`, C: '$&' };
    expect(expandPrompt(`\${A} \${B} \${C} \${D} $\${A} $$\${A} \${ A } \${toString} $A`, values)).toBe(
      `one \${A} $& \${D} \${A} $\${A} \${ A } \${toString} $A`,
    );
  });

  it('gives literal prompts back unchanged', () => {
    const pieces = fc.array(fc.constantFrom('$', '{', '}', 'A', `\${A}`, `$\${`, '\n', 'include:'), { maxLength: 30 });
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join('');
        expect(expandPrompt(literalPrompt(text), { A: 'x' })).toBe(text);
      }),
    );
  });
});

describe('the values of variables', () => {
  const agent = { name: 'helper', models: [], prompt: '', source: 'a.md' };
  const now = Date.UTC(2026, 0, 31, 23, 30, 5);

  it('are those of the moment, the place and the agent', () => {
    expect(promptValues(agent, { now, timeZone: 'Europe/Athens', workspace: '/w', vars: { TEAM: 'x', DATE: 'mine' } })).toEqual({
      DATETIME: '2026-02-01T01:30:05+02:00',
      DATE: '2026-02-01',
      TIMEZONE: 'Europe/Athens',
      DAY: 'Sunday',
      FORMAT: 'markdown',
      MAX_TURNS: '10',
      MAX_TOOLS: '10',
      AGENT: 'helper',
      WORKSPACE: '/w',
      TEAM: 'x',
    });
  });

  it('follow the keys of the file', () => {
    const values = promptValues(
      { ...agent, maxTurns: 3, maxToolCallsPerTurn: 2, output: { schema: { type: 'object' } } },
      { now, timeZone: 'UTC', workspace: '/w' },
    );
    expect(values).toMatchObject({ FORMAT: 'json', MAX_TURNS: '3', MAX_TOOLS: '2', DATETIME: '2026-01-31T23:30:05+00:00' });
  });
});

it('variables that nothing will fill in are named', () => {
  expect(checkVariables(`\${DATE} \${TEAM} \${agnet}`, ['TEAM'])).toEqual([
    { name: 'agnet', offset: 16, fix: 'Did you mean "AGENT"?' },
  ]);
});
