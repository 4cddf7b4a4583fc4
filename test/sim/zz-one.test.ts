import { it } from 'vitest';
import { simulate } from '../support/simulation.ts';
import { checkStory } from '../support/story-checks.ts';

it('one', { timeout: 60_000 }, async () => {
  const seed = Number(process.env['TROUPE_SEED'] ?? 1);
  const debug: string[] = [];
  (globalThis as { debug?: string[] }).debug = debug;
  try {
    const story = await simulate(seed);
    const want = process.env['RUNS']?.split(',');
    const short = (id: string) => id.slice(-5);
    console.log(story.luck, JSON.stringify(story.agents.map(({ models: _m, prompt: _p, source: _s, ...rest }) => rest)));
    for (const e of story.events) {
      if (want !== undefined && !want.includes(short(e.run_id))) continue;
      if (process.env['BRIEF'] !== undefined && !process.env['BRIEF'].split(',').includes(e.event_type)) continue;
      const payload = JSON.stringify(e.event_type === 'session.config' ? {} : e.payload)
        .replaceAll(/run_\w+(\w{5})/g, '$1')
        .slice(0, Number(process.env['WIDE'] ?? 220));
      console.log(e.position, short(e.run_id), e.event_type, e.step ?? '', payload);
    }
    checkStory(story);
  } catch (error) {
    console.log(debug.slice(0, 100).join('\n'));
    console.log((error as Error).stack);
  }
});
