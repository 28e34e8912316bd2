import { statSync } from 'node:fs'
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client'
import { createLineReader } from '../../lib/kernel/line-reader.ts'
import { MAX_LOG_LINE_CHARS, type OutputLog } from './output-log.ts'
import { createOutputMeter, describeOutputLimit, type OutputLimits } from './output-meter.ts'
import type { ProcessCommand, ProcessEnd, StdioProcess, StdioProcesses } from './stdio-processes.ts'
import { UpstreamError } from './upstream-error.ts'

/** The output is that of stdout and stderr together. */
export type StdioLimits = OutputLimits & {
  /** Of one line of stdout, which is one message. */
  maxMessageBytes: number
}

/** Lines of stdout that are no MCP, before the first one that is: a banner may have some, another kind of program has many. */
const MAX_RUBBISH_LINES = 100
/** Input that the process has not read yet; above it nothing more is written. */
const MAX_UNREAD_BYTES = 16 * 1_024 * 1_024
const MEBIBYTE = 1_024 * 1_024

export type StdioTransport = Transport & {
  /** By these the SDK knows a process: one that answers the probe with silence is of the older era. */
  readonly pid: number | null
  readonly stderr: null
  /** Why it has ended, once it has. */
  failure: () => UpstreamError | undefined
  /** Whether anything but MCP came, and nothing of that. */
  saidOnlyRubbish: () => boolean
  /** Requests that are not answered yet, without the streams of notifications, which never are. */
  pending: () => number
}

export type StdioTransportOptions = {
  processes: StdioProcesses
  command: ProcessCommand
  log: OutputLog
  limits: StdioLimits
  /** Told with every message, either way. */
  onActivity: () => void
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** By its frame alone: what is in it is looked at by whoever reads it. */
const isMessage = (value: unknown): value is JSONRPCMessage => {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return false
  return typeof value.method === 'string' || 'result' in value || isRecord(value.error)
}

const parseLine = (line: string): readonly JSONRPCMessage[] | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    // Batches are of the version of March 2025.
    const messages = Array.isArray(value) ? value : [value]
    return messages.every(isMessage) ? messages : undefined
  } catch {
    return undefined
  }
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const startError = (error: unknown, { command, cwd }: ProcessCommand): UpstreamError => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const isSpawn = error instanceof Error && 'syscall' in error && String(error.syscall).startsWith('spawn')
  const detail = /^E[A-Z0-9_]+$/.test(code) ? ` (${code})` : ''
  const options = { cause: error }
  if (!isSpawn) {
    const message = `The command ${command} could not be started${detail}; see what it is given, and that Patchbay can write where its data is.`
    return new UpstreamError('command_not_found', message, options)
  }
  if (cwd !== undefined && !isDirectory(cwd)) {
    return new UpstreamError('command_not_found', `The working directory ${cwd} does not exist; correct it.`, options)
  }
  if (code === 'EACCES') {
    const message = `The command ${command} may not be run by Patchbay; make it executable, or correct the path.`
    return new UpstreamError('command_not_found', message, options)
  }
  if (code === 'ENOENT') {
    const message = `There is no command ${command} on this machine; install it, or give its whole path.`
    return new UpstreamError('command_not_found', message, options)
  }
  return new UpstreamError('command_not_found', `The command ${command} could not be started${detail}.`, options)
}

