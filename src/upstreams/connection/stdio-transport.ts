import { statSync } from 'node:fs'
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonValue, parseIfJson } from '../../lib/kernel/json.ts'
import { createLineReader } from '../../lib/kernel/line-reader.ts'
import type { MessageScreen } from './message-screen.ts'
import { MAX_LOG_LINE_CHARS, type OutputLog } from './output-log.ts'
import { createOutputMeter, describeOutputLimit, MEBIBYTE, type OutputLimits } from './output-meter.ts'
import type { ProcessCommand, ProcessEnd, StdioProcess, StdioProcesses } from './stdio-processes.ts'
import { findCancelledId } from './transport-guards.ts'
import { UpstreamError } from './upstream-error.ts'

export type StdioLimits = OutputLimits & {
  /** Maximum size of one line of stdout. Each line is one message. */
  maxMessageBytes: number
}

/**
 * Maximum number of stdout lines before the first MCP message. A banner may have a few lines, but many lines mean that
 * the program is not an MCP server.
 */
const MAX_INVALID_LINES = 100
/** Maximum amount of input that the process has not read yet. Beyond it, writes fail. */
const MAX_UNREAD_BYTES = 16 * 1_024 * 1_024

export type StdioTransport = Transport & {
  /**
   * The SDK recognizes a stdio transport by these two members. If the process ignores the SDK's probe, the SDK then
   * assumes the session era.
   */
  readonly pid: number | null
  readonly stderr: null
  /** Returns why the connection ended, or undefined if it has not ended. */
  failure: () => UpstreamError | undefined
  /** Returns whether the process printed something, but no MCP message. */
  printedNoMcp: () => boolean
  /** Number of requests without a response, except notification streams, which never get one. */
  pending: () => number
}

export type StdioTransportOptions = {
  processes: StdioProcesses
  command: ProcessCommand
  log: OutputLog
  limits: StdioLimits
  screen: MessageScreen
  /** Called for every message in either direction. */
  onActivity: () => void
}

/** Checks only the envelope. The receiver validates the content. */
const isMessage = (value: JsonValue): value is JsonValue & JSONRPCMessage => {
  if (!isJsonObject(value) || value.jsonrpc !== '2.0') return false
  return typeof value.method === 'string' || 'result' in value || isJsonObject(value.error)
}

/** Requests and responses always have an `id`. */
const isLikelyNotification = (line: string): boolean => line.startsWith('{') && !line.includes('"id"')

const parseLine = (line: string): readonly (JsonValue & JSONRPCMessage)[] | undefined => {
  const value = parseIfJson(line)
  if (value === undefined) return undefined
  // Batches exist only in protocol version 2025-03-26.
  const messages = Array.isArray(value) ? value : [value]
  return messages.every(isMessage) ? messages : undefined
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const describeStartError = (error: unknown, { command, cwd }: ProcessCommand): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const isSpawn = error instanceof Error && 'syscall' in error && String(error.syscall).startsWith('spawn')
  const detail = /^E[A-Z0-9_]+$/.test(code) ? ` (${code})` : ''
  if (!isSpawn) {
    return `The command ${command} could not be started${detail}. Check its arguments, and that Patchbay can write to its data folder.`
  }
  if (cwd !== undefined && !isDirectory(cwd)) return `The working directory ${cwd} does not exist.`
  switch (code) {
    case 'EACCES':
      return `Patchbay is not allowed to execute the command ${command}. Make it executable or correct the path.`
    case 'ENOENT':
      return `The command ${command} was not found on this machine. Install it or enter its full path.`
    default:
      return `The command ${command} could not be started${detail}.`
  }
}

const endError = ({ code, signal }: ProcessEnd): UpstreamError => {
  const how = signal === null ? `exited with code ${code}` : `was terminated by ${signal}`
  return new UpstreamError('exited', `The process ${how}. Its log may say why.`)
}

