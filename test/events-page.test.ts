import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventsPage } from '../scripts/events-page.ts';

it('docs/events.md is what the schemas say (npm run fix writes it)', () => {
  expect(readFileSync(join(import.meta.dirname, '..', 'docs', 'events.md'), 'utf8')).toBe(eventsPage());
});

it('every field has a type and a meaning', () => {
  const rows = eventsPage()
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  expect(rows.length).toBeGreaterThan(100);
  expect(rows.filter((row) => /\|\s*\|/.test(row.replaceAll('\\|', '')))).toEqual([]);
});
