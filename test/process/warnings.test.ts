import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { type Vitals, warningsIn } from '../../src/lib/process/vitals.ts'
import { signUp } from '../support/api-client.ts'
import { startPatchbay } from '../support/process.ts'
import { signInToPages, textOf } from '../support/signed-in.ts'

vi.setConfig({ testTimeout: 90_000 })

const Ready = z.object({ status: z.literal('ok'), advice: z.array(z.string()) })

const MAX_FILES = 100
/** More than 80 % of the file descriptors, with room for the requests of the test. */
const MANY_FILES = 86

describe('before something runs out', () => {
  it.runIf(process.platform === 'linux')(
    'the operator’s page and /readyz warn, until there is room again',
    async () => {
      const patchbay = await startPatchbay({ maxFiles: MAX_FILES })
      const { email } = await signUp(patchbay.origin)
      const browser = await signInToPages(patchbay.origin, email)
      const pageText = async () => textOf((await browser.get('/operator')).html)
      /** Lists the advice on file descriptors. On a busy machine, there is other advice. */
      const listAdvice = async () =>
        Ready.parse(await (await fetch(`${patchbay.origin}/readyz`)).json()).advice.filter(text =>
          text.includes('file descriptors'),
        )
      const openFiles = () => readdirSync(`/proc/${patchbay.pid}/fd`).length
      expect(await pageText()).toMatch(/File descriptors \d+ of 100 /)
      expect(await listAdvice()).toEqual([])

      const count = MANY_FILES - openFiles()
      const sockets = Array.from({ length: count }, () => connect(patchbay.port, '127.0.0.1'))
      await vi.waitFor(() => expect(openFiles()).toBeGreaterThanOrEqual(MANY_FILES))
      expect(await pageText()).toContain('uses more than 80 % of its file descriptors')
      expect(await listAdvice()).toEqual([expect.stringContaining('ulimit -n')])

      for (const socket of sockets) socket.destroy()
      await vi.waitFor(() => expect(openFiles()).toBeLessThan(MANY_FILES - count / 2))
      expect(await pageText()).not.toContain('of its file descriptors')
      expect(await listAdvice()).toEqual([])
    },
  )

  const GIGABYTE = 1_024 ** 3
  const WELL: Vitals = {
    memory: { used: 90, limit: 100 },
    descriptors: { used: 80, limit: 100 },
    disk: { used: 90 * GIGABYTE, limit: 100 * GIGABYTE },
    loop: { p99Ms: 250, maxMs: 5_000, since: new Date() },
    queuedRecords: 20_000,
  }
  it.each<[string, Partial<Vitals>, string[]]>([
    ['nothing, at the thresholds', {}, []],
    ['nothing where the system does not say', { descriptors: undefined, disk: undefined }, []],
    ['memory', { memory: { used: 91, limit: 100 } }, ['memory_high']],
    ['file descriptors', { descriptors: { used: 81, limit: 100 } }, ['file_descriptors_low']],
    ['a disk', { disk: { used: 91 * GIGABYTE, limit: 100 * GIGABYTE } }, ['disk_low']],
    ['no large disk with much space left', { disk: { used: 990 * GIGABYTE, limit: 1_000 * GIGABYTE } }, []],
    ['a slow event loop', { loop: { ...WELL.loop, p99Ms: 251 } }, ['event_loop_slow']],
    ['a slow history', { queuedRecords: 20_001 }, ['history_behind']],
  ])('warns of %s', (_, change, names) => {
    expect([...warningsIn({ ...WELL, ...change })]).toEqual(names)
  })
})
