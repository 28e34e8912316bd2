import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { answerJson, startFakeApi } from '../support/fake-api.ts'
import { temporaryDirectory } from '../support/process.ts'
import { createProject, saidBy, withoutRegistry } from './project.ts'

/** Finds a Node on this machine that is too old for Patchbay, because the launcher must cope with one. */
const findOldNode = (): { file: string; version: string } | undefined => {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin']
  for (const file of new Set(folders.map(folder => join(folder, 'node')))) {
    if (!existsSync(file)) continue
    const version = spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout.trim().slice(1)
    const major = Number(version.split('.')[0])
    if (major >= 18 && major < 22) return { file, version }
  }
  return undefined
}

const old = findOldNode()
const FETCH_MS = 120_000

const node = old?.file ?? ''

/** Starts a checkout for the first time with a Node that is too old. */
const downloadOnce = async () => {
  const project = await createProject()
  await project.write('.runtime/fetching-1/node_modules/half', '')
  return { project, first: await project.run(['count', '3'], { node }) }
}
let downloading: ReturnType<typeof downloadOnce> | undefined

/** Downloads Node once for all tests in this file, because the download takes longer than all of them together. */
const downloaded = () => {
  downloading ??= downloadOnce()
  return downloading
}

/** Name of the folder with the downloaded Node, in a checkout or in the cache folder. */
const RUNTIME = 'node-24.21.0'

/** Starts a registry whose packages contain no Node, but run the Node that a test has downloaded. */
const startRegistry = async () => {
  const { project } = await downloaded()
  const packages = join(project.root, '.runtime', RUNTIME, 'node_modules')
  const name = (await readdir(packages)).find(entry => entry.startsWith('node-')) ?? ''
  const folder = temporaryDirectory()
  const write = async (path: string, text: string): Promise<void> =>
    writeFile(join(folder, 'package', path), text, { mode: 0o755 })
  await mkdir(join(folder, 'package/bin'), { recursive: true })
  await write('package.json', JSON.stringify({ name, version: '24.21.0' }))
  const real = join(packages, name, 'bin/node')
  await write('bin/node', `#!/bin/sh\nexec '${real}' "$@"\n`)
  const tarball = execFileSync('tar', ['-cz', 'package'], { cwd: folder })
  const registry = await startFakeApi(({ url, headers }, response) => {
    if (url.endsWith('.tgz')) response.end(tarball)
    else {
      const dist = { tarball: `http://${headers.host}/${name}.tgz` }
      const versions = { '24.21.0': { name, version: '24.21.0', dist } }
      answerJson(response, { name, 'dist-tags': { latest: '24.21.0' }, versions })
    }
  })
  onTestFinished(registry.close)
  return registry
}

/**
 * Creates a package as npm installs it: built, without sources. `cache` is the folder to which it may download Node.
 */
const createInstalled = async () => {
  const project = await createProject()
  await rename(join(project.root, 'src'), join(project.root, 'dist'))
  await rename(join(project.root, 'dist/cli/main.ts'), join(project.root, 'dist/cli/main.js'))
  const folder = join(project.root, 'cache')
  return { project, env: { XDG_CACHE_HOME: folder, LOCALAPPDATA: folder }, cache: join(folder, 'patchbay') }
}

describe.skipIf(old === undefined)('on a machine whose Node is too old (skipped if there is none)', () => {
  it(
    'downloads Node 24 into the checkout once, even after an interrupted start, and runs everything on it',
    async () => {
      const { project, first } = await downloaded()
      expect(saidBy(first)[0]).toBe(
        `Node ${old?.version} is older than 22.19: downloading Node 24.21.0 into ${join(project.root, '.runtime')} (only once)`,
      )
      expect(first.code).toBe(3)
      const { version, path } = JSON.parse(first.stdout)
      expect(version).toBe('v24.21.0')
      expect(path.split(delimiter)[0]).toContain(join(project.root, '.runtime', RUNTIME))
      expect(await readdir(join(project.root, '.runtime'))).toEqual([RUNTIME])

      const second = await project.run(['count', '4'], { node })
      expect(second).toMatchObject({ stderr: '', code: 4 })

      const served = project.start(['serve'], { node })
      await served.said('"serve"')
      served.kill('SIGTERM')
      expect(await served.ended).toMatchObject({ code: 7, signal: null })
    },
    FETCH_MS,
  )

  it(
    'sees no engine warnings from npm',
    async () => {
      const { project } = await downloaded()
      const env = {
        PATH: [dirname(node), process.env.PATH].join(delimiter),
        npm_config_cache: join(project.root, '.npm'),
        npm_config_yes: 'true',
      }
      const started = await project.startShell('npx patchbay count 3', env).ended
      expect(started).toMatchObject({ code: 3 })
      expect(started.stderr).not.toContain('EBADENGINE')
    },
    FETCH_MS,
  )

  it('prints one line when Node 24 cannot be downloaded', async () => {
    const project = await createProject()
    const ended = await project.run(['anything'], { node, env: withoutRegistry(project.root) })
    expect(ended.code).toBe(1)
    expect(saidBy(ended).at(-1)).toMatch(/^cannot download Node 24.* the npm registry cannot be reached: check/)
  })

  it(
    "downloads Node 24 into the user's cache folder for an installed package, which has no sources",
    async () => {
      const { project, env, cache } = await createInstalled()
      const registry = await startRegistry()
      const fromRegistry = { ...env, npm_config_registry: registry.origin, npm_config_cache: project.root }
      const first = await project.run(['count', '3'], { node, env: fromRegistry })
      expect(saidBy(first)).toEqual([
        `Node ${old?.version} is older than 22.19: downloading Node 24.21.0 into ${cache} (only once)`,
      ])
      expect(JSON.parse(first.stdout)).toMatchObject({ version: 'v24.21.0' })
      expect(await project.run(['count', '4'], { node, env })).toMatchObject({ stderr: '', code: 4 })
      expect(await readdir(project.root)).not.toContain('.runtime')
    },
    FETCH_MS,
  )

  it('prints one line when an installed package has no cache folder to download Node 24 into', async () => {
    const { project, env, cache } = await createInstalled()
    await project.write('cache', 'not a folder')
    const ended = await project.run(['anything'], { node, env })
    expect(ended.code).toBe(1)
    expect(saidBy(ended)).toEqual([
      `Node ${old?.version} is too old, and Node 24.21.0 cannot be downloaded: ${cache} is not writable; install Node 22.19 or later, preferably Node 24`,
    ])
  })
})
