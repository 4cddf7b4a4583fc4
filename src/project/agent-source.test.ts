import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../test/fixtures/agents/temporary-project.ts';
import { openProject } from './open.ts';

const files = {
  'agents/desk.md':
    '---\nmodel: test/own\ngroup: { mode: broadcast, workers: [coder, { agent: coder, name: second, model: test/other }] }\n---\nx',
  'agents/coder.md': '---\nmodel: test/coder\n---\nx',
};

describe('a model that is named on the command line', () => {
  it('is that of every agent, and of workers with a model of their own', async () => {
    await using project = await temporaryProject(files);
    const env = { HOME: project.root };
    const opened = await openProject({ cwd: project.root, root: project.root, env, flags: { model: 'test/all' } });
    try {
      const desk = await opened.groups.agent('desk');
      expect(desk?.models).toEqual(['test/all']);
      expect(desk?.group?.workers).toEqual(['coder', { agent: 'coder', name: 'second', model: 'test/all' }]);
      expect((await opened.groups.agent('coder'))?.models).toEqual(['test/all']);
    } finally {
      await opened.close();
    }
  });
});
