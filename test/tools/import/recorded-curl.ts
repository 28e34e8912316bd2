import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ENVIRONMENT, FILES } from './curl-commands.ts'
import { type Message, toMessage } from './message.ts'

const pem = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, `../../support/tls/${name}.pem`), 'utf8')

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}

const pairsOf = (raw: readonly string[]): [string, string][] =>
  raw.flatMap((name, index): [string, string][] => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []))

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Node decodes what is not ASCII as Latin-1, but curl sends UTF-8. */
const fromLatin1 = (text: string): string => Buffer.from(text, 'latin1').toString()

const runInShell = (command: string, folder: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH, HOME: folder, CURL_HOME: folder, LC_ALL: 'C.UTF-8', ...ENVIRONMENT }
    // A prompt is copied with a command, but it is not part of it.
    const child = spawn('bash', ['-c', command.replace(/^\$ /, '')], { cwd: folder, env, stdio: 'ignore' })
    child.once('error', reject)
    child.once('close', () => resolve())
  })

/** Runs commands with the installed curl against servers that record what they receive. */
export const startRecorder = async () => {
  const received: Message[] = []
  const answer: RequestListener = async (request, response) => {
    const body = await readBody(request)
    const headers = pairsOf(request.rawHeaders).map(([name, value]) => [name, fromLatin1(value)] as const)
    received.push(toMessage({ method: request.method ?? '', target: fromLatin1(request.url ?? ''), headers, body }))
    response.end()
  }
  const plain = createHttpServer(answer)
  const secure = createTlsServer({ key: await pem('key'), cert: await pem('self-signed') }, answer)
  const [port, securePort] = await Promise.all([listen(plain), listen(secure)])
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-curl-'))
  const settings = [
    `connect-to = ":443:127.0.0.1:${securePort}"`,
    `connect-to = "localhost:8000:127.0.0.1:${securePort}"`,
    `connect-to = "::127.0.0.1:${port}"`,
    'insecure',
    'max-time = 10',
    'noproxy = "*"',
  ]
  await writeFile(join(folder, '.curlrc'), `${settings.join('\n')}\n`)
  return {
    /** Returns the first request that a command sends. Undefined if it sends none. */
    record: async (command: string): Promise<Message | undefined> => {
      received.length = 0
      // Commands also write files.
      for (const [name, content] of Object.entries(FILES)) await writeFile(join(folder, name), content)
      await runInShell(command, folder)
      return received[0]
    },
    close: async (): Promise<void> => {
      await Promise.all([plain, secure].map(server => new Promise(resolve => server.close(resolve))))
      await rm(folder, { recursive: true })
    },
  }
}
