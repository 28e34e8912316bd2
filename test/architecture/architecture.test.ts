import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { type Lock, missingFromLock } from '../../scripts/complete-lock.ts'
import { plant } from './planted.ts'

const ROOT = join(import.meta.dirname, '../..')
const CRUISER = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs')

type Module = { source: string }
type Violation = { from: string; to: string; rule: { name: string } }
type Cruise = {
  modules: Module[]
  summary: { violations: Violation[]; ruleSetUsed: { forbidden: { name: string }[] } }
}

/** Runs dependency-cruiser with Patchbay's rules on `folders` of the project at `root`, as `npm run check` does. */
const cruise = async (root: string, folders: readonly string[]): Promise<Cruise> => {
  const args = [CRUISER, '--config', join(ROOT, '.dependency-cruiser.mjs'), '--output-type', 'json', ...folders]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 256 * 1_024 * 1_024 })
  const cruised: Cruise = JSON.parse(stdout)
  return cruised
}

const breachesIn = ({ violations }: Cruise['summary']): string[] =>
  violations.map(({ from, to, rule }) => `${rule.name}: ${from} → ${to}`)

const sourcesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .filter(path => !path.startsWith('src/lib/db/generated/'))
}

const LAYER_RULE = 'layer-of-'

describe('the import rules', async () => {
  const { modules, summary } = await cruise(ROOT, ['src'])
  const rules = summary.ruleSetUsed.forbidden.map(({ name }) => name)
  const layered = rules.filter(name => name.startsWith(LAYER_RULE)).map(name => name.slice(LAYER_RULE.length))

  it('see every source file', async () => {
    const seen = new Set(modules.map(({ source }) => source))
    const sources = await sourcesIn('src')
    expect(sources.length).toBeGreaterThan(0)
    expect(sources.filter(source => !seen.has(source))).toEqual([])
  })

  it('hold in every source file', () => {
    expect(breachesIn(summary)).toEqual([])
  })

  it('give every folder of src a layer', async () => {
    const entries = await readdir(join(ROOT, 'src'), { withFileTypes: true })
    const folders = entries.filter(entry => entry.isDirectory()).map(entry => entry.name)
    expect(folders.filter(folder => !layered.some(name => `${name}/`.startsWith(`${folder}/`)))).toEqual([])
  })

  describe('in a project that breaks each rule', async () => {
    const planted = plant(layered)
    const project = await mkdtemp(join(tmpdir(), 'patchbay-planted-'))
    afterAll(() => rm(project, { recursive: true, force: true }))
    for (const [path, text] of Object.entries(planted.files)) {
      await mkdir(dirname(join(project, path)), { recursive: true })
      await writeFile(join(project, path), text)
    }
    const found = breachesIn((await cruise(project, ['src', 'bin'])).summary)

    it.each(planted.breaches)('report %s', breach => {
      expect(found).toContain(breach)
    })

    it('report nothing for files that follow them', () => {
      expect(found.filter(breach => planted.allowed.some(path => breach.includes(`: ${path} `)))).toEqual([])
    })

    it('are all tested', () => {
      const broken = new Set(planted.breaches.map(breach => breach.split(':')[0]))
      expect(rules.filter(rule => !broken.has(rule))).toEqual([])
    })
  })
})

describe('package-lock.json', () => {
  it('lists the packages of every platform, because npm ci rejects a lock file without them', async () => {
    const lock: Lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'))
    expect(missingFromLock(lock).map(({ name, parent }) => `${name} of ${parent}`)).toEqual([])
  })

  it('without the packages of a platform is reported', () => {
    const lock: Lock = {
      packages: {
        '': {},
        'node_modules/engine': { optionalDependencies: { 'engine-linux-x64': '1.0.0', 'engine-win32-x64': '1.0.0' } },
        'node_modules/engine-linux-x64': { version: '1.0.0' },
      },
    }
    expect(missingFromLock(lock).map(({ name }) => name)).toEqual(['engine-win32-x64'])
  })
})
