/** Writes docs/events.md from the zod schemas: one table per event, and one line per shape that several events share. */
import { z } from 'zod';
import {
  amounts,
  answer,
  eventTypes,
  evidenceTypes,
  failure,
  inboundTypes,
  modelFailure,
  payloadSchemas,
  report,
} from '../src/events/catalogue.ts';
import { SCHEMA_VERSION } from '../src/events/envelope.ts';
import { budget } from '../src/events/going-on.ts';
import {
  assistantMessage,
  imagePart,
  jsonValue,
  message,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
  usage,
} from '../src/events/message-schemas.ts';
import { runOrigin } from '../src/events/run-origin.ts';
import { runStatus } from '../src/events/run-status.ts';
import { claim, verification } from '../src/events/verification.ts';
import { eventMeanings } from './event-meanings.ts';

/** Shapes with a name of their own. The order is that of the page. */
const shared = new Map<z.core.$ZodType, string>([
  [message, 'Message'],
  [assistantMessage, 'AssistantMessage'],
  [textPart, 'TextPart'],
  [imagePart, 'ImagePart'],
  [reasoningPart, 'ReasoningPart'],
  [toolCallPart, 'ToolCallPart'],
  [toolResultPart, 'ToolResultPart'],
  [usage, 'Usage'],
  [report, 'Report'],
  [claim, 'Claim'],
  [answer, 'Answer'],
  [budget, 'Budget'],
  [amounts, 'Amounts'],
  [failure, 'Failure'],
  [modelFailure, 'ModelFailure'],
  [runStatus, 'RunStatus'],
  [verification, 'Verification'],
  [runOrigin, 'RunOrigin'],
]);

/** A schema in the notation of TypeScript. Every kind of schema the events use is here; a new kind must be added. */
function typeText(schema: z.core.$ZodType): string {
  return shared.get(schema) ?? spelledOut(schema);
}

function spelledOut(schema: z.core.$ZodType): string {
  if (schema === jsonValue) return 'Json';
  if (schema instanceof z.ZodObject) return objectText(schema);
  if (schema instanceof z.ZodOptional) return typeText(schema.def.innerType);
  if (schema instanceof z.ZodNullable) return `${typeText(schema.def.innerType)} | null`;
  if (schema instanceof z.ZodRecord) return `Record<${typeText(schema.def.keyType)}, ${typeText(schema.def.valueType)}>`;
  if (schema instanceof z.ZodArray) return arrayText(schema.def.element);
  if (schema instanceof z.ZodUnion) return schema.def.options.map(typeText).join(' | ');
  if (schema instanceof z.ZodEnum) return schema.options.map((option) => `'${option}'`).join(' | ');
  if (schema instanceof z.ZodLiteral) return [...schema.values].map((value) => `'${String(value)}'`).join(' | ');
  if (schema instanceof z.ZodNumber) return schema.isInt ? 'integer' : 'number';
  if (schema instanceof z.ZodString) return 'string';
  if (schema instanceof z.ZodBoolean) return 'boolean';
  throw new Error(`scripts/events-page.ts does not know how to write a ${schema._zod.def.type}.`);
}

function objectText(schema: z.ZodObject): string {
  const fields = Object.entries(schema.shape).map(([name, field]) => `${name}${optionalMark(field)}: ${typeText(field)}`);
  return `{ ${fields.join('; ')} }`;
}

const arrayText = (element: z.core.$ZodType): string =>
  element instanceof z.ZodUnion && !shared.has(element) ? `(${typeText(element)})[]` : `${typeText(element)}[]`;
const optionalMark = (field: z.core.$ZodType): string => (field instanceof z.ZodOptional ? '?' : '');
/** A bar would end the table's cell. */
const inCell = (text: string): string => text.replaceAll('|', '\\|');

function eventSection(type: (typeof eventTypes)[number]): string {
  const { says, fields } = eventMeanings[type];
  const meanings = new Map(Object.entries(fields));
  const rows = fieldsOf(payloadSchemas[type], type).map(([name, field]) => {
    const meaning = meanings.get(name) ?? '';
    return `| \`${name}${optionalMark(field)}\` | \`${inCell(typeText(field))}\` | ${meaning} |`;
  });
  return [`### ${type}`, '', says, '', '| field | type | meaning |', '|---|---|---|', ...rows].join('\n');
}

/** Of a payload that has several forms first what all have, then each form's own fields, those that tell them apart foremost. */
function fieldsOf(schema: z.core.$ZodType, type: string): [name: string, field: z.core.$ZodType][] {
  if (schema instanceof z.ZodObject) return Object.entries(schema.shape);
  if (!(schema instanceof z.ZodDiscriminatedUnion)) throw new Error(`The payload of ${type} is not an object.`);
  const forms = schema.options.map((option) => fieldsOf(option, type));
  const text = ([name, field]: [string, z.core.$ZodType]): string => `${name} ${typeText(field)}`;
  const inAll = (row: [string, z.core.$ZodType]): boolean => forms.every((rows) => rows.some((one) => text(one) === text(row)));
  return [...(forms[0] ?? []).filter(inAll), ...forms.flatMap((rows) => rows.filter((row) => !inAll(row)))];
}

function introduction(): string {
  return `# Events

Everything that happens is one of these events, in the order in which it happened. This page is written from the schemas in
\`src/events\` by \`npm run fix\`; a test fails when it is not current. Schema version: ${SCHEMA_VERSION}.

See the events of a run with \`troupe logs <run> --jsonl\`. A field marked \`?\` may be absent; a reader must accept fields
that it does not know.

- Only the runtime writes **evidence**: ${evidenceTypes.map((type) => `\`${type}\``).join(', ')}.
- From **outside** a run come only: ${inboundTypes.map((type) => `\`${type}\``).join(', ')}.

## The envelope

| field | meaning |
|---|---|
| \`event_id\` | session and position: unique overall, ordered and gap-free within its session |
| \`parent_event_id\` | the event that caused this one; null only on the first event of a session |
| \`session_id\`, \`run_id\` | where it belongs |
| \`timestamp\` | ISO 8601 in UTC: a label, never the order |
| \`actor\` | \`user\`, \`architect\`, \`executor\`, \`system\` or \`agent:<name>\` |
| \`tool\` | the tool concerned, or null |
| \`event_type\` | one of the names below |
| \`payload_ref\` | SHA-256 of the payload |
| \`attachment_ref\` | SHA-256 of the whole of something the payload shows in part, or null |
| \`step\` | the stable key of the step, such as \`turn/3/tool/0\`, or null |
| \`schema_version\` | the version of the payload's schema |`;
}

export function eventsPage(): string {
  const shapes = [...shared].map(([schema, name]) => `| \`${name}\` | \`${inCell(spelledOut(schema))}\` |`);
  const sections = eventTypes.map(eventSection);
  const sharedTable = ['## Shapes that several events share', '', '| name | shape |', '|---|---|', ...shapes].join('\n');
  return `${[introduction(), '## Payloads', ...sections, sharedTable].join('\n\n')}\n`;
}
