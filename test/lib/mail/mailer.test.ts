import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMailer } from '../../../src/lib/mail/create-mailer.ts'
import type { Mail, Mailer } from '../../../src/lib/mail/mailer.ts'
import { createLogger } from '../../../src/lib/process/logger.ts'
import { freePort } from '../../support/free-port.ts'
import { parseMail, type ReceivedMail, type SmtpServer, startSmtpServer } from '../../support/smtp-server.ts'

const LETTER: Mail = {
  to: 'ada@example.com',
  subject: 'Grüße',
  text: `Grüße, and a long line: ${'x'.repeat(2_000)}\n.\nAfter a dot alone.\n`,
}
const FROM = 'Patchbay <patchbay@example.com>'

let directory: string
let smtp: SmtpServer
let outbox: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'patchbay-mail-'))
  outbox = join(directory, 'outbox')
  smtp = await startSmtpServer()
})
afterAll(async () => {
  await smtp.close()
  await rm(directory, { recursive: true, force: true })
})

const mailerTo = (smtpUrl: string | undefined): Mailer =>
  createMailer({ smtpUrl, outboxDirectory: outbox, from: FROM, logger: createLogger('silent') })

const readOutbox = async (): Promise<ReceivedMail[]> => {
  const files = await readdir(outbox).catch(() => [])
  return Promise.all(
    files.sort().map(async file => {
      const raw = (await readFile(join(outbox, file), 'utf8')).replaceAll('\n', '\r\n')
      const parsed = parseMail(raw)
      return { from: '', to: [/^To: (.*)$/m.exec(parsed.headers)?.[1] ?? ''], ...parsed }
    }),
  )
}

describe.each([
  { kind: 'a mail server', url: () => smtp.url, letters: async () => [...smtp.received], isDelivering: true },
  { kind: 'the outbox', url: () => undefined, letters: readOutbox, isDelivering: false },
])('a letter to $kind', ({ url, letters, isDelivering }) => {
  const sendOne = async (mail: Mail): Promise<ReceivedMail | undefined> => {
    const before = (await letters()).length
    const mailer = mailerTo(url())
    expect(mailer.isDelivering).toBe(isDelivering)
    await mailer.send(mail)
    mailer.close()
    const now = await letters()
    expect(now).toHaveLength(before + 1)
    return now.at(-1)
  }

  it('arrives as it was written, in the name of the installation and wanting no answer', async () => {
    const letter = await sendOne(LETTER)
    expect(letter?.text.replaceAll('\r\n', '\n').trim()).toBe(LETTER.text.trim())
    expect(letter?.headers).toContain(`From: ${FROM}`)
    expect(letter?.headers).toContain('Auto-Submitted: auto-generated')
  })

  it('goes to one mailbox, also where the address looks like several', async () => {
    const letter = await sendOne({ ...LETTER, to: 'ada@example.com, eve@example.net' })
    expect(letter?.to).toHaveLength(1)
    expect(letter?.to).not.toContain('eve@example.net')
  })

  it.each([
    ['address', { to: 'ada@example.com\r\nBcc: eve@example.net' }],
    ['address', { to: 'ada@example.com\nBcc: eve@example.net' }],
    ['subject', { subject: 'Hello\r\nBcc: eve@example.net\r\n\r\nanother body' }],
    ['subject', { subject: 'Hello\0' }],
  ])('is not sent where its %s holds a line break or another control character', async (_what, part) => {
    const before = (await letters()).length
    await expect(mailerTo(url()).send({ ...LETTER, ...part })).rejects.toThrow(/control characters/)
    expect(await letters()).toHaveLength(before)
  })
})

it('says that mail cannot be sent where the server refuses it or is not there, without what is in it', async () => {
  smtp.refuse('550 no such mailbox')
  const letter = { ...LETTER, text: 'https://patchbay.example/reset-password?token=secret' }
  const refused = await mailerTo(smtp.url)
    .send(letter)
    .catch(error => error)
  smtp.refuse(undefined)
  expect(refused).toMatchObject({ code: 'unavailable', message: expect.stringContaining('could not be sent') })
  const gone = await mailerTo(`smtp://127.0.0.1:${await freePort()}`)
    .send(letter)
    .catch(error => error)
  expect(gone).toMatchObject({ code: 'unavailable' })
  for (const error of [refused, gone])
    expect(JSON.stringify([error, error.cause, String(error.cause)])).not.toContain('secret')
})

it('says that mail cannot be written where the outbox is no folder', async () => {
  const outboxDirectory = join(directory, 'file')
  await writeFile(outboxDirectory, '')
  const options = { smtpUrl: undefined, outboxDirectory, from: FROM, logger: createLogger('silent') }
  await expect(createMailer(options).send(LETTER)).rejects.toMatchObject({ code: 'unavailable' })
})

it('keeps the outbox for its own user', async () => {
  await mailerTo(undefined).send(LETTER)
  const [file = ''] = await readdir(outbox)
  expect((await stat(outbox)).mode & 0o777).toBe(0o700)
  expect((await stat(join(outbox, file))).mode & 0o777).toBe(0o600)
})
