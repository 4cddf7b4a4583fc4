/** Which files of other tools may declare MCP servers, nearest first: of equal names the first counts. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileStyle } from './fill.ts';

/** Beside servers they say which of `.mcp.json` are off. */
export const CLAUDE_SETTINGS: readonly string[] = ['.claude/settings.local.json', '.claude/settings.json'];

export const FOREIGN_FILES: readonly { readonly file: string; readonly style: FileStyle }[] = [
  { file: '.mcp.json', style: 'claude' },
  ...CLAUDE_SETTINGS.map((file) => ({ file, style: 'claude' as const })),
  ...['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'].map((file) => ({
    file,
    style: 'opencode' as const,
  })),
  { file: '.vscode/mcp.json', style: 'vscode' },
];

/** Whether there is anything to read: what reads it is loaded only then. */
export async function hasForeignFiles(root: string): Promise<boolean> {
  const found = await Promise.all(
    FOREIGN_FILES.map(({ file }) =>
      access(join(root, file)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}
