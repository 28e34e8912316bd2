import { createHash } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { runSharedCommand, startPatchbay, temporaryDirectory } from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000 })

it('migrate updates a new database, lists the migrations, and has nothing to do the second time', async () => {
  const options = { directory: temporaryDirectory() }
  const first = await runSharedCommand(['migrate', '--json'], options)
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(z.object({ applied: z.array(z.string()).nonempty() }).parse(JSON.parse(first.stdout)).applied[0]).toMatch(
    /^\d/,
  )
  expect(JSON.parse((await runSharedCommand(['migrate', '--json'], options)).stdout)).toEqual({ applied: [] })
  expect(await runSharedCommand(['migrate'], options)).toMatchObject({
    code: 0,
    stdout: 'The database is up to date.\n',
  })
})

it('key generate creates a different master key each time, which Patchbay can start with', async () => {
  const made = await runSharedCommand(['key', 'generate', '--json'])
  const { key, id } = z.object({ key: z.string(), id: z.string() }).parse(JSON.parse(made.stdout))
  expect(createHash('sha256').update(Buffer.from(key, 'base64')).digest('hex').slice(0, 8)).toBe(id)
  const plain = (await runSharedCommand(['key', 'generate'])).stdout.trimEnd()
  expect(Buffer.from(plain, 'base64')).toHaveLength(32)
  expect(plain).not.toBe(key)
  const patchbay = await startPatchbay({ env: { PATCHBAY_MASTER_KEY: `${key},${plain}` } })
  expect(await patchbay.stop()).toMatchObject({ code: 0 })
})
