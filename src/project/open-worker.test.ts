import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Opens a project in a process of its own and prints what was loaded for it. */
function loadedFor(engine: string): readonly string[] {
  const source = JSON.stringify(new URL('./open.ts', import.meta.url).href);
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    const { openProject } = await import(${source});
    const env = { TROUPE_ENGINE: ${JSON.stringify(engine)}, TROUPE_LEDGER: 'sqlite::memory:' };
    await (await openProject({ cwd: '/', env })).close();
    process.stdout.write(loaded.join('\\n'));`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }).split('\n');
}

it('loads nothing of a cluster for a project without one, and no SDK for a client of one', () => {
  const alone = loadedFor('embedded');
  expect(alone.some((url) => url.includes('/engine/local/engine.ts'))).toBe(true);
  expect(
    alone.filter((url) => /@restatedev|\/engine\/restate\/(?:engine|driver|worker)|open-worker|\/cluster\//.test(url)),
  ).toEqual([]);
  const client = loadedFor('restate+http://127.0.0.1:1');
  expect(client.some((url) => url.includes('/engine/restate/engine.ts'))).toBe(true);
  expect(client.filter((url) => url.includes('@restatedev'))).toEqual([]);
});
