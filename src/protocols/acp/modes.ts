/** What a client can choose for a session: how free its runs are, who answers, and with which model. */
import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk';
import { limits } from '../../base/limits.ts';
import { firstLine } from '../../projections/readable.ts';
import type { AcpMode, AcpProject } from './needs.ts';

const MODES: readonly { readonly id: AcpMode; readonly name: string; readonly description: string }[] = [
  { id: 'ask', name: 'Ask', description: 'What the rules ask about is put to you' },
  { id: 'read-only', name: 'Read only', description: 'Nothing is changed and no command is run' },
  {
    id: 'full',
    name: 'Full',
    description: 'Edits and commands of the workspace are not asked about; what is denied stays denied',
  },
];

const DEFAULT_MODEL = 'default';

export function modeNamed(id: string): AcpMode | undefined {
  return MODES.find((mode) => mode.id === id)?.id;
}

export const modeState = (mode: AcpMode): SessionModeState => ({
  currentModeId: mode,
  availableModes: MODES.map((one) => ({ ...one })),
});

interface Chosen {
  readonly mode: AcpMode;
  readonly agent: string;
  readonly model: string | undefined;
}

export async function configOptions(project: AcpProject, { mode, agent, model }: Chosen): Promise<SessionConfigOption[]> {
  const agents = (await project.agents()).slice(0, limits.acpChoices);
  const known = await project.models();
  const models = [...new Set(model === undefined ? known : [model, ...known])].slice(0, limits.acpChoices);
  return [
    {
      ...{ type: 'select', id: 'mode', name: 'Mode', category: 'mode', currentValue: mode },
      options: MODES.map(({ id, name, description }) => ({ value: id, name, description })),
    },
    {
      ...{ type: 'select', id: 'model', name: 'Model', category: 'model', currentValue: model ?? DEFAULT_MODEL },
      options: [{ value: DEFAULT_MODEL, name: 'As the agent says' }, ...models.map((name) => ({ value: name, name }))],
    },
    {
      ...{ type: 'select', id: 'agent', name: 'Agent', category: '_agent', currentValue: agent },
      options: agents.map(({ name, description }) => ({
        ...{ value: name, name },
        ...(description === undefined ? {} : { description: firstLine(description, limits.acpTitleCharacters) }),
      })),
    },
  ];
}

/** Nothing for the agent's own. */
export const modelChosen = (value: string): string | undefined => (value === DEFAULT_MODEL ? undefined : value);
