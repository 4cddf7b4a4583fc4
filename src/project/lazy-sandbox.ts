/** The sandbox of a project, loaded with the first program that enters it. */
import type { Sandbox } from '../sandbox/port.ts';
import type { SandboxOptions } from '../sandbox/sandbox.ts';

export function createLazySandbox(options: SandboxOptions): Sandbox {
  let loaded: Promise<Sandbox> | undefined;
  const load = (): Promise<Sandbox> => {
    loaded ??= import('../sandbox/sandbox.ts').then(({ createSandbox }) => createSandbox(options));
    return loaded;
  };
  return {
    state: async (mode) => (await load()).state(mode),
    enter: async (program, walls) => (await load()).enter(program, walls),
    close: async () => (await loaded)?.close(),
  };
}
