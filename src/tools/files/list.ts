/** `list`: names in a folder, or every path that matches a pattern. */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { z } from 'zod';
import { holdParent } from '../../base/files/held-folder.ts';
import { limits } from '../../base/limits.ts';
import type { Guard } from '../closed/guard.ts';
import { defineBuiltIn } from '../define-built-in.ts';
import { errorResult, type OrdinaryTool, textResult } from '../port.ts';
import { globMatcher } from './glob.ts';
import { leftOut } from './search.ts';
import { walk } from './walk.ts';
import { type InsidePath, resolveInside } from './workspace.ts';

const input = z.strictObject({
  path: z.string().min(1).optional().describe('Folder to list, relative to the workspace; the workspace itself when left out.'),
  pattern: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('Search all folders below for paths like this, such as `**/*.ts` or `src/*.{md,txt}`, relative to `path`.'),
  everything: z.boolean().optional().describe('Include `.git` and `node_modules`, which are left out otherwise.'),
});

export function listTool({ guard }: { readonly guard: Guard }): OrdinaryTool {
  return defineBuiltIn({
    name: 'list',
    description: 'Lists a folder of the workspace, or all paths below it that match a pattern. Folders end with `/`.',
    input,
    replay: 'safe',
    readOnly: true,
    run: async ({ path = '.', pattern, everything = false }, { workspace, signal, mayShow = () => true }) => {
      const inside = await resolveInside(workspace, path, { guard, use: 'read' });
      if (!inside.ok) return errorResult(inside.error);
      const start = inside.value;
      const facts = await factsOf(start);
      if (facts === undefined) return errorResult(`${start.relative}: no such folder.`);
      if (!facts.isDirectory()) return errorResult(`${start.relative} is a file; use \`read\`.`);
      const matches = pattern === undefined ? () => true : globMatcher(pattern);
      const below = start.relative === '' ? 0 : start.relative.length + 1;

      const found: string[] = [];
      let closed = 0;
      const walked = walk(start, { signal, recursive: pattern !== undefined, everything, hidden: await guard.hidden() });
      let step = await walked.next();
      for (; step.done !== true && found.length <= limits.listEntries; step = await walked.next()) {
        const { relative, kind } = step.value;
        if (!matches(relative.slice(below))) continue;
        if (mayShow(relative)) found.push(kind === 'folder' ? `${relative}/` : relative);
        else closed += 1;
      }
      const text = rendered(found, step.done === true && step.value.cut);
      return textResult(closed === 0 ? text : `${text}\n${leftOut(closed, 'list')}`);
    },
  });
}

async function factsOf(path: InsidePath): Promise<Stats | undefined> {
  try {
    using parent = holdParent(path);
    return await lstat(parent.entry);
  } catch {
    return undefined;
  }
}

function rendered(found: string[], cut: boolean): string {
  const more = found.length > limits.listEntries;
  if (more) found.pop();
  const lines = found.length === 0 ? ['(nothing found)'] : found;
  if (more) lines.push(`(only the first ${limits.listEntries} are shown (listEntries); use a narrower path or pattern)`);
  if (cut)
    lines.push(`(not everything was looked at: more than ${limits.walkEntries} entries (walkEntries); use a narrower path)`);
  return lines.join('\n');
}
