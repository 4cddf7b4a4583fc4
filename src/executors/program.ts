/** The program of an executor, as the system would find it. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/** Undefined when it is not there. A name with a slash is looked for from the folder. */
export function programPath(program: string, folder: string, path: string | undefined): string | undefined {
  const places = program.includes('/') ? [folder] : (path ?? '').split(delimiter).filter((place) => place !== '');
  return places.map((place) => resolve(folder, place, program)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
