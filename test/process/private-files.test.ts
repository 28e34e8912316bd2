import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { startPatchbay, temporaryDirectory } from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000 })

it.skipIf(process.platform === 'win32')(
  'the database files in a folder that other users can read are readable only by their owner',
  async () => {
    const directory = temporaryDirectory()
    const data = join(directory, 'data')
    mkdirSync(data, { mode: 0o755 })
    const patchbay = await startPatchbay({ directory })
    const modes = readdirSync(data).map(name => [name, statSync(join(data, name)).mode & 0o077])
    expect(modes).toContainEqual(['patchbay.db', 0])
    expect(modes.filter(([, forOthers]) => forOthers !== 0)).toEqual([])
    await patchbay.stop()
  },
)
