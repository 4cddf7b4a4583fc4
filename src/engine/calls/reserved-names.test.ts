import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FINAL_REPORT } from '../../loop/final-report.ts';
import { ROUTE } from '../../patterns/router.ts';
import { BROADCAST } from '../../patterns/team/seat.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { ASK_CLARIFICATION, DISMISS_AGENT } from './agent-tools.ts';

describe('a tool that the runtime adds to those of an agent', () => {
  it.each([ASK_CLARIFICATION, DISMISS_AGENT, FINAL_REPORT, ROUTE, BROADCAST])('is the only one named %s', (name) => {
    const make = () => defineTool({ name, description: 'Mine.', input: z.object({}), run: () => 'mine' });
    expect(make).toThrow(`A tool cannot be named ${name}.`);
  });
});
