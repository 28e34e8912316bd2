import { describe, expect, it } from 'vitest'
import { findMemoryMb, MIN_MEMORY_MB, shareMemory } from '../../src/lib/process/memory-budget.ts'
import { loadSettings } from '../../src/lib/process/settings.ts'
import { runCommand, temporaryDirectory } from '../support/process.ts'

const MEBIBYTE = 1_024 * 1_024
const GIBIBYTE = 1_024 * MEBIBYTE
const SIZES = [256, 300, 512, 768, 1_024, 2_048, 4_096, 65_536]

describe('the parts of the memory', () => {
  it.each(SIZES)('fit into %d MB, with everything in use at once', totalMb => {
    const memory = shareMemory(totalMb, undefined, 4)
    const { inFlightBytes, cutResultBytes, cachedResponseBytes, recordBytes, sampleBytes, embeddingBytes } = memory
    const caches = cutResultBytes + cachedResponseBytes + recordBytes + sampleBytes + embeddingBytes
    const threads = memory.maxThreads * (memory.processHeapMb + 20)
    const program = 110
    const sumMb = program + threads + (2 * inFlightBytes + caches) / MEBIBYTE
    expect(sumMb).toBeLessThanOrEqual(totalMb + 5)
  })

  it('never shrink when there is more memory', () => {
    const sums = SIZES.map(totalMb => {
      const { inFlightBytes, cutResultBytes, maxThreads, processHeapMb } = shareMemory(totalMb, undefined, 4)
      return [inFlightBytes, cutResultBytes, maxThreads, maxThreads * processHeapMb]
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
    const { memory } = loadSettings({ PATCHBAY_MEMORY_MB: '512', PATCHBAY_ANSWER_CACHE_MB: '100' }, directory)
    expect(memory.cutResultBytes).toBe(100 * MEBIBYTE)
    expect(memory.processHeapMb).toBeLessThan(shareMemory(512).processHeapMb)
  })
})

it('Patchbay does not start with less than 256 MB, and says so', async () => {
  const { code, stderr } = await runCommand(['serve'], { env: { PATCHBAY_MEMORY_MB: '255' } })
  expect(code).toBe(1)
  expect(stderr).toContain('PATCHBAY_MEMORY_MB is not between 256 and 1048576')
})
