/**
 * A system under test for the A2A conformance kit: `node test/support/a2a/conformance-main.ts [port] [grpc port]`. It prints the
 * address to give to the kit, and ends with Ctrl-C. Its project is in a temporary folder; no key is needed. What the kit tries
 * only where a card says no is there with `--no-streaming` and `--no-push`, what it tries where something is demanded with
 * `--demand`.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openProject } from '../../../src/project/open.ts';
import { startModelServer } from '../models/model-server.ts';
import { conformanceSettings, conforming, playConformance } from './conformance.ts';
import { serveProject } from './serve-project.ts';

const AGENT =
  '---\nname: kit\ndescription: Answers the conformance kit\ntags: [test]\ntools: [ask]\nisolation: inline\na2a: true\n---\nYou answer.\n';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'no-streaming': { type: 'boolean' }, 'no-push': { type: 'boolean' }, demand: { type: 'string', multiple: true } },
});
const [port = '9999', grpcPort = '9998'] = positionals;
const folder = await mkdtemp(join(tmpdir(), 'troupe-a2a-kit-'));
await mkdir(join(folder, 'agents'));
await writeFile(join(folder, 'agents', 'kit.md'), AGENT);
const switches = { streaming: values['no-streaming'] !== true, push: values['no-push'] !== true, demands: values.demand };
await writeFile(join(folder, 'troupe.yaml'), conformanceSettings(switches));
const model = await startModelServer(playConformance);
const env = {
  ...{ HOME: folder, PATH: process.env['PATH'], OLLAMA_HOST: '127.0.0.1:9' },
  ...{ OPENAI_API_KEY: 'sk-test-0123456789abcdef', OPENAI_BASE_URL: `${model.origin}/v1`, TROUPE_MODEL: 'openai/test-model' },
};
const project = await openProject({ cwd: folder, env });
const server = await serveProject(project, { around: conforming, port: Number(port), grpcPort: Number(grpcPort) });
process.stdout.write(`${server.origin}\n`);
await new Promise<void>((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
await server[Symbol.asyncDispose]();
await project.close();
await model.close();
await rm(folder, { recursive: true, force: true });
