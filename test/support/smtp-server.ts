import { createServer, type Socket } from 'node:net'

/** A message as received by the mail server. */
export type ReceivedMail = { from: string; to: string[]; headers: string; text: string }

const QUOTED_PRINTABLE = /=(?:\r\n|([0-9A-F]{2}))/g

/** Decodes the text of a single-part message (RFC 2045 section 6). */
export const parseMail = (raw: string): { headers: string; text: string } => {
  const end = raw.indexOf('\r\n\r\n')
  const headers = raw.slice(0, end)
  const body = raw.slice(end + 4)
  if (/^content-transfer-encoding: base64/im.test(headers)) {
    return { headers, text: Buffer.from(body, 'base64').toString() }
  }
  if (!/^content-transfer-encoding: quoted-printable/im.test(headers)) return { headers, text: body }
  const bytes = body.replace(QUOTED_PRINTABLE, (_, hex?: string) =>
    hex === undefined ? '' : String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return { headers, text: Buffer.from(bytes, 'latin1').toString() }
}

export type SmtpServer = {
  /** For SMTP_URL. */
  url: string
  received: readonly ReceivedMail[]
  /** Resolves with the next message that no earlier call of `next` returned. */
  next: () => Promise<ReceivedMail>
  /** Rejects all further messages with this reply, such as `550 no such mailbox`; undefined accepts them again. */
  refuse: (reply: string | undefined) => void
  /** Resets the server to its initial state. */
  reset: () => void
  close: () => Promise<void>
}

/** Starts a mail server on loopback that supports just enough of RFC 5321 to receive a message: no TLS, no sign-in. */
export const startSmtpServer = async (): Promise<SmtpServer> => {
  const received: ReceivedMail[] = []
  const sockets = new Set<Socket>()
  let taken = 0
  let refusal: string | undefined
  let wake: () => void = () => undefined

  const serve = (socket: Socket): void => {
    let pending = ''
    let isData = false
    let envelope = { from: '', to: [] as string[] }
    const reply = (line: string) => socket.write(`${line}\r\n`)

    const obey = (line: string): void => {
      const verb = line.slice(0, 4).toUpperCase()
      if (verb === 'MAIL') envelope = { from: line.slice(10), to: [] }
      if (verb === 'RCPT') envelope.to.push(/<([^>]*)>/.exec(line)?.[1] ?? line)
      if (verb === 'DATA') {
        isData = true
        reply('354 go on')
      } else if (verb === 'QUIT') socket.end('221 bye\r\n')
      else reply(verb === 'RCPT' && refusal !== undefined ? refusal : '250 ok')
    }
    const receive = (raw: string): void => {
      isData = false
      received.push({ ...envelope, ...parseMail(raw.replace(/^\.\./gm, '.')) })
      reply('250 taken')
      wake()
    }
    socket.setEncoding('utf8').on('error', () => socket.destroy())
    socket.on('data', (chunk: string) => {
      pending += chunk
      for (;;) {
        const mark = isData ? '\r\n.\r\n' : '\r\n'
        const end = pending.indexOf(mark)
        if (end < 0) return
        const part = pending.slice(0, end)
        pending = pending.slice(end + mark.length)
        if (isData) receive(part)
        else obey(part)
      }
    })
    reply('220 test')
  }

  const server = createServer(socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    serve(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0

  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    next: async () => {
      for (;;) {
        const mail = received[taken]
        if (mail !== undefined) {
          taken++
          return mail
        }
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    },
    refuse: reply => {
      refusal = reply
    },
    reset: () => {
      received.length = 0
      taken = 0
      refusal = undefined
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
