import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { jsonPage } from '../scripts/json-page.ts';
import { jsonContract } from '../src/cli/json/contract.ts';

it('docs/json.md is what the schemas say (npm run fix writes it)', () => {
  expect(readFileSync(join(import.meta.dirname, '..', 'docs', 'json.md'), 'utf8')).toBe(jsonPage());
});

it('has every command', () => {
  const page = jsonPage();
  const missing = Object.keys(jsonContract).filter((command) => !new RegExp(`^### .*\\btroupe ${command}\\b`, 'm').test(page));
  expect(missing).toEqual([]);
});

it('says what each shape is, and not its name once more', () => {
  const named = [...jsonPage().matchAll(/^### (\w+)\n\n```text\n(\w+)\n```$/gm)].filter(([, name, text]) => name === text);
  expect(named.map(([, name]) => name)).toEqual([]);
});

it('puts a choice that a list is of in brackets, whatever makes it one', () => {
  const lists = [...jsonPage().matchAll(/^ *\w+\??: ([^{\n]*\[\])(?: {2}\/\/.*)?$/gm)].map(([, type = '']) => type);
  expect(lists.length).toBeGreaterThan(20);
  const outside = (type: string): string => type.replace(/\([^()]*\)|<[^<>]*>/g, '');
  expect(lists.filter((type) => / \| [^|]*\[\]$/.test(outside(type)))).toEqual([]);
});
