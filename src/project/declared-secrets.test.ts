/** What the settings and agents' files name as a key, a token or a header is taken out of everything that is written or shown. */
import { expect, it } from 'vitest';
import { temporaryProject } from '../../test/fixtures/agents/temporary-project.ts';
import { readAll } from '../engine/record/read-all.ts';
import { userText } from '../events/messages.ts';
import { openProject } from './open.ts';

const named = (name: string): string => `\${${name}}`;
const VALUES = {
  WEATHER: 'bluewhale-Forest42',
  HEADER: 'greenwhale-Forest43',
  MINE: 'redwhale-Forest44',
  TICKETS: 'greywhale-Forest45',
  GIVEN: 'pinkwhale-Forest46',
  PLAIN: 'whitewhale-Forest47',
};

it.each(['the environment', '.env'] as const)(
  'variables of %s that are named as secret are, whatever their names',
  async (place) => {
    const says = Object.values(VALUES).join(', ');
    await using project = await temporaryProject({
      'troupe.yaml': [
        'model: scripted:r.yaml',
        'providers: { mine: { baseURL: "http://127.0.0.1:1", apiKeyEnv: MINE } }',
        `mcp: { t: { url: "http://127.0.0.1:1", headers: { X-Key: "${named('TICKETS')}" } },`,
        `  s: { command: x, env: { API_TOKEN: "${named('GIVEN')}", WORD: "${named('PLAIN')}" } } }`,
      ].join('\n'),
      'r.yaml': `- text: ${says}\n`,
      'agents/worker.md': '---\ndescription: Works\n---\nYou work.\n',
      'agents/weather.md': [
        '---\ndescription: Knows the weather\na2a:\n  card: http://127.0.0.1:1/card.json',
        `  token: ${named('WEATHER')}\n  headers: { X-Other: "${named('HEADER')}" }\n---\n`,
      ].join('\n'),
      ...(place === '.env'
        ? {
            '.env': Object.entries(VALUES)
              .map(([name, value]) => `${name}=${value}\n`)
              .join(''),
          }
        : {}),
    });
    const env = { HOME: project.root, ...(place === '.env' ? {} : VALUES) };
    const opened = await openProject({ cwd: project.root, env });
    const started = await opened.engine.start({ agent: 'worker', input: userText('Go.'), workspace: project.root });
    if (started.kind !== 'started') throw new Error(started.error.message);
    await started.handle.done;
    const written = JSON.stringify(await readAll(opened.ledger, started.handle.session, { exact: false }));
    await opened.close();
    for (const [name, value] of Object.entries(VALUES)) {
      expect(written.includes(value), name).toBe(name === 'PLAIN');
      expect(written.includes(`[redacted:${name}]`), name).toBe(name !== 'PLAIN');
    }
  },
);
