/** The JSON of tasks against the examples of its data model, and against what strangers write. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import { readTask, type TaskContext, writeTask } from './task-json.ts';
import { taskStates } from './task-states.ts';

/** As it stands in the data model. */
const EXAMPLE = `{
  "id": "task-abc-123",
  "sessionId": "session-xyz-789",
  "status": {
    "state": "working",
    "message": {
      "role": "assistant",
      "content": "Processing your request..."
    },
    "timestamp": "2025-10-13T10:30:00Z"
  },
  "history": [
    {
      "role": "user",
      "content": "Turn on the kitchen lights",
      "timestamp": "2025-10-13T10:29:45Z"
    }
  ],
  "artifacts": [],
  "metadata": {
    "agentSelections": ["light-agent"],
    "location": "kitchen",
    "routingConfidence": 0.95
  }
}`;

const STATUS = `{
  "state": "completed",
  "message": {
    "role": "assistant",
    "content": "I've turned on the kitchen lights and started playing jazz music."
  },
  "timestamp": "2025-10-13T10:30:15Z"
}`;

const compact = (text: string): string => JSON.stringify(JSON.parse(text));

function read(text: string): TaskContext {
  const task = readTask(text);
  if (!task.ok) throw new Error(task.error);
  return task.value;
}

const refusal = (text: string): string => {
  const task = readTask(text);
  return task.ok ? 'read' : task.error;
};

const withStatus = (status: string): string => `{"id":"t","sessionId":"s","status":${status}}`;

describe('the examples', () => {
  it('come out as they went in, byte for byte', () => {
    expect(writeTask(read(EXAMPLE))).toBe(compact(EXAMPLE));
    expect(writeTask(read(withStatus(STATUS)))).toBe(withStatus(compact(STATUS)));
  });

  it('are read whatever the case of their properties, and written as they should be', () => {
    const shouted = EXAMPLE.replaceAll(
      /"(id|sessionId|status|state|message|role|content|timestamp|history|artifacts)":/g,
      (name) => name.toUpperCase(),
    );
    expect(shouted).toContain('"SESSIONID"');
    expect(writeTask(read(shouted))).toBe(compact(EXAMPLE));
  });

  it('keep the names of free keys, and their nulls', () => {
    const task = read('{"Id":"t","SessionId":"s","Status":{"State":"working"},"Metadata":{"Location":null,"AGENTS":[null]}}');
    expect(writeTask(task)).toBe(
      '{"id":"t","sessionId":"s","status":{"state":"working"},"metadata":{"Location":null,"AGENTS":[null]}}',
    );
  });
});

describe('choices and answers of agents', () => {
  const ONE = [
    `{"agentId":"light-agent","confidence":0.95,"reasoning":"User request explicitly mentions 'lights' `,
    'which matches light-agent capabilities (lighting control, scenes)."}',
  ].join('');
  const CHOICE =
    '{"agentId":"light-agent","confidence":0.88,"reasoning":"Request requires both lighting adjustment and music playback.","additionalAgents":["music-agent"]}';
  const GOOD = [
    `{"agentId":"light-agent","content":"I've turned on the kitchen lights to 100% brightness.",`,
    '"success":true,"errorMessage":null,"executionTimeMs":1250}',
  ].join('');
  const BAD =
    '{"agentId":"music-agent","content":"","success":false,"errorMessage":"Music Assistant service is unavailable (HTTP 503)","executionTimeMs":5000}';
  const known = (metadata: string): string =>
    JSON.stringify(read(`{"id":"t","sessionId":"s","status":{"state":"working"},"metadata":${metadata}}`).metadata);

  it('come out as they went in, without nulls', () => {
    const written = `{"routing":${CHOICE},"agentResponses":[${GOOD},${BAD}]}`;
    expect(known(written)).toBe(written.replace('"errorMessage":null,', ''));
    const shouted = written.replaceAll(/"[a-zA-Z]+":/g, (name) =>
      /routing|agentResponses/.test(name) ? name : name.toUpperCase(),
    );
    expect(known(shouted)).toBe(known(written));
    const asText = written.replace('0.88', '"0.88"').replace('1250', '"1250"');
    expect(known(asText)).toBe(known(written));
    const told = `${CHOICE.slice(0, -1)},"agentInstructions":[{"agentId":"music-agent","instruction":"Play jazz."}]}`;
    for (const choice of [ONE, told]) expect(known(`{"routing":${choice}}`)).toBe(`{"routing":${choice}}`);
  });

  it('that break their rules stay what they are: free values', () => {
    const wrong = [
      '{"routing":{"agentId":"a","confidence":1.5}}',
      '{"routing":{"agentId":"a","confidence":1,"additionalAgents":["a"]}}',
      '{"routing":{"agentId":"","confidence":1}}',
      '{"agentResponses":[{"agentId":"a","success":false,"errorMessage":null}]}',
      '{"agentResponses":[{"agentId":"a","success":true,"executionTimeMs":-1}]}',
      '{"agentResponses":"none"}',
    ];
    for (const metadata of wrong) expect(known(metadata)).toBe(metadata);
    expect(known('{"agentResponses":[{"agentId":"a","success":true}]}')).toBe(
      '{"agentResponses":[{"agentId":"a","content":"","success":true,"executionTimeMs":0}]}',
    );
  });
});

