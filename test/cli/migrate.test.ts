import { createHash } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { runCommand, startPatchbay, temporaryDirectory } from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000 })

it('migrate brings a new database up to date, says what it did, and the second time has nothing to do', async () => {
  const options = { directory: temporaryDirectory() }
  const first = await runCommand(['migrate', '--json'], options)
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(z.object({ applied: z.array(z.string()).nonempty() }).parse(JSON.parse(first.stdout)).applied[0]).toMatch(
    /^\d/,
  )
  expect(JSON.parse((await runCommand(['migrate', '--json'], options)).stdout)).toEqual({ applied: [] })
  expect(await runCommand(['migrate'], options)).toMatchObject({ code: 0, stdout: 'Nothing to do.\n' })
})

it('key generate makes a master key that Patchbay starts with, and another each time', async () => {
  const made = await runCommand(['key', 'generate', '--json'])
  const { key, id } = z.object({ key: z.string(), id: z.string() }).parse(JSON.parse(made.stdout))
  expect(createHash('sha256').update(Buffer.from(key, 'base64')).digest('hex').slice(0, 8)).toBe(id)
  const plain = (await runCommand(['key', 'generate'])).stdout.trimEnd()
  expect(Buffer.from(plain, 'base64')).toHaveLength(32)
  expect(plain).not.toBe(key)
  const patchbay = await startPatchbay({ env: { PATCHBAY_MASTER_KEY: `${key},${plain}` } })
  expect(await patchbay.stop()).toMatchObject({ code: 0 })
})
