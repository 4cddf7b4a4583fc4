import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programOf } from '../../support/programs/programs.ts';
import type { Scene } from '../../support/terminal/scenes.ts';

const SERVER = await programOf(fileURLToPath(new URL('../../support/mcp/server.ts', import.meta.url)));
const AGENT = '---\nname: w\ntools: [ask, "mcp:notes"]\npermissions: { "mcp:notes": allow }\n---\nYou work.\n';

/** Every shell ends the same way where it is gone. */
const STARTS = 'test -f server.sh || exit 3; exec sh server.sh';

export const scene: Scene = {
  title:
    'A tool server is lost while a run waits: the run says so and stands still, and goes on where it was once the server is back.',
  async play(stage) {
    const at = (name: string): string => join(stage.project.folder, name);
    await stage.project.write('server.sh', `exec "${process.execPath}" "${SERVER}"\n`);
    await stage.project.write('troupe.yaml', `mcp: { notes: { command: sh, args: [-c, "${STARTS}"] } }\n`);
    await stage.project.write('agents/w.md', AGENT);
    await stage.project.script(
      { toolCalls: [{ name: 'ask', input: { question: 'Note it?' } }] },
      { toolCalls: [{ name: 'notes__note', input: { text: 'Remember the milk.' } }] },
      { text: 'Noted.' },
    );
    await using person = stage.calls(['run', 'w', 'Go.'], { rows: 24 });
    await person.sees('answer:');
    person.type('\u0003');
    await person.ends();
    await rename(at('server.sh'), at('elsewhere.sh'));
    stage.tells('the server is gone');
    await using lost = stage.calls(['answer', 'last', 'yes'], { rows: 24 });
    await lost.ends();
    await using still = stage.calls(['resume', 'last'], { rows: 24 });
    await still.ends();
    await rename(at('elsewhere.sh'), at('server.sh'));
    stage.tells('the server is back');
    await using again = stage.calls(['resume', 'last'], { rows: 24 });
    await again.ends();
  },
};
