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
import { optionalMark, typeTexts } from './type-text.ts';

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

const { typeText, spelledOut } = typeTexts(shared);

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
