import type { Scene } from '../../support/terminal/scenes.ts';
import { asksFor } from '../workers.ts';

const CLAUDE = '---\nname: cc\ndescription: Works.\ntools: Bash(git status:*), Bash(echo:*), Write\n---\nYou work.\n';
const SETTINGS = { permissions: { deny: ['Bash(rm:*)'], ask: ['Bash(echo push:*)'], allow: ['Write(src/**)'] } };
const OPENCODE = `---
description: Works.
permission:
  edit: deny
  bash: { "*": ask, "echo *": allow, "rm *": deny }
---
You work.
`;

const shell = (command: string) => ({ name: 'shell', input: { command } });
const write = (path: string) => ({ name: 'write', input: { path, content: 'x' } });

export const scene: Scene = {
  title:
    'Agents of Claude Code and of opencode keep their rules: what these allow is made, deny is not made, and ask is asked about.',
  async play(stage) {
    await stage.project.write('.claude/agents/cc.md', CLAUDE);
    await stage.project.write('.claude/settings.json', JSON.stringify(SETTINGS));
    await stage.project.write('.opencode/agents/oc.md', OPENCODE);
    const calls = [shell('echo one'), shell('rm -rf build'), write('src/a.ts'), shell('echo push it')];
    await stage.project.script(...asksFor(...calls));
    for (const agent of ['cc', 'oc']) {
      await using person = stage.calls(['run', agent, 'Go.'], { rows: 30 });
      if (agent === 'cc') {
        await person.sees(/\| echo push it[\s\S]*allow\? yes, always/);
        await person.looks();
        person.type('no\r');
      }
      await person.ends();
    }
  },
};
