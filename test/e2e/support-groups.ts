/** A project with two groups, and replies for everybody in them. */
import { createTestProject, type TestProject } from './support-project.ts';

const DESK = '---\nname: desk\ngroup: { mode: orchestrator, workers: [coder, tester] }\n---\nYou lead.\n';
const PANEL = '---\nname: panel\ngroup: { mode: broadcast, workers: [coder] }\n---\nYou ask everybody.\n';

/** Replies go by what the prompt says, so that any number of prompts finds its answer. */
export const REPLIES = {
  agents: {
    desk: [
      { when: { contains: 'The workers have answered' }, text: 'All together.' },
      { text: '@worker:coder write it\n@worker:tester test it' },
    ],
    coder: [
      { when: { contains: 'write a file' }, toolCalls: [{ name: 'write', input: { path: 'out.txt', content: 'by coder' } }] },
      { text: 'one' },
      { text: 'two' },
      { text: 'three' },
    ],
    tester: [{ text: 'tested' }, { text: 'tested again' }],
  },
};

export async function groupProject(settings = 'permissions: { write: allow }\n'): Promise<TestProject> {
  const made = await createTestProject(settings);
  await made.write('agents/desk.md', DESK);
  await made.write('agents/panel.md', PANEL);
  await made.write('agents/coder.md', '---\nname: coder\ntools: [write]\n---\nYou code.\n');
  await made.write('agents/tester.md', '---\nname: tester\n---\nYou test.\n');
  await made.write('replies.yaml', JSON.stringify(REPLIES));
  made.env['TROUPE_MODEL'] = 'scripted:replies.yaml';
  return made;
}
