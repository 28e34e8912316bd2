import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { databaseKinds } from '../../support/databases.ts'
import { runPatchbay, runUser } from '../../support/world.ts'
import { describeMeridian } from '../browser/meridian-api.ts'

const State = z.object({ state: z.string() })

/** More operations than a page lists, some of them in two tags and some without one. */
const manyPaths = () =>
  Object.fromEntries(
    Array.from({ length: 120 }, (_, index) => {
      const tags = [['Odd "tags"'], ['Odd "tags"', '100 %'], []][index % 3]
      return [`/things/${index}`, { get: { operationId: `thing${index}`, tags, responses: {} } }]
    }),
  )

describe.each(databaseKinds)('the lists of a review on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const ada = runUser(patchbay)

  const review = async (description: object): Promise<(query: string) => Promise<string>> => {
    const { id } = await ada.create('/toolkits', { title: 'Freight' })
    const made = await ada.create(`/toolkits/${id}/imports`, { text: JSON.stringify(description) })
    const stateOf = async () => State.parse((await ada.expectOk('GET', `/imports/${made.id}`)).body).state
    while ((await stateOf()) === 'reading') await setImmediate()
    const headers = { authorization: `Bearer ${ada.token}`, accept: 'text/html' }
    return async query => {
      const response = await fetch(`${patchbay.origin}/toolkits/${id}/imports/${made.id}${query}`, { headers })
      expect(response.status).toBe(200)
      return response.text()
    }
  }

  it('name what cannot be imported, and what is imported with a note', async () => {
    const open = await review(describeMeridian('https://tms.example'))
    const findings = await open('?view=findings')
    expect(findings).toContain('It sends a file (application/octet-stream), which tools cannot do yet.')
    expect(findings).toContain('A reference leads nowhere, so any value is accepted.')
    const [, counted] = /Findings <span>(\d+)</.exec(findings) ?? []
    expect(findings.match(/<li class="change">/g)).toHaveLength(Number(counted))
  })

  it('have a folder for each tag, and one for operations without a tag', async () => {
    const open = await review(describeMeridian('https://tms.example', { paths: manyPaths() }))
    const folders = await open('')
    expect(folders).toMatch(/Odd &quot;tags&quot;<\/bdi><\/b> <small>80 of 80/)
    expect(folders).toMatch(/100 %<\/bdi><\/b> <small>40 of 40/)
    expect(folders).toMatch(/Without a tag<\/bdi><\/b> <small>40 of 40/)
    const rowsOf = (page: string) => page.match(/name="pick"/g)?.length
    expect(rowsOf(await open('?tag=Odd+"tags"'))).toBe(80)
    expect(rowsOf(await open('?tag=100+%25'))).toBe(40)
    expect(rowsOf(await open('?untagged=on'))).toBe(40)
  })
})
