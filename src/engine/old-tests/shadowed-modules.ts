/** New files that Python finds before its own modules: `python -m unittest` in a folder with a `unittest.py` runs that one. */

const RUNNERS = 'pytest _pytest unittest nose nose2 coverage doctest trial tox nox xdist hypothesis sitecustomize usercustomize';
/** What these load when they start. */
const LIBRARY =
  'abc argparse ast asyncio atexit base64 bdb bisect builtins calendar cmd codecs collections contextlib contextvars copy copyreg ' +
  'csv ctypes dataclasses datetime decimal difflib dis email encodings enum errno faulthandler fnmatch fractions functools gc ' +
  'genericpath getpass gettext glob hashlib heapq html importlib inspect io ipaddress itertools json keyword linecache locale ' +
  'logging math mimetypes numbers opcode operator os pathlib pdb pickle pkgutil platform posixpath pprint py pluggy iniconfig ' +
  'packaging queue random re reprlib runpy select selectors shlex shutil signal site socket ssl stat string struct subprocess ' +
  'sys sysconfig tempfile textwrap threading time timeit token tokenize traceback types typing urllib uuid warnings weakref ' +
  'xml zipfile zipimport zlib';
const RUNNER_NAMES = new Set(RUNNERS.split(' '));
const LIBRARY_NAMES = new Set(LIBRARY.split(' '));

export function shadowsModule(path: string): boolean {
  const [, name = ''] = /(?:^|\/)(\w+)(?:\.(?:py|so|pth)|\/__(?:init|main)__\.py)$/.exec(path) ?? [];
  const depth = path.split('/').length - (path.endsWith('__.py') ? 1 : 0);
  // In a package of its own a module of that name hides nobody.
  return depth === 1 ? LIBRARY_NAMES.has(name) || RUNNER_NAMES.has(name) : depth === 2 && RUNNER_NAMES.has(name);
}
