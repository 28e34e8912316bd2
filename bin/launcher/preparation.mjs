import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Fault, say } from './fault.mjs'
import { runNpm } from './npm.mjs'
import { logOf, runStep } from './processes.mjs'
import { createStamps, fingerprint } from './stamps.mjs'

const readJson = path => JSON.parse(readFileSync(path, 'utf8'))

/** Whether node_modules holds what the lock says, by the list npm itself keeps there (after a plain `npm install`). */
const isInstalled = root => {
  const kept = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(kept)) return false
  const { packages: present } = readJson(kept)
  const { packages: wanted } = readJson(join(root, 'package-lock.json'))
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || (present[path] ? present[path].version === version : optional),
  )
}

/** Goes with node_modules, so that whoever runs `npm ci` by hand gets the install scripts run again. */
const INSTALLED = 'node_modules/.prepared'

const runtimeIn = stamp => stamp.slice(0, stamp.lastIndexOf(' '))

const installDependencies = async (root, node, { log, print, before }) => {
  const isForOtherNode = before !== undefined && runtimeIn(before) !== runtimeIn(print)
  if (isForOtherNode || !isInstalled(root)) {
    say('installing the dependencies, about half a minute')
    const args = ['ci', '--include=dev', '--include=optional', '--ignore-scripts']
    await runNpm(node, args, { cwd: root, log, purpose: 'install the dependencies' })
  }
  // No install script runs but those that package.json allows, whatever npm's version makes of that field.
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
    failure: 'generating the database clients failed, as said above: mend prisma/schema.prisma or scripts/',
  })
}

/** Compiles beside `dist` and swaps, so that nothing of a removed source stays and a failed build leaves the old one. */
const build = async (root, node, { log }) => {
  say('building')
  rmSync(join(root, 'dist.new'), { recursive: true, force: true })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  await runOwn(root, node, [tsc, '-p', 'tsconfig.build.json', '--outDir', 'dist.new'], {
    log,
    failure: 'the build failed, as said above: mend the errors and start again',
  })
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  renameSync(join(root, 'dist.new'), join(root, 'dist'))
}

/** The steps up to `last`, in order; each counts as done as long as its `print` (and its `output`) is there. */
const stepsUpTo = (last, root, { version }) => {
  const runtime = `node ${version.split('.')[0]} ${process.platform} ${process.arch}`
  const locked = fingerprint(root, { paths: ['package-lock.json', '.npmrc'] })
  const dependencies = `${runtime} ${locked}`
  const steps = [{ name: 'dependencies', run: installDependencies, print: dependencies, output: INSTALLED }]
  if (last === 'dependencies') return steps
  const generated = fingerprint(root, {
    paths: ['prisma', 'prisma.config.ts', 'scripts'],
    skip: ['prisma/postgresql'],
    facts: [dependencies],
  })
  steps.push({ name: 'generated', run: generate, print: generated, output: 'src/platform/db/generated' })
  if (last === 'generated') return steps
  const built = fingerprint(root, {
    paths: ['src', 'tsconfig.json', 'tsconfig.build.json'],
    skip: ['src/platform/db/generated'],
    facts: [generated],
  })
  return [...steps, { name: 'built', run: build, print: built, output: 'dist' }]
}

/** What is still to be done before a task that needs `last`: steps whose inputs have changed since they were done. */
export const stepsToDo = (last, root, node, folder) => {
  const stamps = createStamps(folder)
  return stepsUpTo(last, root, node).filter(
    ({ name, print, output }) => stamps.read(name) !== print || !existsSync(join(root, output)),
  )
}

/** Does the `steps`. To be called under the lock. */
export const doSteps = async (steps, root, node, folder) => {
  const stamps = createStamps(folder)
  for (const { name, run, print } of steps) {
    const before = stamps.read(name)
    stamps.remove(name)
    await run(root, node, { log: logOf(folder, name), print, before })
    stamps.write(name, print)
  }
}
