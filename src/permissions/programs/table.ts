/** The table of programs: what of them a star in an allow stands for. Of any other program it stands for operands only. */
import { FILES } from './files.ts';
import { GIT } from './git.ts';
import { JAVASCRIPT } from './javascript.ts';
import type { KnownProgram } from './known.ts';
import { LANGUAGES } from './languages.ts';
import { PYTHON_PROGRAMS } from './python.ts';
import { SERVICES } from './services.ts';

export const PROGRAMS: ReadonlyMap<string, KnownProgram> = new Map<string, KnownProgram>([
  ...FILES,
  ['git', GIT],
  ...JAVASCRIPT,
  ...PYTHON_PROGRAMS,
  ...LANGUAGES,
  ...SERVICES,
]);