describe('reading', () => {
  it('takes null for what may be absent, and does not write it', () => {
    const text =
      '{"id":"t","sessionId":"s","status":{"state":"failed","message":null,"timestamp":null},"history":null,"metadata":null}';
    expect(writeTask(read(text))).toBe('{"id":"t","sessionId":"s","status":{"state":"failed"}}');
  });

  it('takes numbers from strings that hold nothing else', () => {
    const confidence = (written: string): unknown =>
      read(`{"id":"t","sessionId":"s","status":{"state":"working"},"metadata":{"routingConfidence":${written}}}`).metadata?.[
        'routingConfidence'
      ];
    expect(confidence('"0.95"')).toBe(0.95);
    expect(confidence('"-1e2"')).toBe(-100);
    for (const no of ['" 1"', '"0x1"', '"NaN"', '"01"', '""', '"1."']) expect(confidence(no)).toBe(JSON.parse(no));
  });

  it.each([
    ['"input-required"', 'input-required'],
    ['"InputRequired"', 'input-required'],
    ['"INPUT_REQUIRED"', 'input-required'],
    ['"Canceled"', 'canceled'],
    ['3', 'completed'],
    ['"auth-required"', 'unknown'],
    ['"constructor"', 'unknown'],
    ['""', 'unknown'],
    ['7', 'unknown'],
    ['-1', 'unknown'],
  ])('takes the state %s for %s', (written, state) => {
    expect(read(withStatus(`{"state":${written}}`)).status.state).toBe(state);
  });

  it('passes over what it does not know, and takes the last of what is there twice', () => {
    expect(read('{"id":"a","ID":"b","sessionId":"s","status":{"state":"working"},"newer":{"x":1}}').id).toBe('b');
  });

  it.each([
    ['{', /not JSON/],
    ['null', /expected object/],
    ['[]', /expected object/],
    ['{"id":"","sessionId":"s","status":{"state":"working"}}', /id/],
    ['{"id":"t","status":{"state":"working"}}', /sessionId/],
    ['{"id":"t","sessionId":"s"}', /status/],
    ['{"id":"t","sessionId":"s","status":null}', /status/],
    ['{"id":"t","sessionId":"s","status":{"state":null}}', /state/],
    ['{"id":"t","sessionId":"s","status":{"state":"working"},"history":[1]}', /history/],
    ['{"id":"t","sessionId":"s","status":{"state":"working"},"metadata":[]}', /metadata/],
  ])('refuses %s', (text, why) => {
    expect(refusal(text)).toMatch(why);
  });

  it('is not impressed by what is hostile', () => {
    const task = read(
      '{"id":"t","sessionId":"s","status":{"state":"working"},"metadata":{"__proto__":{"bad":1},"a":{"__proto__":[]}}}',
    );
    expect(Object.getPrototypeOf(task.metadata)).toBe(Object.prototype);
    expect(JSON.stringify(task)).not.toContain('__proto__');
    expect(read('{"__proto__":{"id":"x"},"id":"t","sessionId":"s","status":{"state":"working"}}').id).toBe('t');
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect(refusal(`{"id":"t","sessionId":"s","status":{"state":"working"},"metadata":{"a":${deep}}}`)).toMatch(/taskDepth/);
    expect(refusal(`"${'x'.repeat(limits.taskCharacters)}"`)).toMatch(/taskCharacters/);
  });

  it('never throws, and what it reads is read again as the same', () => {
    const message = fc.record({ role: fc.string({ minLength: 1 }), content: fc.string() });
    const anyTask = fc.record({
      id: fc.string({ minLength: 1 }),
      sessionId: fc.string({ minLength: 1 }),
      status: fc.record({ state: fc.constantFrom(...taskStates), message: fc.option(message, { nil: undefined }) }),
      history: fc.array(message),
      metadata: fc.dictionary(fc.string(), fc.jsonValue()),
    });
    fc.assert(
      fc.property(anyTask, (task) => {
        const once = writeTask(read(JSON.stringify(task)));
        expect(writeTask(read(once))).toBe(once);
      }),
    );
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void readTask(text)));
  });
});
