/**
 * One life of a process that hands tasks to executors, in a folder that was made for it. It prints a dot for every commit, so
 * that whoever kills it can tell how far it is. Usage: task-life-main.ts <folder> <plan as JSON>
 */
import { type TaskPlan, taskLife } from './task-world.ts';

const [folder = '', plan = ''] = process.argv.slice(2);
const life = taskLife(folder, JSON.parse(plan) as TaskPlan, {
  wrapLedger: (inner) => ({
    ...inner,
    async append(request) {
      const appended = await inner.append(request);
      process.stdout.write('.');
      return appended;
    },
  }),
});
const end = await life.go();
await life.end();
// Somebody else is at it, or it is to be gone on with: the next life does.
if (end.kind !== 'ended') process.exitCode = 5;
