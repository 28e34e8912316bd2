import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadSettings } from '../../src/lib/process/settings.ts'

it('.env.example lists every setting with its default', async () => {
  const text = await readFile(join(import.meta.dirname, '../../.env.example'), 'utf8')
  const listed = [...text.matchAll(/^# ([A-Z][A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value || 'none'])
  // The base URL's default follows the port: no fixed value stands in the settings.
  const settings = loadSettings({}, tmpdir()).origins.map(({ name, value }) =>
    name === 'PATCHBAY_BASE_URL' ? [name, 'http://localhost:8080'] : [name, value],
  )
  expect(listed.sort()).toEqual(settings.sort())
})