/** MCP over the standard input and output of a process, one message per line. */
export const createStdioTransport = (options: StdioTransportOptions): StdioTransport => {
  const { processes, command, log, limits, screen, onActivity } = options
  const open = new Set<RequestId>()
  const exceedsLimit = createOutputMeter(limits)
  let running: StdioProcess | undefined
  let failure: UpstreamError | undefined
  let hasEnded = false
  let messages = 0
  let invalidLines = 0

  const finish = (): void => {
    if (hasEnded) return
    hasEnded = true
    open.clear()
    running?.stdout.destroy()
    running?.stderr.destroy()
    transport.onclose?.()
  }
  /** Ends a process that misbehaves. */
  const fail = (error: UpstreamError): void => {
    if (failure !== undefined || hasEnded) return
    failure = error
    log.add('patchbay', error.message)
    // Fail pending calls now instead of waiting until the process is gone.
    finish()
    void running?.end()
  }

  const receive = (message: JSONRPCMessage): void => {
    messages++
    if ('id' in message && message.id !== undefined && !('method' in message)) open.delete(message.id)
    onActivity()
    transport.onmessage?.(message)
  }
  const receiveInvalid = (line: string): void => {
    log.add('stdout', line)
    invalidLines++
    transport.onerror?.(new Error('a line of standard output is not an MCP message'))
    if (messages > 0 || invalidLines < MAX_INVALID_LINES) return
    const message = `The process printed ${invalidLines} lines but no MCP message. Check its log, and add the arguments that make it serve over stdio.`
    fail(new UpstreamError('not_mcp_output', message))
  }
  const readStdout = createLineReader({
    maxBytes: limits.maxMessageBytes,
    onLine: line => {
      if (hasEnded || line.trim() === '') return
      // Drop it before parsing, which takes most of the time.
      const isNotification = isLikelyNotification(line)
      if (isNotification && !screen.limit.acceptNotification(line.length, line.includes('list_changed'))) return
      const received = parseLine(line)
      if (received === undefined) return receiveInvalid(line)
      for (const message of received) if (isNotification || screen.accept(message, line.length)) receive(message)
    },
    onTooLong: beginning => {
      log.add('stdout', beginning)
      const message = `The process printed a line of more than ${limits.maxMessageBytes} bytes.`
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
      if (!exceedsLimit(chunk)) return read(chunk)
      const limit = describeOutputLimit(limits)
      fail(new UpstreamError('too_large', `The process wrote more than ${limit}. Check its log.`))
    }
    const readInTurns = (chunk: Buffer): void => {
      const { pauseMs } = screen.limit.pace(() => readStdout.add(chunk))
      if (pauseMs === 0) return
      stdout.pause()
      setTimeout(() => stdout.resume(), pauseMs).unref()
    }
    stdout.on('data', meter(readInTurns))
    stderr.on('data', meter(readStderr.add))
  }

  const follow = async (started: StdioProcess): Promise<void> => {
    // Read the remaining output before reporting the exit, unless another process keeps the pipe open.
    const drained = Promise.all(
      [started.stdout, started.stderr].map(stream => new Promise(r => stream.once('close', r))),
    )
    const end = await started.ended
    const timer = setTimeout(() => {
      started.stdout.destroy()
      started.stderr.destroy()
    }, 100)
    await drained
    clearTimeout(timer)
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
    printedNoMcp: () => invalidLines > 0 && messages === 0,
    pending: () => open.size,
    start: async () => {
      try {
        running = await processes.start(command, bytes => {
          const used = `${Math.round(bytes / MEBIBYTE)} MiB`
          const message = `The process used ${used} of memory, which exceeds its limit, and was stopped.`
          fail(new UpstreamError('too_large', message))
        })
      } catch (error) {
        failure = new UpstreamError('command_not_found', describeStartError(error, command), { cause: error })
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
        throw new UpstreamError('timeout', 'The process does not read its input. Check its log.')
      }
      if ('method' in message && 'id' in message && message.method !== 'subscriptions/listen') open.add(message.id)
      const cancelled = findCancelledId(message)
      if (cancelled !== undefined) open.delete(cancelled)
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
