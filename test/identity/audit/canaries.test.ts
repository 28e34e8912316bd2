import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createApiClient, signUp } from '../../support/api-client.ts'
import { createBrowser } from '../../support/browser.ts'
import { databasesOfRun } from '../../support/databases.ts'
import { runPatchbay } from '../../support/world.ts'
import { download, linesOf } from './audit-world.ts'

const PASSWORD = 'canary-password'
const WRONG_PASSWORD = 'canary-wrong-password'
const SECRET = 'canary-secret "quoted" ü'
const PLAIN = 'canary-plain'

describe.each(databasesOfRun)('the audit log on $kind', kind => {
  const patchbay = runPatchbay({ kind })

  it('never contains a password, token, secret or global value, neither in the table nor in the file', async () => {
    const { db, accounts } = patchbay.services
    const operator = await signUp(patchbay.origin)
    const browser = createBrowser(patchbay.origin)
    await browser.signUp('canary@example.com', PASSWORD)
    await browser.loadCsrfToken()
    const made = z
      .object({ id: z.string(), token: z.string() })
      .parse((await browser.send('POST', '/tokens', { name: 'one' })).json())
    await browser.send('DELETE', '/session')
    await browser.signIn('canary@example.com', WRONG_PASSWORD)
    await browser.signIn('canary@example.com', PASSWORD)
    const byCommand = await accounts.createTokenFor('canary@example.com', { name: 'two' })
    await accounts.createUser({ email: 'other@example.com', password: PASSWORD })
    const api = createApiClient(patchbay.origin, made.token)
    const server = await api.create('/servers', { name: 'Canaries' })
    const put = (key: string, value: string, secret: boolean) =>
      api.expectOk('PUT', `/servers/${server.id}/globals/${key}`, { value, secret })
    await put('kept', SECRET, true)
    await put('kept', `${SECRET} again`, true)
    await put('plain', PLAIN, false)
    await put('plain', SECRET, true)
    await api.expectOk('DELETE', `/servers/${server.id}/globals/kept`)
    await api.expectOk('DELETE', `/servers/${server.id}`)
    await api.expectOk('DELETE', `/tokens/${byCommand.id}`)

    const table = JSON.stringify(await db.auditEntry.findMany())
    const file = await (await download(operator, '/audit?format=ndjson')).text()
    expect(linesOf(file).length).toBe(await db.auditEntry.count())
    expect(table).toContain('secret.set')
    const { tokenHash } = await db.accessToken.findUniqueOrThrow({ where: { id: made.id } })
    const canaries = ['canary-', made.token, byCommand.token, 'pbk_', tokenHash, 'argon2']
    for (const text of [table, file]) expect(canaries.filter(canary => text.includes(canary))).toEqual([])
  })
})
