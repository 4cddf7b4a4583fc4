/**
 * The door to every npm script: makes sure that the right Node and the dependencies are there, then runs the named task.
 * This file is plain JavaScript in old syntax, so that an old Node can still read it and say what is wrong.
 */
const NODE_MIN = 18;

const major = Number(process.versions.node.split('.')[0]);
if (major < NODE_MIN) {
  process.stderr.write(
    `This is Node ${process.versions.node}; a checkout of Troupe needs Node ${NODE_MIN} or newer to fetch its own.\n` +
      'Fix: install a current Node and npm, then run the same command again.\n',
  );
  process.exitCode = 2;
} else {
  void import('./bootstrap/run-task.mjs').then((bootstrap) => bootstrap.main(process.argv.slice(2)));
}
