import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runMark } from '../../support/leftovers.ts'
import {
  ABOUT,
  ANYONE,
  createCacheWorld,
  findText,
  KIBIBYTE,
  keep,
  listFiles,
  MINUTE_MS,
  makeDirectory,
  newHolder,
} from './cache-world.ts'

const SERVER = 'server-1'
const LARGE = 700 * KIBIBYTE
const PROGRAM = join(import.meta.dirname, 'cache.process.ts')

const onlyFileOf = (directory: string): string => {
  const [file, ...others] = listFiles(directory)
  if (file === undefined || others.length > 0) throw new Error(`${others.length + 1} files`)
  return file
}

describe('a large answer', () => {
  it('lies in a file that only the owner may read, under a name that says nothing, and takes no memory', async () => {
    const { cache, directory } = createCacheWorld()
    const content = randomBytes(LARGE)
    const cacheId = await keep(cache, SERVER, ANYONE, content)
    const file = onlyFileOf(directory)
    expect(readFileSync(file).equals(content)).toBe(true)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
    expect(file).not.toContain(cacheId)
    expect(cache.stats()).toMatchObject({ memoryBytes: 0 })
    expect(cache.stats().bytes).toBeGreaterThan(LARGE)
  })

  it('leaves the disk when it expires, is evicted, and with its server', async () => {
    const { cache, clock, directory } = createCacheWorld({ limits: { maxBytesPerCaller: LARGE + 10 * KIBIBYTE } })
    await keep(cache, SERVER, ANYONE, randomBytes(LARGE))
    await keep(cache, SERVER, ANYONE, randomBytes(LARGE))
    await expect.poll(() => listFiles(directory).length).toBe(1)
    clock.now += 5 * MINUTE_MS
    await cache.sweep()
    await expect.poll(() => listFiles(directory)).toEqual([])
    await keep(cache, SERVER, ANYONE, randomBytes(LARGE))
    cache.dropServer(SERVER)
    await expect.poll(() => listFiles(directory)).toEqual([])
  })

  it('is not there any more where its file is gone, cut off, or longer', async () => {
    const { cache, directory } = createCacheWorld()
    const harms = [
      (file: string) => rmSync(file),
      (file: string) => truncateSync(file, LARGE - 1),
      (file: string) => writeFileSync(file, 'more', { flag: 'a' }),
    ]
    for (const harm of harms) {
      const cacheId = await keep(cache, SERVER, ANYONE, randomBytes(LARGE))
      harm(onlyFileOf(directory))
      expect(await cache.find(SERVER, ANYONE, cacheId)).toBeUndefined()
      await expect.poll(() => listFiles(directory)).toEqual([])
    }
    expect(cache.stats()).toMatchObject({ entries: 0, bytes: 0, lost: 3 })
  })

  it('is not read before somebody needs it, and lives on for having been asked for', async () => {
    const { cache, clock, directory } = createCacheWorld()
    const content = randomBytes(LARGE)
    const cacheId = await keep(cache, SERVER, ANYONE, content)
    clock.now += 4 * MINUTE_MS
    const opened = await cache.open(SERVER, ANYONE, cacheId)
    expect(opened?.about).toEqual(ABOUT)
    clock.now += 4 * MINUTE_MS
    expect((await cache.open(SERVER, ANYONE, cacheId))?.about).toEqual(ABOUT)
    expect((await opened?.read())?.equals(content)).toBe(true)
    rmSync(onlyFileOf(directory))
    expect(await opened?.read()).toBeUndefined()
    expect(await cache.open(SERVER, ANYONE, cacheId)).toBeUndefined()
    expect(await cache.open(SERVER, newHolder(), cacheId)).toBeUndefined()
    expect(cache.stats()).toMatchObject({ entries: 0, found: 2, missed: 2, lost: 1 })
  })

  it('is kept again after somebody has cleared the directory away', async () => {
    const { cache, directory } = createCacheWorld()
    await keep(cache, SERVER, ANYONE, randomBytes(LARGE))
    rmSync(directory, { recursive: true })
    const content = 'x'.repeat(LARGE)
    expect(await findText(cache, SERVER, ANYONE, await keep(cache, SERVER, ANYONE, content))).toBe(content)
  })
})

