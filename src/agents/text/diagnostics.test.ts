import { expect, it } from 'vitest';
import { arrange, warningAt } from './diagnostics.ts';
import { parseJsonText } from './json-text.ts';

it('a text that cannot be read is said once, with all that comes of it', () => {
  const parsed = parseJsonText('a.json', '{"permissions":{"allow":["Bash(ls)"],}');
  const [problem] = parsed.ok ? [] : parsed.error;
  expect([parsed.ok, problem?.message, problem?.fix]).toEqual([
    false,
    'broken JSON: a } is missing at the end',
    'Put a } there.',
  ]);
  const place = { file: 'a.json', line: 1, column: 39 };
  const said = (after: string, fix?: string) => warningAt(place, `${problem?.message}; ${after}`, fix);
  const other = warningAt(place, 'something else');
  expect(arrange([said('no server is known'), said('every tool asks', problem?.fix), other, said('no server is known')])).toEqual(
    [warningAt(place, `${problem?.message}; no server is known; every tool asks`, problem?.fix), other],
  );
});
