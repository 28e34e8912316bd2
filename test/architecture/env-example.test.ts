import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadSettings } from '../../src/lib/process/settings.ts'

it('.env.example lists every setting with its default', async () => {
  const text = await readFile(join(import.meta.dirname, '../../.env.example'), 'utf8')
  const listed = [...text.matchAll(/^# ([A-Z][A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value || 'none'])
  // The default base URL depends on the port, so the settings have no fixed value for it.
  const settings = loadSettings({}, tmpdir()).origins.map(({ name, value }) =>
    name === 'PATCHBAY_BASE_URL' ? [name, 'http://localhost:8080'] : [name, value],
  )
  expect(listed.sort()).toEqual(settings.sort())
})
