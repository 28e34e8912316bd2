import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseDatabaseUrl } from '../../../src/lib/db/target.ts'

describe('DATABASE_URL', () => {
  it.each([
    ['file:./data/patchbay.db', { kind: 'sqlite', file: join(process.cwd(), 'data/patchbay.db') }],
    ['file:patchbay.db', { kind: 'sqlite', file: join(process.cwd(), 'patchbay.db') }],
    ['file:/var/lib/patchbay.db', { kind: 'sqlite', file: '/var/lib/patchbay.db' }],
    ['file:///var/lib/patch%20bay.db', { kind: 'sqlite', file: '/var/lib/patch bay.db' }],
    ['postgres://u:p@db/patchbay', { kind: 'postgresql', url: 'postgres://u:p@db/patchbay' }],
    ['postgresql://u:p@db:5433/patchbay', { kind: 'postgresql', url: 'postgresql://u:p@db:5433/patchbay' }],
  ])('accepts %s', (url, value) => {
    expect(parseDatabaseUrl(url)).toEqual({ ok: true, value })
  })

  it.each([
    ['file:', 'needs a file'],
    ['file::memory:', 'needs a file'],
    ['file:./a.db?connection_limit=1', 'must not have parameters'],
    ['file://server/share.db', 'path in the file: URL is not valid'],
    ['mysql://root@localhost/x', 'file:<path>'],
    ['patchbay.db', 'file:<path>'],
    ['', 'file:<path>'],
    ['postgres://u:secret@host:port/x', 'postgres: URL is not valid'],
  ])('rejects %s', (url, reason) => {
    const parsed = parseDatabaseUrl(url)
    expect(parsed).toMatchObject({ ok: false, error: expect.stringContaining(reason) })
    expect(JSON.stringify(parsed)).not.toContain('secret')
  })
})
