import { spawnSync } from 'node:child_process'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createProject, saidBy } from './project.ts'

vi.setConfig({ testTimeout: 60_000 })

const INSTALL = 'installing the dependencies, about half a minute'
const GENERATE = 'generating the database clients'
const BUILD = 'building'

const prepared = async () => {
  const project = await createProject()
  await project.run(['anything'])
  return project
}

describe('a fresh checkout', () => {
  it('is installed, generated and built, and then the command runs with its arguments and its exit code', async () => {
    const project = await createProject()
    const ended = await project.run(['count', '3'])
    expect(saidBy(ended)).toEqual([INSTALL, GENERATE, BUILD])
    expect(JSON.parse(ended.stdout)).toMatchObject({ command: 'count', version: process.version })
    expect(ended.code).toBe(3)
  })

  it('started twice at once is prepared once, and both commands run', async () => {
    const project = await createProject()
    const both = await Promise.all([project.run(['first', '4']), project.run(['second', '5'])])
    expect(both.map(({ code }) => code)).toEqual([4, 5])
    expect(both.flatMap(saidBy).sort()).toEqual(
      [INSTALL, GENERATE, BUILD, 'another start is preparing this checkout: waiting for it'].sort(),
    )
  })

  it('is prepared though a start that was killed has left its lock', async () => {
    const project = await createProject()
    const ended = spawnSync('true')
    await project.write('.stamps/lock', `${ended.pid} ${hostname()} 0`)
    expect((await project.run(['count', '3'])).code).toBe(3)
  })
})

describe('a prepared checkout', () => {
  it('runs the command at once', async () => {
    const project = await prepared()
    const ended = await project.run(['count', '3'])
    expect(ended).toMatchObject({ stderr: '', code: 3 })
  })

  it('is built anew when a source has changed, and nothing of a removed source stays', async () => {
    const project = await prepared()
    await project.write('src/extra.ts', '')
    expect(saidBy(await project.run(['anything']))).toEqual([BUILD])
    await project.remove('src/extra.ts')
    expect(saidBy(await project.run(['anything']))).toEqual([BUILD])
    await expect(readFile(join(project.root, 'dist/extra.js'))).rejects.toThrow('ENOENT')
  })

  it('is generated and built anew when the models have changed', async () => {
    const project = await prepared()
    await project.write('prisma/schema.prisma', '// other models')
    expect(saidBy(await project.run(['anything']))).toEqual([GENERATE, BUILD])
  })

  it('is built anew when its build was removed', async () => {
    const project = await prepared()
    await project.remove('dist')
    expect(saidBy(await project.run(['anything']))).toEqual([BUILD])
  })

  it('is installed anew when its packages were removed', async () => {
    const project = await prepared()
    await project.remove('node_modules')
    expect(saidBy(await project.run(['anything']))).toEqual([INSTALL])
  })

  it('has the install scripts run again after `npm ci` by hand, which runs none', async () => {
    const project = await prepared()
    await project.write(
      'node_modules/.package-lock.json',
      await readFile(join(project.root, 'package-lock.json'), 'utf8'),
    )
    await project.remove('node_modules/.prepared')
    expect(saidBy(await project.run(['anything']))).toEqual([])
    await expect(readFile(join(project.root, 'node_modules/.prepared'))).resolves.toBeDefined()
  })

  it('keeps its last build when a new one fails, says why, and starts once the source is mended', async () => {
    const project = await prepared()
    await project.write('src/extra.ts', 'BAD SOURCE')
    const failed = await project.run(['anything'])
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toContain('extra.ts: this does not compile')
    expect(saidBy(failed)).toEqual([BUILD, 'the build failed, as said above: mend the errors and start again'])
    await expect(readFile(join(project.root, 'dist/cli/main.js'))).resolves.toBeDefined()
    await project.write('src/extra.ts', '')
    expect((await project.run(['count', '3'])).code).toBe(3)
  })
})

describe('what is missing is named in one line, with what to do', () => {
  it('npm', async () => {
    const project = await createProject()
    const ended = await project.run(['anything'], { env: { PATH: tmpdir() } })
    expect(ended.code).toBe(1)
    expect(ended.stderr.trimEnd().split('\n').at(-1)).toMatch(/^patchbay: npm is not to be found .*install/)
    expect(ended.stderr).not.toMatch(/^ +at /m)
  })

  it('the registry', async () => {
    const project = await createProject()
    await project.needFromRegistry('left-pad', '1.3.0')
    const env = {
      npm_config_registry: 'http://127.0.0.1:9/',
      npm_config_fetch_retries: '0',
      npm_config_cache: project.root,
    }
    const ended = await project.run(['anything'], { env })
    expect(ended.code).toBe(1)
    expect(saidBy(ended).at(-1)).toMatch(/^cannot install the dependencies: the npm registry cannot be reached: check/)
  })

  it('a lock that fits', async () => {
    const project = await createProject()
    const manifest = JSON.parse(await readFile(join(project.root, 'package.json'), 'utf8'))
    await project.write('package.json', JSON.stringify({ ...manifest, dependencies: { other: 'file:./other' } }))
    await project.write('other/package.json', '{"name":"other","version":"1.0.0"}')
    const ended = await project.run(['anything'])
    expect(saidBy(ended).at(-1)).toMatch(/package-lock.json does not fit package.json: run npm install/)
  })

  it('the right to write', async () => {
    const project = await createProject()
    await chmod(project.root, 0o555)
    const isRoot = process.getuid?.() === 0
    const ended = await project.run(['anything'], isRoot ? { uid: 65_534 } : {})
    await chmod(project.root, 0o755)
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(saidBy(ended)).toHaveLength(1)
    expect(ended.stderr).toMatch(/\.stamps is not writable: run as its owner, or make it writable\n$/)
  })

  it('the program itself', async () => {
    const project = await createProject()
    await project.remove('src')
    expect(saidBy(await project.run(['anything'])).at(-1)).toMatch(/holds neither src\/ nor dist\//)
  })
})

describe('a folder with a build and no sources, as in an image', () => {
  it('runs as it is and writes nothing', async () => {
    const project = await prepared()
    for (const path of ['src', 'node_modules', '.stamps', 'package-lock.json']) await project.remove(path)
    const ended = await project.run(['count', '3'], { env: { PATH: tmpdir() } })
    expect(ended).toMatchObject({ stderr: '', code: 3 })
    await expect(writeFile(join(project.root, '.stamps/any'), '')).rejects.toThrow('ENOENT')
  })
})
