import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { JobOptions, SendPart } from './job.ts'

/** Creates the function with which a job sends parts. `send` delivers one; `acknowledge` says that it was handled. */
export const createPartSender = (send: (part: string) => void) => {
  let handled = Promise.resolve()
  let acknowledge = (): void => undefined
  const sendPart: SendPart = async part => {
    await handled
    const next = Promise.withResolvers<void>()
    handled = next.promise
    acknowledge = next.resolve
    send(part)
  }
  return {
    sendPart,
    acknowledge: (): void => acknowledge(),
    /** Resolves when the last part has been handled. */
    settled: (): Promise<void> => handled,
  }
}

/** Creates a sender whose parts go to a port, from which acknowledgements come. Without a port, they are discarded. */
export const createPortSender = (port: MessagePort | undefined) => {
  if (port === undefined) return { sendPart: async () => undefined, settled: async () => undefined }
  const sender = createPartSender(part => port.postMessage(part))
  port.on('message', sender.acknowledge)
  return sender
}

/** Opens a channel for the parts of a job. Calls `stop` if the handler throws. */
export const receiveParts = (onPart: NonNullable<JobOptions['onPart']>, stop: () => void) => {
  const { port1, port2 } = new MessageChannel()
  let fault: { error: unknown } | undefined
  port1.on('message', async (part: unknown) => {
    try {
      await onPart(String(part))
      port1.postMessage('handled')
    } catch (error) {
      fault = { error }
      stop()
    }
  })
  return {
    port: port2,
    /** Throws what the handler has thrown. */
    rethrow: (): void => {
      if (fault !== undefined) throw fault.error
    },
    close: (): void => port1.close(),
  }
}
