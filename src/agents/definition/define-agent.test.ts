import { describe, expect, it } from 'vitest';
import { TroupeError } from '../../base/errors.ts';
import { type AgentDraft, defineAgent } from './define-agent.ts';

const problemOf = (draft: unknown): TroupeError => {
  try {
    defineAgent(draft as AgentDraft);
  } catch (error) {
    if (error instanceof TroupeError) return error;
  }
  throw new Error('no problem');
};

describe('an agent of a program', () => {
  it('is what a file with the same keys would be', () => {
    const agent = defineAgent({ name: 'clerk', prompt: 'You know.', model: ['a/b', 'c/d'], toolTimeout: '2m', handoff: 'boss' });
    expect(agent).toEqual({
      name: 'clerk',
      prompt: 'You know.',
      models: ['a/b', 'c/d'],
      toolTimeout: 120_000,
      handoff: { to: 'boss', include: 'report' },
      source: 'program:clerk',
    });
    expect(defineAgent({ name: 'clerk', prompt: 'You know.' }).models).toEqual([]);
  });

  it('is refused with every problem and how to mend it', () => {
    const error = problemOf({ name: 'clerk', prompt: 'x', modle: 'a/b', maxTurns: 0 });
    expect(error).toMatchObject({ code: 'invalid_agent', fix: expect.stringContaining('defineAgent') });
    expect(error.message).toMatch(/maxTurns[\s\S]*modle[\s\S]*model/);
    expect(problemOf({ name: 'a/b', prompt: 'x' }).message).toContain('slash');
    expect(
      problemOf({ name: 'x', prompt: 'x', team: { members: ['a'] }, group: { mode: 'broadcast', workers: ['a'] } }).message,
    ).toContain('one core');
  });

  it.each<[string, unknown, string]>([
    ['no name', { prompt: 'x' }, '"name" must be text'],
    ['no prompt', { name: 'clerk' }, '"prompt" must be text'],
    ['nothing', undefined, 'must be an object'],
  ])('with %s is refused in words', (_what, draft, message) => {
    const error = problemOf(draft as Parameters<typeof problemOf>[0]);
    expect(error).toMatchObject({ code: 'invalid_agent', message: expect.stringContaining(message) });
  });
});
