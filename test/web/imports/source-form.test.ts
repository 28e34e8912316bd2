import { describe, expect, it } from 'vitest'
import { runPatchbay, runUser } from '../../support/world.ts'

describe('the field for a source', () => {
  const patchbay = runPatchbay()
  const ada = runUser(patchbay)

  it('refuses a URL that cannot be fetched as a URL', async () => {
    const { id } = await ada.create('/toolkits', { title: 'Freight' })
    const form = new FormData()
    form.append('text', 'file:///etc/passwd')
    const headers = { authorization: `Bearer ${ada.token}`, accept: 'text/html' }
    const address = `${patchbay.origin}/toolkits/${id}/imports`
    const response = await fetch(address, { method: 'POST', body: form, headers, redirect: 'manual' })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('The URL must be an http or https URL')
  })
})
