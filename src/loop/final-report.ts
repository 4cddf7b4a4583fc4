/**
 * `final_report`: how an agent with tools says that it is done. A plain answer without tool calls counts as a report too;
 * the tool adds whether it succeeded, and claims that the runtime can check.
 */
import { z } from 'zod';
import { type Json, type JsonObject, parseJson } from '../base/json.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Report } from '../events/catalogue.ts';
import type { ToolCallPart } from '../events/messages.ts';
import { claim } from '../events/verification.ts';
import type { ToolSpec } from '../models/port.ts';
import type { Ending, Exit } from './port.ts';
import { schemaProblem } from './schema-check.ts';

export const FINAL_REPORT = 'final_report';

export interface OutputContract {
  readonly format: Report['format'];
  readonly schema?: Json | undefined;
}

const CLAIMS_SCHEMA: JsonObject = {
  type: 'array',
  description:
    'What you changed or proved, so that it can be checked: files you created or changed, and commands you ran that passed. ' +
    'Claim only what is true.',
  items: {
    anyOf: [
      {
        type: 'object',
        properties: { kind: { const: 'file' }, path: { type: 'string' } },
        required: ['kind', 'path'],
        additionalProperties: false,
      },
      {
        type: 'object',
        properties: { kind: { const: 'command' }, command: { type: 'string' } },
        required: ['kind', 'command'],
        additionalProperties: false,
      },
    ],
  },
};

function finalReportSpec(output: OutputContract): ToolSpec {
  const body = output.schema ?? { type: 'string', description: `The whole answer, as ${output.format}.` };
  return {
    name: FINAL_REPORT,
    description: 'Gives your final answer and ends your work. Call it once, alone, when you are done or cannot go on.',
    inputSchema: {
      type: 'object',
      properties: {
        report: body,
        status: { type: 'string', enum: ['success', 'failure'], description: 'failure when the request could not be met' },
        claims: CLAIMS_SCHEMA,
      },
      required: ['report'],
      additionalProperties: false,
    },
  };
}

const arguments_ = z.object({
  report: z.unknown().optional(),
  status: z.enum(['success', 'failure']).default('success'),
  claims: z.array(claim).max(200).default([]),
});

export function finalReportExit(output: OutputContract): Exit {
  return { spec: finalReportSpec(output), take: (call) => parseFinalReport(call, output) };
}

/** A plain answer taken as the report. */
export function plainReport(output: OutputContract): (text: string) => Result<Ending, string> {
  return (text) => {
    const value = output.format === 'json' ? parseJson(withoutFence(text)) : ok(text);
    if (!value.ok) return fail(`The answer is not valid JSON: ${value.error}`);
    const body = reportBody(value.value, output);
    return body.ok ? ok({ report: { format: output.format, body: body.value }, success: true, claims: [] }) : body;
  };
}

function withoutFence(text: string): string {
  return /^```(?:json)?\s*\n([\s\S]*?)\n?```$/.exec(text)?.[1] ?? text;
}

function parseFinalReport(call: ToolCallPart, output: OutputContract): Result<Ending, string> {
  if (call.malformed !== undefined) return fail('The arguments are not valid JSON. Call final_report again with valid JSON.');
  const parsed = arguments_.safeParse(call.input);
  if (!parsed.success) return fail(`The arguments do not fit: ${z.prettifyError(parsed.error)}`);
  const body = reportBody(parsed.data.report as Json | undefined, output);
  if (!body.ok) return body;
  return ok({
    report: { format: output.format, body: body.value },
    success: parsed.data.status === 'success',
    claims: parsed.data.claims,
  });
}

/** Turns what the model gave as its report into text, checking it against the contract. */
function reportBody(value: Json | undefined, output: OutputContract): Result<string, string> {
  if (value === undefined || value === null || value === '')
    return fail('The report is empty. Give the whole answer in `report`.');
  if (output.schema !== undefined) {
    const problem = schemaProblem(output.schema, value);
    if (problem !== undefined) return fail(`The report does not fit its schema: ${problem}`);
  }
  if (output.format === 'json')
    return ok(typeof value === 'string' && output.schema === undefined ? value : JSON.stringify(value));
  return ok(typeof value === 'string' ? value : JSON.stringify(value));
}
