import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  globSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { freePort } from '../support/free-port.ts'
import { follow, type Running } from '../support/process.ts'
import { allOf, type Copy, onlyOf, parseCopy, parseDockerfile, parseEnvironment, parseExec } from './dockerfile.ts'
import { cleanEnvironment } from './project.ts'

// Tests have no container engine. So the package is laid out in a folder as the Dockerfile's stage `install` says,
// read-only for the user of the last stage, and that user runs it as ENTRYPOINT, CMD, ENV and HEALTHCHECK say.

const ROOT = join(import.meta.dirname, '../..')
const PREPARE_MS = 240_000
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const stages = parseDockerfile(read('Dockerfile'))
const image = stages.at(-1)
const install = stages.find(({ name }) => name === 'install')
if (!image || !install) throw new Error('the Dockerfile has no last stage, or none named install')

const isRoot = process.getuid?.() === 0
const [uid = 0, gid = 0] = onlyOf(image, 'USER').split(':').map(Number)
const asUser = isRoot ? { uid, gid } : {}

const box = mkdtempSync(join(tmpdir(), 'patchbay-image-'))
const at = (path: string) => join(box, resolve('/app', path))

/** Runs a command as in the image, without the variables of the npm that runs this test. */
const runAsInImage = (command: string, args: readonly string[], cwd: string): void => {
  execFileSync(command, args, { cwd, env: { ...cleanEnvironment(), npm_config_prefer_offline: 'true' }, stdio: 'pipe' })
}

/** Copies one file as COPY does. The `build` stage leaves nothing but the package. */
const copy = ({ from, sources: [source = ''], destination }: Copy): void => {
  const file = from === 'build' ? globSync(join(box, source))[0] : join(ROOT, source)
  if (file === undefined) throw new Error(`the stage build leaves no ${source}`)
  copyFileSync(file, destination.endsWith('/') ? join(at(destination), basename(file)) : at(destination))
}

const layOut = (): void => {
  mkdirSync(at('.'), { recursive: true })
  mkdirSync(at('/package'))
  // The scripts can be skipped, because everything is built before the tests run.
  runAsInImage('npm', ['pack', '--ignore-scripts', '--pack-destination', at('/package')], ROOT)
  for (const { keyword, rest } of install.instructions) {
    if (keyword === 'COPY') copy(parseCopy(rest))
    if (keyword === 'RUN') runAsInImage('sh', ['-c', rest], at('.'))
  }
}

/** Puts Node where the image's user may run it, whoever owns the checkout. */
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
  let server: Running | undefined

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

  it('contains the installed package: no sources, and of other packages only those with native parts', () => {
    expect(allOf(image, 'COPY').map(parseCopy)).toEqual([{ from: 'install', sources: ['/app'], destination: '.' }])
    expect(readdirSync(at('.')).sort()).toEqual([
      ...['LICENSE', 'README.md', 'bin', 'dist', 'migrations', 'node_modules'],
      ...['package-lock.json', 'package.json', 'public', 'views'],
    ])
    const packages = readdirSync(at('node_modules')).filter(name => !name.startsWith('.'))
    expect(packages.sort()).toEqual(['@napi-rs', '@node-rs', 'better-sqlite3', 'node-addon-api'])
  })

  it('is built from everything that the package contains', () => {
    const { files } = z.object({ files: z.array(z.string()) }).parse(JSON.parse(read('package.json')))
    const folders = files.filter(path => !path.startsWith('!')).map(path => path.replace(/\/.*/, ''))
    const sent = read('.dockerignore').split('\n')
    expect(folders.filter(folder => folder !== 'dist' && !sent.includes(`!${folder}`))).toEqual([])
  })

  it('runs a command of the command line', () => {
    expect(run('--version')).toMatchObject({
      status: 0,
      stdout: `${JSON.parse(read('package.json')).version}\n`,
    })
  })

  it('serves with only /data writable, reports healthy only while serving, and stops cleanly', async () => {
    expect(isHealthy()).toBe(false)
    const running = follow(
      spawn(entry, parseExec(onlyOf(image, 'CMD')), {
        cwd: at('.'),
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        ...asUser,
      }),
    )
    server = running
    await running.said('Patchbay is ready')
    expect(isHealthy()).toBe(true)
    expect(existsSync(join(box, 'data/patchbay.db'))).toBe(true)
    expect(existsSync(join(box, 'data/master.key'))).toBe(true)
    running.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
  })

  it('contains the native packages: it hashes passwords and opens its database', () => {
    const args = ['--email', 'a@example.com', '--password', 'correct horse battery']
    expect(run('user', 'create', ...args)).toMatchObject({ status: 0, stderr: '' })
  })
})
