import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadSettings } from '../../src/lib/process/settings.ts'

/** Defaults that depend on the port or on the machine. */
const VARYING: Partial<Record<string, string>> = {
  PATCHBAY_BASE_URL: 'http://localhost:8080',
  PATCHBAY_MEMORY_MB: 'none',
  PATCHBAY_ANSWER_CACHE_MB: '64',
}

it('.env.example lists every setting with its default', async () => {
  const text = await readFile(join(import.meta.dirname, '../../.env.example'), 'utf8')
  const listed = [...text.matchAll(/^# ([A-Z][A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value || 'none'])
  const settings = loadSettings({}, tmpdir()).origins.map(({ name, value }) => [name, VARYING[name] ?? value])
  expect(listed.sort()).toEqual(settings.sort())
})
