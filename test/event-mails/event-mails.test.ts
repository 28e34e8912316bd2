import { beforeAll, describe, expect, it, vi } from 'vitest'
import { MINUTE_MS } from '../../src/lib/kernel/durations.ts'
import { databasesOfRun } from '../support/databases.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import type { Person } from '../support/world.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { addWebhook, runDelivering } from '../webhooks/webhooks-world.ts'

const pathOf = ({ organizationId }: Pick<Person, 'organizationId'>): string =>
  `/organizations/${organizationId}/event-emails`

const WAIT = { timeout: 20_000, interval: 10 }

/** Matches the choice of emails of a person for their own organization. */
const mailOf = ({ organizationId, userId }: Person) => ({ membership: { organizationId, userId } })

describe.each(databasesOfRun)('emails about events, on $kind', kind => {
  const patchbay = runDelivering(kind, { hasMail: true })
  beforeAll(() => patchbay.services.deliverer.start())
  const confirm = async (person: Person): Promise<Person> => {
    await patchbay.db.user.update({ where: { id: person.userId }, data: { emailVerifiedAt: new Date() } })
    return person
  }
  /** Makes a person with an organization, who has confirmed the email. */
  const confirmed = async () => confirm(await patchbay.person())

  /** Returns the emails about events that this person has received. */
  const mailsTo = ({ email }: Person) =>
    patchbay.smtp.received
      .filter(({ to, headers }) => to.includes(email) && /^List-Unsubscribe:/im.test(headers))
      .map(({ headers, text }) => ({ headers, text: text.replaceAll('\r\n', '\n') }))
  const nextMailTo = async (person: Person) => {
    const before = mailsTo(person).length
    for (;;) {
      await patchbay.smtp.next()
      const mail = mailsTo(person)[before]
      if (mail !== undefined) return mail
    }
  }
  type Mail = ReturnType<typeof mailOf>
  /** Makes it look as if another process were sending an email until then, once none is being sent. */
  const leaseUntil = (where: Mail, leasedUntil: Date | null) =>
    vi.waitUntil(
      async () =>
        (await patchbay.db.eventMail.updateMany({ where: { ...where, lease: null }, data: { leasedUntil } })).count > 0,
      WAIT,
    )
  const later = () => new Date(Date.now() + MINUTE_MS)
  /** Resolves once this many events wait for an email. */
  const hasWaiting = (mail: Mail, count: number) =>
    vi.waitUntil(async () => (await patchbay.db.mailedEvent.count({ where: { mail } })) === count, WAIT)
  const stopLinkIn = (text: string): string =>
    /Stop these emails:\n\S+?(\/stop-event-emails\?\S+)/.exec(text)?.[1] ?? ''

  it('are refused until the email is confirmed, and for those who do not manage the organization', async () => {
    const owner = await patchbay.person()
    const chosen = { events: ['secret.changed', 'call.failed', 'secret.changed'] }
    expect(await owner.send('PUT', pathOf(owner), chosen)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('Confirm your email') },
    })
    await confirm(owner)
    const view = { events: ['call.failed', 'secret.changed'], isDelivered: true }
    expect((await owner.expectOk('PUT', pathOf(owner), chosen)).body).toEqual(view)
    expect((await owner.expectOk('GET', pathOf(owner))).body).toEqual(view)
    const builder = await confirm(await patchbay.member(owner.organizationId, 'builder'))
    expect((await builder.send('PUT', pathOf(owner), chosen)).status).toBe(403)
  })

  it('tell everything that waited in one email, without secret values, and are stopped by its link', async () => {
    const owner = await confirmed()
    await owner.expectOk('PUT', pathOf(owner), { events: ['secret.changed', 'toolkit.changed'] })
    await leaseUntil(mailOf(owner), later())
    const server = await owner.create('/servers', { name: 'Weather' })
    await owner.expectOk('PUT', `/servers/${server.id}/globals/api_key`, { value: 'canary-value', secret: true })
    const toolkit = await owner.create('/toolkits', { title: 'Ours' })
    await owner.expectOk('PATCH', `/toolkits/${toolkit.id}`, { title: 'Ours, renamed' })
    await hasWaiting(mailOf(owner), 2)
    const [{ text, headers }] = await Promise.all([nextMailTo(owner), leaseUntil(mailOf(owner), null)])
    expect(text).toContain('(secret.changed)\n  serverName: Weather\n  key: api_key\n  change: set')
    expect(text).toContain('(toolkit.changed)\n  toolkitTitle: Ours, renamed')
    expect(text).toContain(`${patchbay.baseUrl}/servers/${server.id}`)
    expect(text).not.toContain('canary-value')
    expect(headers).toMatch(/^Subject: .*2 events/im)

    const stranger = createPageBrowser(patchbay.origin)
    const link = stopLinkIn(text)
    await stranger.get(link)
    expect((await owner.expectOk('GET', pathOf(owner))).body).toMatchObject({
      events: ['toolkit.changed', 'secret.changed'],
    })
    const token = new URLSearchParams(link.split('?')[1]).get('token') ?? ''
    const [id, signature = ''] = token.split('.')
    const forged = `${id}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
    expect((await stranger.submit('/stop-event-emails', { token: forged })).status).toBe(400)
    expect((await stranger.submit('/stop-event-emails', { token })).html).toContain('You no longer get emails')
    expect((await owner.expectOk('GET', pathOf(owner))).body).toMatchObject({ events: [] })
  })

  it('end for a member who may no longer manage the organization, also those that are waiting', async () => {
    const owner = await confirmed()
    const admin = await confirm(await patchbay.member(owner.organizationId, 'admin'))
    await admin.expectOk('PUT', pathOf(owner), { events: ['toolkit.changed'] })
    const toolkit = await owner.create('/toolkits', { title: 'First' })
    const rename = (title: string) => owner.expectOk('PATCH', `/toolkits/${toolkit.id}`, { title })
    await Promise.all([nextMailTo(admin), rename('Second')])
    const mail = { membership: { organizationId: owner.organizationId, userId: admin.userId } }
    await leaseUntil(mail, later())
    await rename('Third')
    await hasWaiting(mail, 1)
    await owner.expectOk('PUT', `/organizations/${owner.organizationId}/members/${admin.userId}`, { role: 'viewer' })
    await leaseUntil(mail, null)
    await hasWaiting(mail, 0)
    expect(mailsTo(admin)).toHaveLength(1)
  })

  it('wait while the mail server refuses them, and are sent later', async () => {
    const owner = await confirmed()
    await owner.expectOk('PUT', pathOf(owner), { events: ['toolkit.changed'] })
    const where = mailOf(owner)
    const isPutOff = async () =>
      (await patchbay.db.eventMail.findFirst({ where: { ...where, lease: null, dueAt: { gt: new Date() } } })) !== null
    patchbay.smtp.refuse('450 try again later')
    const toolkit = await owner.create('/toolkits', { title: 'First' })
    await owner.expectOk('PATCH', `/toolkits/${toolkit.id}`, { title: 'Second' })
    await vi.waitUntil(isPutOff, WAIT)
    patchbay.smtp.refuse(undefined)
    const sent = nextMailTo(owner)
    await patchbay.db.eventMail.updateMany({ where, data: { dueAt: new Date() } })
    expect((await sent).text).toContain('toolkitTitle: Second')
  })
})

describe.each(databasesOfRun)('without a mail server, on $kind', kind => {
  const patchbay = runDelivering(kind)
  beforeAll(() => patchbay.services.deliverer.start())

  it('no email about events waits or is sent, while webhooks get them', async () => {
    const owner = await patchbay.person()
    const receiver = await startReceiver()
    const chosen = await owner.expectOk('PUT', pathOf(owner), { events: ['server.changed'] })
    expect(chosen.body).toEqual({ events: ['server.changed'], isDelivered: false })
    await addWebhook(owner, receiver.url, ['server.changed'])
    await owner.create('/servers', { name: 'Weather' })
    await receiver.received(1)
    expect(await patchbay.db.mailedEvent.count()).toBe(0)
    expect(await patchbay.db.eventMail.findMany()).toMatchObject([{ dueAt: null, sentAt: null }])
  })
})
