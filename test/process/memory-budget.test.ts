import { describe, expect, it } from 'vitest'
import {
  COPIES_IN_FLIGHT,
  findMemoryMb,
  MIN_MEMORY_MB,
  PROGRAM_MB,
  SLOT_OVERHEAD_MB,
  shareMemory,
} from '../../src/lib/process/memory-budget.ts'
import { loadSettings } from '../../src/lib/process/settings.ts'
import { runCommand, temporaryDirectory } from '../support/process.ts'

const MEBIBYTE = 1_024 * 1_024
const GIBIBYTE = 1_024 * MEBIBYTE
const ROUNDING_MB = 2
const SIZES = [512, 768, 1_024, 2_048, 4_096, 65_536]

describe('the parts of the memory', () => {
  it.each(SIZES)('fit into %d MB, with everything in use at once', totalMb => {
    const memory = shareMemory(totalMb, undefined, 4)
    const { inFlightBytes, cutResultBytes, cachedResponseBytes, recordBytes, sampleBytes, embeddingBytes } = memory
    const caches = cutResultBytes + cachedResponseBytes + recordBytes + sampleBytes + embeddingBytes
    const threads = memory.maxThreads * (memory.threadHeapMb + memory.processHeapMb + SLOT_OVERHEAD_MB)
    const sumMb = PROGRAM_MB + threads + (COPIES_IN_FLIGHT * inFlightBytes + caches) / MEBIBYTE
    expect(sumMb).toBeLessThanOrEqual(totalMb + ROUNDING_MB)
  })

  it('never shrink when there is more memory', () => {
    const sums = [MIN_MEMORY_MB, ...SIZES].map(totalMb => {
      const { inFlightBytes, cutResultBytes, maxThreads, threadHeapMb, processHeapMb } = shareMemory(
        totalMb,
        undefined,
        4,
      )
      return [inFlightBytes, cutResultBytes, maxThreads, maxThreads * (threadHeapMb + processHeapMb)]
    })
    for (const [at, sum] of sums.entries()) {
      for (const [part, value] of (sums[at + 1] ?? []).entries()) expect(value).toBeGreaterThanOrEqual(sum[part] ?? 0)
    }
  })

  it('follow the setting, or the limit of the container, or a quarter of the machine', () => {
    expect(findMemoryMb(512 * MEBIBYTE, 8 * GIBIBYTE)).toBe(512)
    expect(findMemoryMb(0, 8 * GIBIBYTE)).toBe(2_048)
    // What cgroups report if there is no limit.
    expect(findMemoryMb(2 ** 63, 8 * GIBIBYTE)).toBe(2_048)
    expect(findMemoryMb(0, 512 * MEBIBYTE)).toBe(MIN_MEMORY_MB)
    expect(findMemoryMb(200 * MEBIBYTE, 8 * GIBIBYTE)).toBe(200)
    const directory = temporaryDirectory()
    expect(loadSettings({ PATCHBAY_MEMORY_MB: '512' }, directory).memory).toEqual(shareMemory(512))
    const { memory } = loadSettings({ PATCHBAY_MEMORY_MB: '512', PATCHBAY_ANSWER_CACHE_MB: '90' }, directory)
    expect(memory.cutResultBytes).toBe(90 * MEBIBYTE)
    expect(shareMemory(4_096, 900, 4).processHeapMb).toBeLessThan(shareMemory(4_096, undefined, 4).processHeapMb)
  })

  it.each([
    ['256', 33, 32],
    ['512', 600, 96],
  ])('of %s MB are not set to more than fits: %d MB for cut results', (total, cutResults, most) => {
    const given = { PATCHBAY_MEMORY_MB: total, PATCHBAY_ANSWER_CACHE_MB: String(cutResults) }
    expect(() => loadSettings(given, temporaryDirectory())).toThrow(
      `PATCHBAY_ANSWER_CACHE_MB must be at most ${most}, because Patchbay uses ${total} MB of memory in all (PATCHBAY_MEMORY_MB)`,
    )
  })
})

it('Patchbay does not start with less than 256 MB, and says so', async () => {
  const { code, stderr } = await runCommand(['serve'], { env: { PATCHBAY_MEMORY_MB: '255' } })
  expect(code).toBe(1)
  expect(stderr).toContain('PATCHBAY_MEMORY_MB is not between 256 and 1048576')
})
