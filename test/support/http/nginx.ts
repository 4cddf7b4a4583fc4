/**
 * A real nginx in front of a server, with TLS and a certificate of its own: from the PATH, or, as root on Debian, from its
 * packages. Where there is none, tests that need it do not run and say so; in CI that is a failure.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../src/cluster/free-ports.ts';
import { fromDebian, isProgram, onPath } from '../debian/packages.ts';
import { describeWhere } from '../left-out.ts';

type Found = { readonly nginx: string; readonly openssl: string } | { readonly why: string };

function find(): Found {
  const [nginx, openssl] = [onPath(['nginx']), onPath(['openssl'])];
  if (nginx !== undefined && openssl !== undefined) return { nginx, openssl };
  const brought = fromDebian('nginx', ['nginx-light', 'openssl']);
  if ('why' in brought) return { why: `nginx and openssl are not on the PATH, and ${brought.why}` };
  const programs = { nginx: join(brought.programs, 'nginx'), openssl: join(brought.programs, 'openssl') };
  return isProgram(programs.nginx) && isProgram(programs.openssl) ? programs : { why: "Debian's packages brought no nginx" };
}

const found = find();

export function describeWithNginx(name: string, tests: () => void): void {
  describeWhere(name, 'why' in found ? found.why : undefined, tests);
}

export interface Proxied {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** What has come so far. */
  text(): string;
  readonly ended: Promise<void>;
  stop(): void;
}

export interface Nginx extends AsyncDisposable {
  /** `https://agents.example` and its port. */
  readonly origin: string;
  /** As somebody asks who believes its certificate. Resolves with the head of the answer. */
  ask(path: string, options?: { method?: string; headers?: Record<string, string>; body?: string }): Promise<Proxied>;
}

export const PROXIED_NAME = 'agents.example';

/** `lines` are those of its `location`, as a page shows them. */
export async function startNginx(upstream: string, port: number, lines: readonly string[]): Promise<Nginx> {
  if ('why' in found) throw new Error(found.why);
  const folder = mkdtempSync(join(tmpdir(), 'troupe-nginx-'));
  mkdirSync(join(folder, 'logs'));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const of = ['-subj', `/CN=${PROXIED_NAME}`, '-addext', `subjectAltName=DNS:${PROXIED_NAME}`, '-days', '2', '-nodes'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-keyout', key, '-out', certificate];
  writeFileSync(join(folder, 'openssl.cnf'), '[req]\ndistinguished_name = name\n[name]\n');
  execFileSync(found.openssl, ['req', '-x509', '-config', join(folder, 'openssl.cnf'), ...of, ...curve], { stdio: 'pipe' });
  const settings = join(folder, 'nginx.conf');
  writeFileSync(settings, configOf(folder, port, upstream, lines));
  const server = spawn(found.nginx, ['-p', folder, '-c', settings, '-e', join(folder, 'error.log')], { stdio: 'ignore' });
  const ca = readFileSync(certificate);
  const ask: Nginx['ask'] = (path, { body, ...options } = {}) =>
    new Promise((resolve, reject) => {
      const asked = request(
        {
          ...options,
          host: '127.0.0.1',
          port,
          path,
          servername: PROXIED_NAME,
          ca,
          agent: false,
          headers: { host: `${PROXIED_NAME}:${port}`, ...options.headers },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part: string) => {
            text += part;
          });
          const ended = new Promise<void>((over) => response.on('close', over).on('error', () => undefined));
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, text: () => text, ended, stop: () => void response.destroy() });
        },
      );
      asked.on('error', reject).end(body);
    });
  // It is there when it answers.
  for (let tries = 0; ; tries += 1) {
    const answered = await ask('/healthz').then(
      (answer) => answer.ended.then(() => true),
      () => false,
    );
    if (answered) break;
    if (tries > 2_000 || server.exitCode !== null) throw new Error(readFileSync(join(folder, 'error.log'), 'utf8'));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return {
    origin: `https://${PROXIED_NAME}:${port}`,
    ask,
    async [Symbol.asyncDispose]() {
      const gone = once(server, 'exit');
      server.kill('SIGQUIT');
      server.kill('SIGTERM');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const freePort = async (): Promise<number> => (await freePorts([0]))[0] ?? 0;

const configOf = (folder: string, port: number, upstream: string, lines: readonly string[]): string => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port} ssl;
    server_name ${PROXIED_NAME};
    ssl_certificate ${folder}/certificate.pem;
    ssl_certificate_key ${folder}/key.pem;
    location / {
      proxy_pass ${upstream};
      ${lines.join('\n      ')}
    }
  }
}
`;