const endError = ({ code, signal }: ProcessEnd): UpstreamError => {
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`
  return new UpstreamError('exited', `The process ended ${how}; its log may say why.`)
}

/** MCP over the standard input and output of a process of ours: a line is a message. */
export const createStdioTransport = (options: StdioTransportOptions): StdioTransport => {
  const { processes, command, log, limits, onActivity } = options
  const open = new Set<RequestId>()
  const isTooMuch = createOutputMeter(limits)
  let running: StdioProcess | undefined
  let failure: UpstreamError | undefined
  let hasEnded = false
  let messages = 0
  let rubbish = 0

  const finish = (): void => {
    if (hasEnded) return
    hasEnded = true
    open.clear()
    running?.stdout.destroy()
    running?.stderr.destroy()
    transport.onclose?.()
  }
  /** Ends the process for what it did. */
  const fail = (error: UpstreamError): void => {
    if (failure !== undefined || hasEnded) return
    failure = error
    log.add('patchbay', error.message)
    // Calls under way hear of it now, not when the process is gone.
    finish()
    void running?.end()
  }

  const receive = (message: JSONRPCMessage): void => {
    messages++
    if ('id' in message && message.id !== undefined && !('method' in message)) open.delete(message.id)
    onActivity()
    transport.onmessage?.(message)
  }
  const receiveRubbish = (line: string): void => {
    log.add('stdout', line)
    rubbish++
    transport.onerror?.(new Error('a line of standard output is no MCP message'))
    if (messages > 0 || rubbish < MAX_RUBBISH_LINES) return
    const message = `The process printed ${rubbish} lines that are no MCP, and none that is; see its log. Give the arguments that make it serve over stdio.`
    fail(new UpstreamError('rubbish', message))
  }
  const readStdout = createLineReader({
    maxBytes: limits.maxMessageBytes,
    onLine: line => {
      if (hasEnded || line.trim() === '') return
      const received = parseLine(line)
      if (received === undefined) receiveRubbish(line)
      else received.forEach(receive)
    },
    onTooLong: beginning => {
      log.add('stdout', beginning)
      const message = `The process printed a line of more than ${limits.maxMessageBytes} bytes; have it answer with less.`
      fail(new UpstreamError('too_large', message))
    },
  })
  const readStderr = createLineReader({
    maxBytes: 4 * MAX_LOG_LINE_CHARS,
    onLine: line => log.add('stderr', line),
    onTooLong: beginning => log.add('stderr', beginning),
  })

  const listen = ({ stdout, stderr }: StdioProcess): void => {
    const meter = (read: (chunk: Buffer) => void) => (chunk: Buffer) => {
      if (hasEnded) return
      if (!isTooMuch(chunk)) return read(chunk)
      const most = describeOutputLimit(limits)
      fail(new UpstreamError('too_large', `The process wrote more than ${most}; see its log, and have it write less.`))
    }
    stdout.on('data', meter(readStdout.add))
    stderr.on('data', meter(readStderr.add))
  }

  const follow = async (started: StdioProcess): Promise<void> => {
    // What it said last is taken in before its end is told, unless something else holds its output open.
    const drained = Promise.all(
      [started.stdout, started.stderr].map(stream => new Promise(r => stream.once('close', r))),
    )
    const end = await started.ended
    const patience = setTimeout(() => {
      started.stdout.destroy()
      started.stderr.destroy()
    }, 100)
    await drained
    clearTimeout(patience)
    readStdout.end()
    readStderr.end()
    if (hasEnded) return
    failure = endError(end)
    log.add('patchbay', failure.message)
    finish()
  }

  const transport: StdioTransport = {
    stderr: null,
    get pid() {
      return running?.pid ?? null
    },
    failure: () => failure,
    saidOnlyRubbish: () => rubbish > 0 && messages === 0,
    pending: () => open.size,
    start: async () => {
      try {
        running = await processes.start(command, bytes => {
          const most = `${Math.round(bytes / MEBIBYTE)} MiB`
          fail(
            new UpstreamError(
              'too_large',
              `The process took ${most} of memory, which is more than it may; it was ended.`,
            ),
          )
        })
      } catch (error) {
        failure = startError(error, command)
        log.add('patchbay', failure.message)
        throw failure
      }
      if (hasEnded) {
        await running.end()
        throw new UpstreamError('aborted', 'The connection was closed while the process started.')
      }
      listen(running)
      void follow(running)
    },
    send: async message => {
      if (hasEnded || running === undefined) {
        throw failure ?? new UpstreamError('aborted', 'The connection to the process is closed.')
      }
      if (running.stdin.writableLength > MAX_UNREAD_BYTES) {
        throw new UpstreamError('timeout', 'The process does not read what it is sent; see its log.')
      }
      if ('method' in message && 'id' in message && message.method !== 'subscriptions/listen') open.add(message.id)
      if ('method' in message && message.method === 'notifications/cancelled') {
        const cancelled = message.params?.requestId
        if (typeof cancelled === 'string' || typeof cancelled === 'number') open.delete(cancelled)
      }
      onActivity()
      running.stdin.write(`${JSON.stringify(message)}\n`)
    },
    close: async () => {
      finish()
      await running?.end()
    },
  }
  return transport
}
