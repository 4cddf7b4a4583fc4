/** Text while it is written and events while they happen: `node examples/16-stream/run.ts`. */
import { createTroupe } from '../../src/index.ts';

await using troupe = await createTroupe({ root: import.meta.dirname });

const pieces: string[] = [];
const happened: string[] = [];
const result = await troupe.run('poet', 'Two lines about the harbour.', {
  // What a chat would show, piece by piece.
  onText: (text) => pieces.push(text),
  // What a log would keep. The type of the payload follows from `event_type`.
  onEvent: (event) => {
    happened.push(event.event_type === 'model.response' ? `model.response from ${event.payload.served}` : event.event_type);
  },
});

process.stdout.write(`${pieces.length > 1 ? 'in pieces' : 'whole'}: ${pieces.join('')}\n`);
process.stdout.write(`${happened.join(', ')}\n`);
process.stdout.write(`${result.usage.modelCalls} model call, ${result.usage.outputTokens} tokens\n`);
