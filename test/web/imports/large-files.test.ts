import { request } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { runPatchbay, runUser } from '../../support/world.ts'

const MAX_BYTES = 1_024 * 1_024

describe('a form with files', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_MAX_IMPORT_BYTES: String(MAX_BYTES) } })
  const ada = runUser(patchbay)

  const formOf = (fields: Record<string, string>, size: number): FormData => {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    form.append('files', new Blob([`# ${'x'.repeat(size)}`]), 'openapi.yaml')
    return form
  }

  const send = async (form: FormData) => {
    const { id } = await ada.create('/toolkits', { title: 'Freight' })
    const headers = { authorization: `Bearer ${ada.token}`, accept: 'text/html' }
    const address = `${patchbay.origin}/toolkits/${id}/imports`
    const response = await fetch(address, { method: 'POST', body: form, headers, redirect: 'manual' })
    return { status: response.status, text: await response.text() }
  }

  it('is refused if the files are larger than the setting says', async () => {
    for (const size of [1.5 * MAX_BYTES, 5 * MAX_BYTES]) {
      const { status, text } = await send(formOf({}, size))
      expect(status).toBe(413)
      expect(text).toMatch(/too large|is larger than/)
    }
  })

  it('is refused while the user sends others, and taken again after them', async () => {
    const { id } = await ada.create('/toolkits', { title: 'Freight' })
    const begin = () => {
      const sent = request(`${patchbay.origin}/toolkits/${id}/imports`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${ada.token}`,
          'content-type': 'multipart/form-data; boundary=x',
          'content-length': 1.5 * MAX_BYTES,
        },
      })
      sent.on('error', () => undefined)
      sent.write('--x\r\n')
      return sent
    }
    const first = begin()
    // With a text and a file, so that no import starts.
    const attempt = (size: number) => send(formOf({ text: 'both' }, size))
    const busy = { status: 503, text: expect.stringContaining('Other files are being sent') }
    await vi.waitFor(async () => expect(await attempt(0.9 * MAX_BYTES)).toMatchObject(busy))
    expect(await attempt(10)).toMatchObject({ status: 400 })
    first.destroy()
    await vi.waitFor(async () => expect(await attempt(0.9 * MAX_BYTES)).toMatchObject({ status: 400 }))
  })

  it('is refused if it has more parts than a form of ours', async () => {
    const fields = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`field${index}`, '']))
    expect(await send(formOf(fields, 10))).toMatchObject({ status: 413 })
  })

  it('is refused if it ends early, and without a boundary', async () => {
    const { id } = await ada.create('/toolkits', { title: 'Freight' })
    const post = async (type: string, body: string) => {
      const headers = { authorization: `Bearer ${ada.token}`, accept: 'text/html', 'content-type': type }
      const address = `${patchbay.origin}/toolkits/${id}/imports`
      return (await fetch(address, { method: 'POST', body, headers, redirect: 'manual' })).status
    }
    expect(await post('multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="text"')).toBe(
      400,
    )
    expect(await post('multipart/form-data', 'text')).toBe(400)
  })

  it('is not read for people who are not signed in', async () => {
    const { id } = await ada.create('/toolkits', { title: 'Freight' })
    const body = formOf({}, 10)
    const answer = await fetch(`${patchbay.origin}/toolkits/${id}/imports`, {
      method: 'POST',
      body,
      redirect: 'manual',
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in'])
  })
})
