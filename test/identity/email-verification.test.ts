import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createBrowser } from '../support/browser.ts'
import { parseMail } from '../support/smtp-server.ts'
import { withoutRequestId } from '../support/without-request-id.ts'
import { anyDatabase, auditOf, databasesOfRun, EMAIL, PASSWORD, signUpInBrowser, startApp } from './app.ts'
import { linkIn, newPerson, startMailApp } from './mail.ts'

describe.each(databasesOfRun)('confirming an email on $kind', database => {
  it('works once with the link sent at sign-up', async () => {
    const app = await startMailApp(database)
    const { browser, welcome } = await newPerson(app)
    expect(welcome.to).toEqual([EMAIL])
    expect(welcome.headers).toContain('Subject: Confirm your email for Patchbay')
    const { url, token } = linkIn(welcome)
    expect(`${url.origin}${url.pathname}`).toBe(`${app.settings.baseUrl}/verify-email`)
    expect((await browser.send('GET', '/me')).json()).toMatchObject({ user: { emailVerifiedAt: null } })

    const answers = await Promise.all(
      Array.from({ length: 5 }, () => browser.send('POST', '/email-verifications', { token })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    expect((await browser.send('GET', '/me')).json()).toMatchObject({
      user: { email: EMAIL, emailVerifiedAt: expect.any(String) },
    })
    expect((await auditOf(app)).filter(action => action === 'user.email_verified')).toHaveLength(1)
    expect(JSON.stringify(await app.services.db.mailedLink.findMany())).not.toContain(token)
  })

  it('is not required to use Patchbay', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    expect((await browser.send('POST', '/servers', { name: 'first', access: 'public' })).status).toBe(201)
  })

  it('can be requested again a few times an hour until it is done', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    expect((await browser.send('POST', '/me/email-verification')).status).toBe(202)
    const { token } = linkIn(await app.smtp.next())
    const statuses: number[] = []
    for (let count = 0; count < 5; count++) statuses.push((await browser.send('POST', '/me/email-verification')).status)
    expect(statuses).toEqual([202, 202, 202, 202, 429])
    expect((await browser.send('POST', '/email-verifications', { token })).status).toBe(200)
    expect((await browser.send('POST', '/me/email-verification')).status).toBe(409)
  })

  it('fails the same way with an expired link, a link of another kind, and no link', async () => {
    const app = await startMailApp(database)
    const { browser, welcome } = await newPerson(app)
    const stranger = createBrowser(app.origin)
    const { token } = linkIn(welcome)
    const refused = [
      await stranger.send('POST', '/email-verifications', { token: 'x'.repeat(43) }),
      await stranger.send('POST', '/email-verifications', { token: '' }),
      await browser.send('POST', '/email-changes', { token }),
      await stranger.send('PUT', '/password-resets', { token, password: PASSWORD }),
    ]
    await app.services.db.mailedLink.updateMany({ data: { expiresAt: new Date(Date.now() - 1) } })
    refused.push(await stranger.send('POST', '/email-verifications', { token }))
    const [first, ...others] = refused.map(({ status, json }) => ({ status, body: withoutRequestId(json()) }))
    expect(first?.status).toBe(400)
    for (const other of others) expect(other).toEqual(first)
  })
})

describe('confirming an email', () => {
  it('does not block the sign-up if the mail server rejects the message, and can be requested again', async () => {
    const app = await startMailApp(anyDatabase)
    app.smtp.refuse('550 no such mailbox')
    const browser = await signUpInBrowser(app)
    expect((await browser.send('POST', '/me/email-verification')).status).toBe(503)
    app.smtp.refuse(undefined)
    expect((await browser.send('POST', '/me/email-verification')).status).toBe(202)
    expect(linkIn(await app.smtp.next()).token).toHaveLength(43)
  })

  it('saves the message to the outbox if no mail server is set', async () => {
    const app = await startApp(anyDatabase)
    const browser = await signUpInBrowser(app)
    const asked = await browser.send('POST', '/me/email-verification')
    expect(asked.json()).toMatchObject({ message: expect.stringContaining('outbox') })
    const outbox = join(app.settings.dataDirectory, 'outbox')
    const [file = ''] = await readdir(outbox)
    const { text } = parseMail((await readFile(join(outbox, file), 'utf8')).replaceAll('\n', '\r\n'))
    expect(text).toContain(`${app.settings.baseUrl}/verify-email?token=`)
  })

  it('builds its link from the base URL, whatever the Host and forwarded headers say', async () => {
    const app = await startMailApp(anyDatabase, {
      PATCHBAY_BASE_URL: 'https://patchbay.example',
      PATCHBAY_TRUST_PROXY: '127.0.0.0/8,::1/128',
    })
    await signUpInBrowser(app, 'operator@example.com')
    const extra = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }
    await createBrowser(app.origin).send('POST', '/signup', { email: EMAIL, password: PASSWORD }, extra)
    expect(linkIn(await app.smtp.next()).url.origin).toBe('https://patchbay.example')
  })

  it('removes expired links in the hourly cleanup, and keeps the others', async () => {
    const app = await startMailApp(anyDatabase)
    await newPerson(app)
    const { db, upkeep } = app.services
    const user = await db.user.findFirstOrThrow()
    await db.mailedLink.createMany({
      data: Array.from({ length: 1_200 }, (_, count) => ({
        userId: user.id,
        purpose: 'reset_password' as const,
        email: EMAIL,
        tokenHash: `old ${count}`,
        expiresAt: new Date(Date.now() - 1),
      })),
    })
    await upkeep.run()
    expect(await db.mailedLink.findMany()).toMatchObject([{ purpose: 'verify_email' }])
  })
})
