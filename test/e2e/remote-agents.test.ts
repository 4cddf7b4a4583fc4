/**
 * Troupe asks Troupe: the command line in one project, and the agents of another behind a real server. Each has its own ledger,
 * and a model server of its own that counts who was asked.
 */
import { describe, expect, it } from 'vitest';
import { OWNER, type Served, type ServedOptions, served } from '../support/a2a/served.ts';
import { createTestProject, type TestProject } from './support-project.ts';

interface Pair extends AsyncDisposable {
  readonly there: Served;
  readonly here: TestProject;
}

const TOKEN = `\${THERE_TOKEN}`;

async function pair(options: ServedOptions, agent = ''): Promise<Pair> {
  const there = await served(options);
  const here = await createTestProject();
  here.env['THERE_TOKEN'] = OWNER;
  const card = `${there.origin}/a2a/agents/helper/.well-known/agent-card.json`;
  await here.write('agents/weather.md', `---\nname: weather\na2a: { card: "${card}", token: "${TOKEN}" }\n${agent}---\n`);
  return {
    there,
    here,
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await there[Symbol.asyncDispose]();
    },
  };
}

describe('an agent that lives elsewhere', () => {
  it('is run like one that lives here', async () => {
    await using world = await pair({ play: () => ({ text: 'Sun in Porto.' }) });
    const ended = await world.here.troupe('run', 'weather', 'How is it in Porto?');
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('Sun in Porto.') });
    const [task] = await world.there.project.ledger.runs({ roots: true, limit: 10 });
    expect(task).toMatchObject({ agent: 'helper', state: 'completed' });
  });
});
