/** What `troupe init` can start a project with: folders of the package, copied as they are. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suggest } from '../../base/did-you-mean.ts';
import { usageError } from '../terminal/command.ts';

export interface Template {
  readonly name: string;
  readonly about: string;
  /** Whom to run first, and what to ask. */
  readonly agent: string;
  readonly prompt: string;
}

const FOLDER = fileURLToPath(new URL('../../../templates', import.meta.url));

/** What is written where nobody is asked. */
export const oneAgent: Template = {
  name: 'agent',
  about: 'one agent that answers questions about your files',
  agent: 'agents/hello.md',
  prompt: 'What is in this folder?',
};

export const templates: readonly Template[] = [
  oneAgent,
  {
    name: 'review',
    about: 'a review team: three advisors look at a change, one agent decides',
    agent: 'reviewer',
    prompt: 'Review the last change.',
  },
  {
    name: 'research',
    about: 'a research team: readers for each source, and a sceptic',
    agent: 'researcher',
    prompt: 'What do the files here say?',
  },
  {
    name: 'coding',
    about: 'a coding group: a lead divides a change among a developer and a tester',
    agent: 'lead',
    prompt: 'Add a test for the part that has none.',
  },
  {
    name: 'support',
    about: 'a support router: messages go to who can settle them, and a letter comes out',
    agent: 'triage',
    prompt: 'You charged March twice.',
  },
];

export function templateCalled(name: string): Template {
  const found = templates.find((template) => template.name === name);
  if (found !== undefined) return found;
  const names = templates.map((template) => template.name);
  throw usageError(`There is no template "${name}"`, suggest(name, names, 'templates'));
}

/** Where the answers are with which a template is tried without a key. */
export const repliesOf = ({ name }: Template): string => `replies/${name}.yaml`;

export interface TemplateFile {
  /** With forward slashes, from the project's folder. */
  readonly path: string;
  readonly text: string;
}

export async function filesOf({ name }: Template): Promise<readonly TemplateFile[]> {
  const folder = join(FOLDER, name);
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.sort().map(async (path) => ({
      path: relative(folder, path).split(sep).join('/'),
      text: await readFile(path, 'utf8'),
    })),
  );
}