describe('small answers', () => {
  it('go to disk when there is no room for them in memory', async () => {
    const { cache, directory } = createCacheWorld({ limits: { maxMemoryBytes: 10 * KIBIBYTE } })
    const ids: string[] = []
    for (let index = 0; index < 5; index++) {
      ids.push(await keep(cache, SERVER, ANYONE, String(index).repeat(4 * KIBIBYTE)))
    }
    expect(cache.stats()).toMatchObject({ entries: 5, memoryBytes: 8 * KIBIBYTE })
    expect(listFiles(directory)).toHaveLength(3)
    for (const [index, id] of ids.entries()) {
      expect(await findText(cache, SERVER, ANYONE, id)).toBe(String(index).repeat(4 * KIBIBYTE))
    }
  })
})

describe('a directory that cannot be written', () => {
  it('loses the large answers alone, and says so without a word of them', async () => {
    const file = join(makeDirectory(), 'file')
    writeFileSync(file, '')
    const { cache, open, warnings } = createCacheWorld()
    await cache.close()
    const hindered = open({ directory: join(file, 'answers') })
    const content = 'canary '.repeat(LARGE / 7)
    for (let times = 0; times < 3; times++) {
      expect(await hindered.keep({ serverId: SERVER, holder: ANYONE, content, about: 'canary' })).toBeUndefined()
    }
    const small = await keep(hindered, SERVER, ANYONE, 'small')
    expect(await findText(hindered, SERVER, ANYONE, small)).toBe('small')
    expect(hindered.stats()).toMatchObject({ entries: 1, refused: 3 })
    expect(warnings).toEqual([{ reason: 'ENOTDIR', message: 'answers cannot be kept on disk' }])
  })
})

describe('a stop', () => {
  it('leaves nothing on disk, though answers are still written', async () => {
    const { cache, directory } = createCacheWorld()
    await keep(cache, SERVER, ANYONE, randomBytes(LARGE))
    const late = cache.keep({ serverId: SERVER, holder: ANYONE, content: randomBytes(LARGE), about: {} })
    await cache.close()
    await late
    expect(() => statSync(directory)).toThrow('ENOENT')
  })
})

/** A process of its own with a large answer on disk. */
const startKeeper = async (directory: string) => {
  const child = spawn(process.execPath, [PROGRAM, directory], {
    env: { PATH: process.env.PATH, ...runMark() },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

describe('what a killed process has left on disk', () => {
  it('is removed by the next one that starts, and what is of those that live is not', async () => {
    const directory = makeDirectory()
    const kill = await startKeeper(directory)
    await startKeeper(directory)
    const { cache, open } = createCacheWorld({ directory })
    const mine = await keep(cache, SERVER, ANYONE, 'm'.repeat(LARGE))
    expect(listFiles(directory)).toHaveLength(3)
    await kill()
    const next = open()
    await expect.poll(() => listFiles(directory).length).toBe(2)
    await next.sweep()
    expect(listFiles(directory)).toHaveLength(2)
    expect(await findText(cache, SERVER, ANYONE, mine)).toBe('m'.repeat(LARGE))
  })

  it('on another machine is removed when nobody has touched it for ten minutes', async () => {
    const { cache, clock, directory } = createCacheWorld()
    const touched = clock.now / 1_000
    for (const scope of ['0123456789abcdef', 'none']) {
      const left = join(directory, `${scope}-1-1-01234567-89ab-cdef-0123-456789abcdef`)
      mkdirSync(left)
      writeFileSync(join(left, 'answer'), 'left')
      utimesSync(left, touched, touched)
    }
    clock.now += 10 * MINUTE_MS
    await cache.sweep()
    expect(listFiles(directory)).toHaveLength(2)
    clock.now += 1
    await cache.sweep()
    expect(listFiles(directory)).toEqual([])
  })

  it('is all that is removed: what is named otherwise is somebody else’s', async () => {
    const { cache, clock, directory } = createCacheWorld()
    mkdirSync(join(directory, 'notes'))
    writeFileSync(join(directory, 'notes', 'mine.txt'), '')
    writeFileSync(join(directory, 'patchbay.db'), '')
    clock.now += 365 * 24 * 60 * MINUTE_MS
    await cache.sweep()
    await cache.close()
    expect(listFiles(directory)).toHaveLength(2)
  })
})
