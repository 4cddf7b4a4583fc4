/**
 * What our deployment files may say: the part of the Compose specification and of the Kubernetes API that they use, strictly, so
 * that a misspelt or misplaced key is found without a server to ask.
 */
import { z } from 'zod';

const name = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
const texts = z.array(z.string()).min(1);
const map = z.record(z.string(), z.string());
const port = z.number().int().min(1).max(65_535);
const count = z.number().int().min(0);
const time = z.string().regex(/^\d+(s|m)$/);

// Compose

const service = z.strictObject({
  image: z.string().optional(),
  build: z.strictObject({ context: z.string(), dockerfile: z.string(), additional_contexts: map }).optional(),
  command: texts.optional(),
  environment: map,
  volumes: z.array(z.string().regex(/^[a-z-]+:\/[\w/-]+$/)),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/, 'is published on this machine only')).optional(),
  networks: texts,
  healthcheck: z.strictObject({ test: texts, interval: time, timeout: time, retries: count }).optional(),
  depends_on: z
    .record(
      z.string(),
      z.strictObject({ condition: z.enum(['service_started', 'service_healthy', 'service_completed_successfully']) }),
    )
    .optional(),
  deploy: z.strictObject({ replicas: count }).optional(),
  stop_grace_period: time.optional(),
  user: z.string().optional(),
  read_only: z.boolean().optional(),
  tmpfs: texts.optional(),
  mem_limit: z
    .string()
    .regex(/^\d+[bkmg]$/)
    .optional(),
  cap_drop: z.tuple([z.literal('ALL')]).optional(),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  restart: z.enum(['no', 'always', 'on-failure', 'unless-stopped']),
});

export const composeSchema = z.strictObject({
  name,
  services: z.record(
    name,
    service.refine((one) => (one.image === undefined) !== (one.build === undefined), 'image or build'),
  ),
  networks: z.record(name, z.strictObject({})),
  volumes: z.record(name, z.strictObject({})),
});

// Kubernetes

const metadata = z.strictObject({ name, namespace: z.literal('troupe') });
const selector = z.strictObject({ matchLabels: map });
const quantity = z.string().regex(/^\d+(m|Mi|Gi)?$/);
const resources = z.strictObject({
  requests: z.strictObject({ cpu: quantity, memory: quantity }),
  limits: z.strictObject({ memory: quantity }),
});
const probe = z
  .strictObject({
    exec: z.strictObject({ command: texts }).optional(),
    httpGet: z.strictObject({ path: z.string().startsWith('/'), port: z.union([port, name]) }).optional(),
    initialDelaySeconds: count.optional(),
    periodSeconds: count.optional(),
    timeoutSeconds: count.optional(),
    failureThreshold: count.optional(),
  })
  .refine((one) => (one.exec === undefined) !== (one.httpGet === undefined), 'exec or httpGet');
const secretKeyRef = z.strictObject({ name, key: z.string() });
const variable = z.union([
  z.strictObject({ name: z.string(), value: z.string() }),
  z.strictObject({ name: z.string(), valueFrom: z.strictObject({ secretKeyRef }) }),
]);

const container = z.strictObject({
  name,
  image: z.string().regex(/:[\w.-]+$/, 'has a version'),
  args: texts.optional(),
  env: z.array(variable),
  envFrom: z.array(z.strictObject({ secretRef: z.strictObject({ name, optional: z.boolean() }) })).optional(),
  ports: z.array(z.strictObject({ name, containerPort: port })),
  readinessProbe: probe,
  livenessProbe: probe,
  lifecycle: z.strictObject({ preStop: z.strictObject({ sleep: z.strictObject({ seconds: count }) }) }).optional(),
  resources,
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(z.strictObject({ name, mountPath: z.string().startsWith('/') })),
});

const template = z.strictObject({
  metadata: z.strictObject({ labels: map }),
  spec: z.strictObject({
    automountServiceAccountToken: z.literal(false),
    securityContext: z.strictObject({
      runAsNonRoot: z.literal(true),
      runAsUser: z.number().int().positive(),
      runAsGroup: z.number().int().positive(),
      fsGroup: z.number().int().positive(),
      seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
    }),
    terminationGracePeriodSeconds: count.optional(),
    topologySpreadConstraints: z
      .array(
        z.strictObject({
          maxSkew: count,
          topologyKey: z.string(),
          whenUnsatisfiable: z.enum(['ScheduleAnyway', 'DoNotSchedule']),
          labelSelector: selector,
        }),
      )
      .optional(),
    containers: z.array(container).min(1),
    volumes: z.array(z.strictObject({ name, emptyDir: z.strictObject({}) })),
  }),
});

const claim = z.strictObject({
  metadata: z.strictObject({ name }),
  spec: z.strictObject({
    accessModes: z.array(z.enum(['ReadWriteOnce', 'ReadWriteMany'])),
    resources: z.strictObject({ requests: z.strictObject({ storage: quantity }) }),
  }),
});

const rollingUpdate = z.strictObject({ maxUnavailable: count, maxSurge: count });
const object = <Version extends string, Kind extends string, Spec extends z.ZodType>(version: Version, kind: Kind, spec: Spec) =>
  z.strictObject({ apiVersion: z.literal(version), kind: z.literal(kind), metadata, spec });

export const kubernetesSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    apiVersion: z.literal('v1'),
    kind: z.literal('Namespace'),
    metadata: z.strictObject({ name: z.literal('troupe'), labels: map }),
  }),
  object(
    'v1',
    'Service',
    z.strictObject({
      clusterIP: z.literal('None').optional(),
      selector: map,
      ports: z.array(z.strictObject({ name, port, targetPort: z.union([port, name]) })).min(1),
    }),
  ),
  object(
    'apps/v1',
    'StatefulSet',
    z.strictObject({ serviceName: name, replicas: count, selector, template, volumeClaimTemplates: z.array(claim) }),
  ),
  object(
    'apps/v1',
    'Deployment',
    z.strictObject({
      replicas: count,
      selector,
      strategy: z.strictObject({ type: z.literal('RollingUpdate'), rollingUpdate }),
      template,
    }),
  ),
  object('policy/v1', 'PodDisruptionBudget', z.strictObject({ minAvailable: count, selector })),
  object(
    'networking.k8s.io/v1',
    'NetworkPolicy',
    z.strictObject({
      podSelector: selector,
      policyTypes: z.array(z.enum(['Ingress', 'Egress'])),
      ingress: z.array(
        z.strictObject({
          from: z.array(z.strictObject({ podSelector: selector })),
          ports: z.array(z.strictObject({ protocol: z.literal('TCP'), port: z.union([port, name]) })),
        }),
      ),
    }),
  ),
]);

export type KubernetesObject = z.infer<typeof kubernetesSchema>;
