import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Fault, say } from './fault.mjs'
import { runNpm } from './npm.mjs'
import { logOf, runStep } from './processes.mjs'
import { createStamps, fingerprint, glance } from './stamps.mjs'

const readJson = path => JSON.parse(readFileSync(path, 'utf8'))

/**
 * Returns whether node_modules matches the lock file, according to the list that npm keeps in node_modules. Covers a
 * checkout after a plain `npm install`.
 */
const isInstalled = root => {
  const kept = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(kept)) return false
  const { packages: present } = readJson(kept)
  const { packages: wanted } = readJson(join(root, 'package-lock.json'))
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || (present[path] ? present[path].version === version : optional),
  )
}

/**
 * Marks that the install scripts have run. It is inside node_modules, so a manual `npm ci` removes it and the install
 * scripts run again.
 */
const INSTALLED = 'node_modules/.prepared'

const GENERATED = 'src/lib/db/generated'

const runtimeIn = stamp => stamp.slice(0, stamp.lastIndexOf(' '))

const installDependencies = async (root, node, { log, print, before }) => {
  const isForOtherNode = before !== undefined && runtimeIn(before) !== runtimeIn(print)
  if (isForOtherNode || !isInstalled(root)) {
    say('installing dependencies, about half a minute')
    const args = ['ci', '--include=dev', '--include=optional', '--ignore-scripts']
    await runNpm(node, args, { cwd: root, log, purpose: 'install the dependencies' })
  }
  // Only the install scripts that package.json allows are run, whether or not this npm version supports that field.
  const allowed = Object.entries(readJson(join(root, 'package.json')).allowScripts ?? {}).filter(([, yes]) => yes)
  const present = allowed.map(([name]) => name).filter(name => existsSync(join(root, 'node_modules', name)))
  if (present.length > 0) {
    const args = ['rebuild', '--ignore-scripts=false', ...present]
    await runNpm(node, args, { cwd: root, log, purpose: 'run the install scripts of dependencies' })
  }
  writeFileSync(join(root, INSTALLED), '')
}

const runOwn = async (root, node, args, { log, failure }) => {
  const code = await runStep(node, args, { cwd: root, log })
  if (code === 0) return
  process.stderr.write(readFileSync(log))
  throw new Fault(failure)
}

const generate = async (root, node, { log }) => {
  say('generating the database clients')
  await runOwn(root, node, ['scripts/generate.ts'], {
    log,
    failure: 'generating the database clients failed, see above: fix prisma/schema.prisma or scripts/',
  })
}

/**
 * Compiles into `dist.new` and then replaces `dist`. This leaves no output of deleted sources, and a failed build does
 * not affect the old one.
 */
const build = async (root, node, { log }) => {
  say('building')
  rmSync(join(root, 'dist.new'), { recursive: true, force: true })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  await runOwn(root, node, [tsc, '-p', 'tsconfig.build.json', '--outDir', 'dist.new'], {
    log,
    failure: 'the build failed, see above: fix the errors and start again',
  })
  await runOwn(root, node, ['scripts/bundle.ts', 'dist.new'], {
    log,
    failure: 'bundling the build failed, as said above: fix scripts/bundle.ts or what it reads',
  })
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  renameSync(join(root, 'dist.new'), join(root, 'dist'))
}

const runtimeOf = ({ version }) => `node ${version.split('.')[0]} ${process.platform} ${process.arch}`

/** The files that each step reads. If they change, the step must run again. */
const INPUTS = {
  dependencies: { paths: ['package-lock.json', '.npmrc'] },
  generated: { paths: ['prisma', 'prisma.config.ts', 'scripts'], skip: ['prisma/postgresql'] },
  built: { paths: ['src', 'public/js', 'tsconfig.json', 'tsconfig.build.json'], skip: [GENERATED] },
}

/** Returns the steps up to `last`, in order. A step is done if its `print` is recorded and its `output` exists. */
const stepsUpTo = (last, root, node) => {
  const dependencies = `${runtimeOf(node)} ${fingerprint(root, INPUTS.dependencies)}`
  const steps = [{ name: 'dependencies', run: installDependencies, print: dependencies, output: INSTALLED }]
  if (last === 'dependencies') return steps
  const generated = fingerprint(root, { ...INPUTS.generated, facts: [dependencies] })
  steps.push({ name: 'generated', run: generate, print: generated, output: GENERATED })
  if (last === 'generated') return steps
  const built = fingerprint(root, { ...INPUTS.built, facts: [generated] })
  return [...steps, { name: 'built', run: build, print: built, output: 'dist' }]
}

/**
 * Returns the steps that must run before a task that needs `last`: those whose inputs have changed or whose output is
 * missing.
 */
const stepsToDo = (last, root, node, folder) => {
  const stamps = createStamps(folder)
  return stepsUpTo(last, root, node).filter(
    ({ name, print, output }) => stamps.read(name) !== print || !existsSync(join(root, output)),
  )
}

const OUTPUTS = [INSTALLED, GENERATED, 'dist']

/** Returns whether a task that needs `last` can run at once. Reads the inputs only if one was written since it could. */
export const isReady = (last, root, node, folder) => {
  const inputs = Object.values(INPUTS)
  const stamps = createStamps(folder)
  const seen = glance(root, {
    paths: [...inputs.flatMap(({ paths }) => paths), ...Object.keys(INPUTS).map(name => `.stamps/${name}`)],
    skip: inputs.flatMap(({ skip = [] }) => skip),
    facts: [runtimeOf(node), ...OUTPUTS.map(path => existsSync(join(root, path)))],
  })
  const name = `ready-${last}`
  if (stamps.read(name) === seen) return true
  if (stepsToDo(last, root, node, folder).length > 0) return false
  try {
    stamps.write(name, seen)
  } catch {
    // In a read-only checkout, the inputs are read at each start.
  }
  return true
}

/** Runs the outstanding steps. The caller must hold the lock. */
export const prepare = async (last, root, node, folder) => {
  const stamps = createStamps(folder)
  for (const { name, run, print } of stepsToDo(last, root, node, folder)) {
    const before = stamps.read(name)
    stamps.remove(name)
    await run(root, node, { log: logOf(folder, name), print, before })
    stamps.write(name, print)
  }
}
