import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FINAL_REPORT } from '../../loop/final-report.ts';
import type { Pattern } from '../../patterns/pattern.ts';
import { registeredPatterns } from '../../patterns/registered.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { ASK_CLARIFICATION, DISMISS_AGENT } from './agent-tools.ts';

const patterns: readonly Pattern[] = registeredPatterns;
const ofPatterns = patterns.flatMap(({ tools }) => tools ?? []);

describe('a tool that the runtime adds to those of an agent', () => {
  it.each([ASK_CLARIFICATION, DISMISS_AGENT, FINAL_REPORT, ...ofPatterns])('is the only one named %s', (name) => {
    const make = () => defineTool({ name, description: 'Mine.', input: z.object({}), run: () => 'mine' });
    expect(make).toThrow(`A tool cannot be named ${name}.`);
  });

  it('may be that of a pattern', () => {
    expect(ofPatterns).toContain('team_broadcast');
  });
});
