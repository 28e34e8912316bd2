import { describe, expect, it } from 'vitest'
import { signUp } from '../../support/api-client.ts'
import { signInToPages } from '../../support/signed-in.ts'
import { runPatchbay } from '../../support/world.ts'

const patchbay = runPatchbay()

/** Returns the error messages of the fields. */
const sentencesOf = (html: string): string[] =>
  [...html.matchAll(/<p class="error"[^>]*>(.*?)<\/p>/gs)].map(([, text = '']) =>
    text.replaceAll(/<[^>]*>/g, '').trim(),
  )

/** Terms of the validation library that are meant for programmers. */
const NOT_FOR_PEOPLE = /expected|invalid (input|option|uuid)|too (big|small)|NaN|&[lg]t;=/i

describe('a field error', () => {
  it.each([
    ['/account/tokens', {}, 'The name is empty.'],
    ['/account/tokens', { name: 'n', scopes: 'read', expiresInDays: 'soon' }, 'The expiry is not a number.'],
    ['/account/tokens', { name: 'n', scopes: 'read', expiresInDays: '-1' }, 'The expiry is less than 1.'],
    ['/account/email', { email: 'a@b.example', password: 'x'.repeat(2_000) }, 'longer than 1,024 characters.'],
    ['/servers/new', { name: 'n', access: 'everyone' }, 'The tier must be one of public, organization, private.'],
  ])('of %s is a readable sentence for %j', async (path, typed, sentence) => {
    const { email } = await signUp(patchbay.origin)
    const browser = await signInToPages(patchbay.origin, email)
    await browser.get('/account')
    const answer = await browser.submit(path, typed)
    const sentences = sentencesOf(answer.html)
    expect(answer.status).toBe(400)
    expect(sentences.join(' ')).toContain(sentence)
    expect(sentences.filter(text => NOT_FOR_PEOPLE.test(text))).toEqual([])
  })
})
