import { expect, it, vi } from 'vitest'
import { createPostbox } from '../../src/accounts/postbox.ts'
import { createLogger } from '../../src/platform/logger.ts'

/** A postbox, and what it wrote into the log. */
const newPostbox = (limits?: Parameters<typeof createPostbox>[1]) => {
  const logged: object[] = []
  const logger = createLogger('silent')
  return {
    logged,
    postbox: createPostbox({ ...logger, error: (details: object) => void logged.push(details) }, limits),
  }
}

it('logs a letter that fails and goes on with the next', async () => {
  const { logged, postbox } = newPostbox()
  const sent: string[] = []
  const failure = new Error('no mail server')
  postbox.post('first', () => Promise.reject(failure))
  postbox.post('second', async () => void sent.push('second'))
  await postbox.settle()
  expect(sent).toEqual(['second'])
  expect(logged).toEqual([{ err: failure, letter: 'first' }])
})

it('sends so many at once, lets so many wait, and logs the rest as not sent', async () => {
  const { logged, postbox } = newPostbox({ maxAtOnce: 1, maxWaiting: 1, maxSettleMs: 10_000 })
  const gate = Promise.withResolvers<void>()
  const sent: number[] = []
  for (const letter of [1, 2, 3]) postbox.post('letter', () => gate.promise.then(() => void sent.push(letter)))
  gate.resolve()
  await postbox.settle()
  expect(sent).toEqual([1, 2])
  expect(logged).toMatchObject([{ err: { code: 'unavailable' } }])
})

it('does not wait for ever for a letter that hangs, and sends none that waited behind it', async () => {
  const { logged, postbox } = newPostbox({ maxAtOnce: 1, maxWaiting: 1, maxSettleMs: 1 })
  const hanging = Promise.withResolvers<void>()
  const sent: string[] = []
  const started = Promise.withResolvers<void>()
  postbox.post('first', () => {
    started.resolve()
    return hanging.promise
  })
  await started.promise
  postbox.post('second', async () => void sent.push('second'))
  await postbox.settle()
  hanging.resolve()
  await postbox.settle()
  await vi.waitFor(() => expect(logged).toMatchObject([{ letter: 'second', err: { code: 'unavailable' } }]))
  expect(sent).toEqual([])
})
