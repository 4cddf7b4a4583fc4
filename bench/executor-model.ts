/**
 * The model behind the executors that `executors.ts` measures: `node bench/executor-model.ts <turns> <milliseconds>` prints
 * `PORT <number>`. It keeps no state: how many results a conversation holds says where it is. With one turn it only answers, in
 * the words of every provider, so that any executor can be measured with it.
 */
import { startModelServer } from '../test/support/models/model-server.ts';
import type { Reply } from '../test/support/models/script.ts';

const [turns = 1, delayMs = 0] = process.argv.slice(2).map(Number);
const FINAL = 'FINAL-ANSWER All notes are written.';

function reply(position: number): Reply {
  const usage = { input: 900 + 200 * position, output: 60 };
  if (position >= turns - 1) return { text: FINAL, usage, delayMs };
  const input = {
    path: `notes-${position}.md`,
    content: `# Part ${position}\n${'A line of text that is written.\n'.repeat(30)}`,
  };
  return { calls: [{ name: 'write', input }], usage, delayMs };
}

const server = await startModelServer(({ toolResults }) => reply(toolResults), {
  lists: { '/v1/models': { data: [{ id: 'bench' }] } },
});
process.stdout.write(`PORT ${server.port}\n`);
