/** The console as one script and one style, as a checkout builds it and a package has it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, TroupeError } from '../../base/errors.ts';
import type { FileApp } from '../../front/one-file/session-file.ts';
import { consoleFolder, prepareConsole } from '../terminal/built-pages.ts';

export async function readFileApp(): Promise<FileApp> {
  const folder = join(consoleFolder, 'file');
  try {
    await prepareConsole();
    const [script, style] = await Promise.all(['app.js', 'app.css'].map((name) => readFile(join(folder, name), 'utf8')));
    return { script: script ?? '', style: style ?? '' };
  } catch (error) {
    throw new TroupeError('console_missing', `The console, which the file would hold, is not there: ${messageOf(error)}`, {
      fix: '`--format print` writes an HTML page that needs nothing of it.',
    });
  }
}
