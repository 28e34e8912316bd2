import { spawnSync } from 'node:child_process'
import { chmod, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createPrepared, createProject, saidBy, withoutRegistry } from './project.ts'

vi.setConfig({ testTimeout: 60_000 })

const INSTALL = 'installing dependencies, about half a minute'
const GENERATE = 'generating the database clients'
const BUILD = 'building'

describe('a fresh checkout', () => {
  it('installs, generates and builds, then runs the command with its arguments and exit code', async () => {
    const project = await createProject()
    const ended = await project.run(['count', '3'])
    expect(saidBy(ended)).toEqual([INSTALL, GENERATE, BUILD])
    expect(JSON.parse(ended.stdout)).toMatchObject({ command: 'count', version: process.version })
    expect(ended.code).toBe(3)
  })

  it('is prepared once when started twice at once, and both commands run', async () => {
    const project = await createProject()
    const both = await Promise.all([project.run(['first', '4']), project.run(['second', '5'])])
    expect(both.map(({ code }) => code)).toEqual([4, 5])
    expect(both.flatMap(saidBy).sort()).toEqual(
      [INSTALL, GENERATE, BUILD, 'another start is preparing Patchbay, waiting for it to finish'].sort(),
    )
  })
})

describe('a prepared checkout', () => {
  it('runs the command at once, the first time and later', async () => {
    const project = await createPrepared()
    for (const code of [3, 4]) expect(await project.run(['count', `${code}`])).toMatchObject({ stderr: '', code })
  })

  it('is rebuilt when a source has changed, without any output of a removed source', async () => {
    const project = await createPrepared()
    await project.write('src/extra.ts', '')
    expect(saidBy(await project.run(['anything']))).toEqual([BUILD])
    await project.remove('src/extra.ts')
    expect(saidBy(await project.run(['anything']))).toEqual([BUILD])
    await expect(readFile(join(project.root, 'dist/extra.js'))).rejects.toThrow('ENOENT')
  })

  it('is rebuilt when a source has changed but kept its size and modification time', async () => {
    const project = await createPrepared()
    await project.write('src/extra.ts', '1')
    await project.run(['anything'])
    expect(saidBy(await project.run(['anything']))).toEqual([])
    const file = join(project.root, 'src/extra.ts')
    const { atime, mtime } = await stat(file)
    await project.write('src/extra.ts', '2')
    await utimes(file, atime, mtime)
    expect(saidBy(await project.run(['anything']))).toEqual([BUILD])
  })

  it('is not rebuilt when its sources were written without a change', async () => {
    const project = await createPrepared()
    await project.run(['anything'])
    await utimes(join(project.root, 'src/cli/main.ts'), 0, 0)
    expect(saidBy(await project.run(['anything']))).toEqual([])
  })

  it('is generated and rebuilt when the models have changed', async () => {
    const project = await createPrepared()
    await project.write('prisma/schema.prisma', '// other models')
    expect(saidBy(await project.run(['anything']))).toEqual([GENERATE, BUILD])
  })

  it('is rebuilt when its build was removed', async () => {
    const project = await createPrepared()
    await project.remove('dist')
    expect(saidBy(await project.run(['anything']))).toEqual([BUILD])
  })

  it('is rebuilt even if a killed start left its lock behind', async () => {
    const project = await createPrepared()
    await project.remove('dist')
    const ended = spawnSync('true')
    await project.write('.stamps/lock', `${ended.pid} ${hostname()} 0`)
    expect((await project.run(['count', '3'])).code).toBe(3)
  })

  it('is installed again when its packages were removed', async () => {
    const project = await createPrepared()
    await project.remove('node_modules')
    expect(saidBy(await project.run(['anything']))).toEqual([INSTALL])
  })

  it('runs the install scripts again after a manual `npm ci`, which runs none', async () => {
    const project = await createPrepared()
    await project.write(
      'node_modules/.package-lock.json',
      await readFile(join(project.root, 'package-lock.json'), 'utf8'),
    )
    await project.remove('node_modules/.prepared')
    expect(saidBy(await project.run(['anything']))).toEqual([])
    await expect(readFile(join(project.root, 'node_modules/.prepared'))).resolves.toBeDefined()
  })

  it('keeps its last build when a new one fails, says why, and starts once the source is fixed', async () => {
    const project = await createPrepared()
    await project.write('src/extra.ts', 'BAD SOURCE')
    const failed = await project.run(['anything'])
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toContain('extra.ts: this does not compile')
    expect(saidBy(failed)).toEqual([BUILD, 'the build failed, see above: fix the errors and start again'])
    await expect(readFile(join(project.root, 'dist/cli/main.js'))).resolves.toBeDefined()
    await project.write('src/extra.ts', '')
    expect((await project.run(['count', '3'])).code).toBe(3)
  })
})

describe('a start that cannot prepare prints one line with the cause and what to do', () => {
  it('when npm is missing', async () => {
    const project = await createProject()
    const ended = await project.run(['anything'], { env: { PATH: tmpdir() } })
    expect(ended.code).toBe(1)
    expect(ended.stderr.trimEnd().split('\n').at(-1)).toMatch(/^patchbay: npm was not found .*install/)
    expect(ended.stderr).not.toMatch(/^ +at /m)
  })

  it('when the registry cannot be reached', async () => {
    const project = await createProject()
    await project.needFromRegistry('left-pad', '1.3.0')
    const ended = await project.run(['anything'], { env: withoutRegistry(project.root) })
    expect(ended.code).toBe(1)
    expect(saidBy(ended).at(-1)).toMatch(/^cannot install the dependencies: the npm registry cannot be reached: check/)
  })

  it('when the lock file does not match', async () => {
    const project = await createProject()
    const manifest = JSON.parse(await readFile(join(project.root, 'package.json'), 'utf8'))
    await project.write('package.json', JSON.stringify({ ...manifest, dependencies: { other: 'file:./other' } }))
    await project.write('other/package.json', '{"name":"other","version":"1.0.0"}')
    const ended = await project.run(['anything'])
    expect(saidBy(ended).at(-1)).toMatch(/package-lock.json does not match package.json: run npm install/)
  })

  it('when the checkout is not writable', async () => {
    const project = await createProject()
    await chmod(project.root, 0o555)
    const isRoot = process.getuid?.() === 0
    const ended = await project.run(['anything'], isRoot ? { uid: 65_534 } : {})
    await chmod(project.root, 0o755)
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(saidBy(ended)).toHaveLength(1)
    expect(ended.stderr).toMatch(/\.stamps is not writable: run as its owner, or make it writable\n$/)
  })

  it('when the program itself is missing', async () => {
    const project = await createProject()
    await project.remove('src')
    expect(saidBy(await project.run(['anything'])).at(-1)).toMatch(/holds neither src\/ nor dist\//)
  })
})

describe('a folder with a build and no sources, as in an image', () => {
  it('runs as it is and writes nothing', async () => {
    const project = await createPrepared()
    for (const path of ['src', 'node_modules', '.stamps', 'package-lock.json']) await project.remove(path)
    const ended = await project.run(['count', '3'], { env: { PATH: tmpdir() } })
    expect(ended).toMatchObject({ stderr: '', code: 3 })
    await expect(writeFile(join(project.root, '.stamps/any'), '')).rejects.toThrow('ENOENT')
  })
})
