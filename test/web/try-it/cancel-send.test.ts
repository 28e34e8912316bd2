import { expect, it } from 'vitest'
import { runFakeApi, runPatchbay } from '../../support/world.ts'
import { openEditor } from '../editor-page.ts'

const reached = Promise.withResolvers<void>()
const closed = Promise.withResolvers<void>()

const patchbay = runPatchbay()
/** Never responds. */
const slow = runFakeApi((_request, response) => {
  response.once('close', () => closed.resolve())
  reached.resolve()
})

it('the request to the API ends when the browser cancels the Send', async () => {
  const { browser } = await openEditor(patchbay.origin)
  const form = { name: 'slow', method: 'GET', url: `${slow.origin}/`, timeoutMs: '300000', toolkitTitle: 'Mine' }
  const canceled = new AbortController()
  const sent = browser.submit('/tool-send', form, { origin: patchbay.origin }, canceled.signal)
  await reached.promise
  canceled.abort()
  await expect(sent).rejects.toThrow(/abort/i)
  // Without the cancellation, the connection would stay open for five minutes.
  await closed.promise
  expect(slow.seen).toHaveLength(1)
})
