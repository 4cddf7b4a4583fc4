import { it } from 'vitest';
import { simulate } from '../support/simulation.ts';
import { checkStory } from '../support/story-checks.ts';

it('scan', { timeout: 600_000 }, async () => {
  const first = Number(process.env['TROUPE_SEED'] ?? 1);
  const count = Number(process.env['TROUPE_SEEDS'] ?? 200);
  const kinds = new Map<string, number[]>();
  let events = 0,
    calls = 0;
  const luck = new Map<string, number>();
  const types = new Map<string, number>();
  const t0 = performance.now();
  for (let seed = first; seed < first + count; seed += 1) {
    try {
      const story = await simulate(seed);
      events += story.events.length;
      calls += story.requests.length;
      for (const e of story.events) {
        types.set(e.event_type, (types.get(e.event_type) ?? 0) + 1);
        const more = (k: string) => types.set(k, (types.get(k) ?? 0) + 1);
        if (e.event_type === 'run.started') {
          more(`role ${e.payload.role}`);
          if (e.payload.reason === 'clarification') more('clarification');
          if ((e.payload.seat?.cycle ?? 0) > 1) more('later cycle');
        }
        if (e.event_type === 'team.broadcast' && e.payload.replaces !== undefined) more('overflow');
        if (e.event_type === 'run.ended') more(`end ${e.payload.status}`);
      }
      for (const l of story.luck) luck.set(l, (luck.get(l) ?? 0) + 1);
      checkStory(story);
    } catch (error) {
      const why =
        (error as Error).message
          .replaceAll(/run_\w+/g, 'R')
          .replaceAll(/\d+/g, 'N')
          .slice(0, 160) + ((error as Error).message.includes(':') ? '' : '');
      kinds.set(why, [...(kinds.get(why) ?? []), seed]);
    }
  }
  console.log(`${count} seeds in ${Math.round(performance.now() - t0)} ms, ${events} events, ${calls} calls`);
  console.log(Object.fromEntries(luck), Object.fromEntries(types));
  for (const [why, seeds] of [...kinds].sort((a, b) => b[1].length - a[1].length))
    console.log(seeds.length, seeds.slice(0, 6).join(','), '|', why);
});
