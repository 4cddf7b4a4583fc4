/** Groups that last and the presets that they are made of. */
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { fail, ok } from '../../base/result.ts';
import { worktreeStrategy } from '../../events/organisation.ts';
import { senderOf } from '../../front/acts.ts';
import {
  foundValue,
  type GroupActing,
  groupNamed,
  groupRefusal,
  groupsOf,
  makeGroup,
  promptGroup,
  resumeGroup,
  signalSavedGroup,
} from '../../front/groups/group-acts.ts';
import { readGroup, readGroups } from '../../front/groups/group-rows.ts';
import { findNamedPreset, presetsValue, presetValue, readPresetsOf } from '../../front/project/presets.ts';
import { presetList, presetShown } from '../../front/shapes/files.ts';
import {
  groupDeleted,
  groupList,
  groupMade,
  groupMoved,
  groupRenamed,
  groupShown,
  groupSignalled,
  promptGiven,
} from '../../front/shapes/keeping.ts';
import { deleteFound, placeGroup, rename } from '../../groups/groups.ts';
import { actOf, type RouteNeeds, replied, value } from './needs.ts';
import { defineRoute, type Route } from './route.ts';

const group = 'Groups';
const name = z.string().min(1).max(200);

type GroupRouteNeeds = RouteNeeds & Pick<GroupActing, 'follow'>;

export function groupRoutes(needs: GroupRouteNeeds): readonly Route[] {
  return [...presetRoutes(needs), ...readRoutes(needs), ...makeRoutes(needs), ...promptRoutes(needs), ...keepRoutes(needs)];
}

function presetRoutes({ project }: RouteNeeds): readonly Route[] {
  const read = () => readPresetsOf(project.config, project.groups.env);
  return [
    defineRoute({
      ...{ method: 'GET', path: '/presets', group, deed: 'survey', answer: presetList },
      summary: 'Whole groups at hand: of the repository, your own, and built in; each with what shadows it.',
      handle: async () => value(presetsValue(await read())),
    }),
    defineRoute({
      ...{ method: 'GET', path: '/presets/{preset}', group, deed: 'survey', answer: presetShown },
      summary: 'One of them, by its name or its reference (`repo:review`).',
      handle: async ({ param }) => {
        const catalogue = await read();
        const preset = findNamedPreset(catalogue, param('preset'));
        return preset.ok ? value(presetValue(catalogue, preset.value)) : fail({ ...preset.error, status: 404 });
      },
    }),
  ];
}

function readRoutes({ project }: RouteNeeds): readonly Route[] {
  return [
    defineRoute({
      ...{ method: 'GET', path: '/groups', group, deed: 'survey', answer: groupList },
      summary: 'Groups and folders, as `troupe groups list` has them.',
      handle: async () => value(await readGroups(project)),
    }),
    defineRoute({
      ...{ method: 'GET', path: '/groups/{name}', group, deed: 'survey', answer: groupShown },
      summary: 'A group: its members, what waits for it, its newest runs.',
      handle: async ({ param }) => {
        const found = await groupNamed(project, param('name'));
        return found.ok ? value(await readGroup(project, found.value)) : replied(found);
      },
    }),
  ];
}

function makeRoutes(needs: RouteNeeds): readonly Route[] {
  return [
    defineRoute({
      ...{ method: 'POST', path: '/groups', once: true, group, deed: 'direct', answer: groupMade, status: 201 },
      summary: 'Makes a group of a preset, or of an agent that declares one; without either a folder for groups.',
      body: z.strictObject({
        name,
        preset: name.optional(),
        agent: name.optional(),
        worktrees: worktreeStrategy.optional(),
        folder: name.optional(),
      }),
      handle: async (asked) => replied(await makeGroup(needs, actOf(asked), asked.body)),
    }),
    defineRoute({
      ...{ method: 'DELETE', path: '/groups/{name}', group, deed: 'keep', answer: groupDeleted },
      summary: 'Closes a group and its members for good, or takes a folder away: what lay in it stays.',
      query: z.strictObject({ force: z.enum(['yes', 'no']).default('no').describe('also with work in its worktrees') }),
      handle: async (asked) => {
        const groups = groupsOf(needs.project, actOf(asked));
        const deleted = await deleteFound(groups, asked.param('name'), asked.query.force === 'yes');
        if (!deleted.ok) return replied(fail(groupRefusal(deleted.error)));
        const { found, branches } = deleted.value;
        return value({ ...foundValue(found), deleted: true as const, branches: [...branches] });
      },
    }),
  ];
}

function promptRoutes(needs: GroupRouteNeeds): readonly Route[] {
  const { project } = needs;
  const signal = (path: 'pause' | 'stop', summary: string): Route =>
    defineRoute({
      ...{ method: 'POST', path: `/groups/{name}/${path}`, group, deed: 'direct', answer: groupSignalled, summary },
      body: z.strictObject({
        reason: z.string().min(1).max(1_000).default('asked for over the API'),
        all: z.boolean().default(false).describe('prompts that wait are dropped, too'),
      }),
      handle: async (asked) => {
        const { by, where } = senderOf(actOf(asked));
        const how = { ...asked.body, by: { by, where } };
        return replied(await signalSavedGroup(project, asked.param('name'), path === 'stop' ? 'cancel' : 'pause', how));
      },
    });
  return [
    defineRoute({
      ...{ method: 'POST', path: '/groups/{name}/prompts', once: true, group, deed: 'direct', answer: promptGiven, status: 201 },
      summary: 'Prompts a group, or one member of it. While it works on another the prompt waits its turn.',
      body: z.strictObject({ text: z.string().min(1).max(limits.promptBytes), member: name.optional() }),
      handle: async (asked) => replied(await promptGroup(needs, actOf(asked), asked.param('name'), asked.body)),
    }),
    signal('pause', 'Holds what a group works on, and what waits behind it.'),
    signal('stop', 'Ends what a group works on; whoever works for it goes on with the next prompt.'),
    defineRoute({
      ...{ method: 'POST', path: '/groups/{name}/resume', group, deed: 'direct' },
      summary: 'Goes on with what was paused or left, or with the prompts that wait.',
      answer: z.object({ group: z.string(), run: z.string().nullable(), outcome: z.enum(['resumed', 'idle', 'held']) }),
      handle: async (asked) => replied(await resumeGroup(needs, actOf(asked), asked.param('name'))),
    }),
  ];
}

function keepRoutes({ project }: RouteNeeds): readonly Route[] {
  return [
    defineRoute({
      ...{ method: 'POST', path: '/groups/{name}/rename', group, deed: 'direct', answer: groupRenamed },
      summary: 'Gives a group or a folder another name.',
      body: z.strictObject({ name }),
      handle: async (asked) => {
        const { body } = asked;
        const found = await rename(groupsOf(project, actOf(asked)), asked.param('name'), body.name);
        return found.ok ? value({ ...foundValue(found.value), name: body.name }) : replied(fail(groupRefusal(found.error)));
      },
    }),
    defineRoute({
      ...{ method: 'POST', path: '/groups/{name}/move', group, deed: 'direct', answer: groupMoved },
      summary: 'Puts a group into a folder, pins it, or gives it another place.',
      body: z.strictObject({ folder: name.optional(), pinned: z.boolean().optional(), order: z.number().optional() }),
      handle: async (asked) => {
        const { body } = asked;
        const found = await placeGroup(groupsOf(project, actOf(asked)), asked.param('name'), body);
        return found.ok
          ? ok({ kind: 'value', value: { ...foundValue(found.value), ...body } })
          : replied(fail(groupRefusal(found.error)));
      },
    }),
  ];
}
