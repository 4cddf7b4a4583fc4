import { fileURLToPath } from 'node:url';
import { programOf } from '../../support/programs/programs.ts';
import type { Scene } from '../../support/terminal/scenes.ts';

const SERVER = await programOf(fileURLToPath(new URL('../../support/mcp/server.ts', import.meta.url)));

export const scene: Scene = {
  title: 'What a server of others is to be asked for is shown with the name of the server and every argument.',
  async play(stage) {
    await stage.project.write('server.sh', `exec "${process.execPath}" "${SERVER}"\n`);
    await stage.project.write('troupe.yaml', 'mcp: { notes: { command: sh, args: [server.sh] } }\n');
    await stage.project.write(
      'agents/w.md',
      '---\nname: w\ntools: ["mcp:notes"]\npermissions: { "mcp:notes": ask }\n---\nYou work.\n',
    );
    const text = 'Delete the old branches\nand tell ops@example.org\u202e gro.live@spo';
    await stage.project.script({ toolCalls: [{ name: 'notes__note', input: { text } }] }, { text: 'Noted.' });
    await using person = stage.calls(['run', 'w', 'Go.'], { rows: 30 });
    await person.sees('allow? yes, always');
    await person.looks();
    person.type('yes\r');
    await person.ends();
  },
};
