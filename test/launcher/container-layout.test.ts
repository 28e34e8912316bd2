import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { allOf, onlyOf, parseCopy, parseDockerfile, parseEnvironment, parseExec } from './dockerfile.ts'
import { follow } from './project.ts'

// Tests have no container engine. So the files that the Dockerfile's last stage copies are laid out in a folder,
// read-only for the user it names, and that user runs them as its ENTRYPOINT, CMD, ENV and HEALTHCHECK say.

const ROOT = join(import.meta.dirname, '../..')
const PREPARE_MS = 240_000
const stages = parseDockerfile(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))
const image = stages.at(-1)
const packages = stages.find(({ name }) => name === 'packages')
if (!image || !packages) throw new Error('the Dockerfile has no last stage, or none named packages')

const isRoot = process.getuid?.() === 0
const [uid = 0, gid = 0] = onlyOf(image, 'USER').split(':').map(Number)
const asUser = isRoot ? { uid, gid } : {}

const box = mkdtempSync(join(tmpdir(), 'patchbay-image-'))
const at = (path: string) => join(box, resolve('/app', path))

/**
 * Copies as COPY does: a folder's content into the destination, and a file under its own name into a destination that
 * ends in `/`.
 */
const copy = (source: string, destination: string): void => {
  const target = destination.endsWith('/') ? join(at(destination), basename(source)) : at(destination)
  cpSync(source, target, { recursive: true, verbatimSymlinks: true })
}

/** Installs the production packages with the Dockerfile's own commands. */
const installPackages = (): void => {
  for (const { from, sources, destination } of allOf(packages, 'COPY').map(parseCopy)) {
    if (from === undefined) for (const source of sources) copy(join(ROOT, source), destination)
  }
  const [command = '', ...args] = onlyOf(packages, 'RUN').split(/\s+/)
  execFileSync(command, [...args, '--prefer-offline'], { cwd: at('.'), stdio: 'pipe' })
  for (const { from, sources, destination } of allOf(packages, 'COPY').map(parseCopy)) {
    if (from === 'build') for (const source of sources) copy(join(ROOT, source.replace(/^\/app\//, '')), destination)
  }
}

const layOut = (): void => {
  mkdirSync(at('.'), { recursive: true })
  installPackages()
  for (const { from, sources, destination } of allOf(image, 'COPY').map(parseCopy)) {
    if (from === 'packages') continue
    for (const source of sources) copy(join(ROOT, source.replace(/^\/app\//, '')), destination)
  }
}

/** Provides Node where the user may run it, whoever owns the checkout. */
const provideNode = (): void => {
  mkdirSync(join(box, 'bin'))
  try {
    linkSync(process.execPath, join(box, 'bin/node'))
  } catch {
    copyFileSync(process.execPath, join(box, 'bin/node'))
  }
}

const protect = (): void => {
  mkdirSync(join(box, 'data'), { mode: 0o700 })
  if (isRoot) chownSync(join(box, 'data'), uid, gid)
  else execFileSync('chmod', ['-R', 'a-w', at('.')])
  chmodSync(box, 0o755)
}

const environmentFor = (port: number): NodeJS.ProcessEnv => {
  const environment = parseEnvironment(image)
  return {
    ...environment,
    PATH: `${join(box, 'bin')}:/usr/bin:/bin`,
    PATCHBAY_HOST: '127.0.0.1',
    PATCHBAY_PORT: String(port),
    DATABASE_URL: environment.DATABASE_URL?.replace('/data', join(box, 'data')),
  }
}

describe.skipIf(process.platform === 'win32')('the layout of the image', () => {
  let env: NodeJS.ProcessEnv = {}
  let server: ChildProcess | undefined

  beforeAll(async () => {
    layOut()
    provideNode()
    protect()
    env = environmentFor(await freePort())
  }, PREPARE_MS)

  afterAll(() => {
    server?.kill('SIGKILL')
    if (!isRoot) execFileSync('chmod', ['-R', 'u+w', box])
    rmSync(box, { recursive: true, force: true })
  })

  const entry = at(parseExec(onlyOf(image, 'ENTRYPOINT'))[0] ?? '')
  const run = (...args: string[]) => spawnSync(entry, args, { cwd: at('.'), env, encoding: 'utf8', ...asUser })
  const isHealthy = () => {
    const [command = '', ...args] = parseExec(onlyOf(image, 'HEALTHCHECK'))
    return spawnSync(command, args, { cwd: at('.'), env, ...asUser }).status === 0
  }

  it('is read-only for its non-root user', () => {
    expect(uid).toBeGreaterThan(0)
    const probe = `require('node:fs').writeFileSync('dist/probe', '')`
    expect(spawnSync('node', ['-e', probe], { cwd: at('.'), env, encoding: 'utf8', ...asUser }).stderr).toContain(
      'EACCES',
    )
  })

  it('contains neither sources nor build and test dependencies', () => {
    const absent = ['src', 'test', 'node_modules/prisma', 'node_modules/typescript', 'node_modules/vitest']
    expect(absent.filter(path => existsSync(at(path)))).toEqual([])
  })

  it('runs a command of the command line', () => {
    expect(run('--version')).toMatchObject({
      status: 0,
      stdout: `${JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version}\n`,
    })
  })

  it('serves with only /data writable, reports healthy only while serving, and stops cleanly', async () => {
    expect(isHealthy()).toBe(false)
    const started = spawn(entry, parseExec(onlyOf(image, 'CMD')), {
      cwd: at('.'),
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...asUser,
    })
    server = started
    const running = follow(started)
    await running.said('Patchbay is ready')
    expect(isHealthy()).toBe(true)
    expect(existsSync(join(box, 'data/patchbay.db'))).toBe(true)
    expect(existsSync(join(box, 'data/master.key'))).toBe(true)
    started.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
  })

  it('contains the native packages: it hashes passwords and opens its database', () => {
    const args = ['--email', 'a@example.com', '--password', 'correct horse battery']
    expect(run('user', 'create', ...args)).toMatchObject({ status: 0, stderr: '' })
  })
})
