import { expect, it, vi } from 'vitest'
import { createMailQueue } from '../../src/identity/mail/mail-queue.ts'
import { createLogger } from '../../src/lib/process/logger.ts'

/** Creates a mail queue and collects the entries that it logs. */
const newMailQueue = (limits?: Parameters<typeof createMailQueue>[1]) => {
  const logged: object[] = []
  const logger = createLogger('silent')
  return {
    logged,
    mailQueue: createMailQueue({ ...logger, error: (details: object) => void logged.push(details) }, limits),
  }
}

it('the mail queue logs a failing email and continues with the next', async () => {
  const { logged, mailQueue } = newMailQueue()
  const sent: string[] = []
  const failure = new Error('no mail server')
  mailQueue.post('first', () => Promise.reject(failure))
  mailQueue.post('second', async () => void sent.push('second'))
  await mailQueue.settle()
  expect(sent).toEqual(['second'])
  expect(logged).toEqual([{ err: failure, email: 'first' }])
})

it('the mail queue limits concurrent and waiting emails, and logs the rest as not sent', async () => {
  const { logged, mailQueue } = newMailQueue({ maxAtOnce: 1, maxWaiting: 1, maxSettleMs: 10_000 })
  const gate = Promise.withResolvers<void>()
  const sent: number[] = []
  for (const email of [1, 2, 3]) mailQueue.post('email', () => gate.promise.then(() => void sent.push(email)))
  gate.resolve()
  await mailQueue.settle()
  expect(sent).toEqual([1, 2])
  expect(logged).toMatchObject([{ err: { isBulkheadRejectedError: true } }])
})

it('stopping the mail queue does not wait forever for a stuck email, and does not send those behind it', async () => {
  const { logged, mailQueue } = newMailQueue({ maxAtOnce: 1, maxWaiting: 1, maxSettleMs: 1 })
  const hanging = Promise.withResolvers<void>()
  const sent: string[] = []
  const started = Promise.withResolvers<void>()
  mailQueue.post('first', () => {
    started.resolve()
    return hanging.promise
  })
  await started.promise
  mailQueue.post('second', async () => void sent.push('second'))
  await mailQueue.settle()
  hanging.resolve()
  await mailQueue.settle()
  await vi.waitFor(() => expect(logged).toMatchObject([{ email: 'second', err: { code: 'unavailable' } }]))
  expect(sent).toEqual([])
})
