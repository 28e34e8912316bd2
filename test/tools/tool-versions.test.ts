import { beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../../src/lib/kernel/actor.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runPatchbay, runUser } from '../support/world.ts'

describe.each(databasesOfRun)('tools on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  let actor: Actor
  let organizationId: string
  let toolkitId: string
  const builder = runUser(patchbay)
  beforeAll(async () => {
    const { userId } = builder
    ;({ organizationId } = await patchbay.services.db.membership.findFirstOrThrow({ where: { userId } }))
    const memberships = new Map([[organizationId, 'owner' as const]])
    actor = { userId, email: '', isOperator: false, isUnconfirmed: false, scopes: new Set(), memberships }
    toolkitId = (await builder.create('/toolkits', { title: 'Toolkit' })).id
  })
  const definition = (name: string) => ({ name, method: 'GET', url: 'http://a.example/', headers: [], parameters: {} })
  const make = (name: string) => patchbay.services.tools.createTool(actor, toolkitId, definition(name))

  it('saved by two users from the same version: the second gets a conflict, and nothing of the first is lost', async () => {
    const { tools } = patchbay.services
    const { id, updatedAt } = await make('contested')
    const saves = ['First', 'Second', 'Third'].map(title =>
      tools.updateTool(actor, id, { title }, { ifUnchangedSince: updatedAt }),
    )
    const outcomes = await Promise.allSettled(saves)
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    const refused = outcomes.find(({ status }) => status === 'rejected')
    expect(refused).toMatchObject({ reason: { code: 'conflict', errors: [{ path: 'version' }] } })
    const won = outcomes.findIndex(({ status }) => status === 'fulfilled')
    expect((await tools.getTool(actor, id)).title).toBe(['First', 'Second', 'Third'][won])
  })

  it('saved repeatedly within a millisecond: each version has its own time', async () => {
    const { tools } = patchbay.services
    const { id } = await make('hurried')
    const times = new Set<number>()
    for (let turn = 0; turn < 20; turn++) {
      times.add((await tools.updateTool(actor, id, { title: `${turn + 1}` })).updatedAt.getTime())
    }
    expect(times.size).toBe(20)
  })

  it('saved without a version, as through the API: the last one wins', async () => {
    const { tools } = patchbay.services
    const { id } = await make('free')
    await Promise.all(['First', 'Second'].map(title => tools.updateTool(actor, id, { title })))
    expect((await tools.getTool(actor, id)).title).toMatch(/^(First|Second)$/)
  })

  it('duplicated: get the next free name, however long theirs is', async () => {
    const { tools } = patchbay.services
    const { id } = await make('copied')
    expect([(await tools.duplicateTool(actor, id)).name, (await tools.duplicateTool(actor, id)).name]).toEqual([
      'copied_2',
      'copied_3',
    ])
    const long = await make('x'.repeat(64))
    expect((await tools.duplicateTool(actor, long.id)).name).toBe(`${'x'.repeat(62)}_2`)
  })

  it('created with their toolkit twice: identical ones are one tool in one toolkit, others are not', async () => {
    const { tools, db } = patchbay.services
    const toolkit = { title: 'On the way', organizationId }
    const first = await tools.createToolWithToolkit(actor, toolkit, definition('one'))
    const again = await tools.createToolWithToolkit(actor, toolkit, definition('one'))
    expect(again.id).toBe(first.id)
    const other = await tools.createToolWithToolkit(actor, toolkit, { ...definition('one'), method: 'POST' })
    expect(other.id).not.toBe(first.id)
    expect(await db.toolkit.count({ where: { title: 'On the way' } })).toBe(2)
  })

  it('created with their toolkit at the same time: identical ones are one tool in one toolkit', async () => {
    const { tools, db } = patchbay.services
    const toolkit = { title: 'At once', organizationId }
    const made = await Promise.all(
      Array.from({ length: 4 }, () => tools.createToolWithToolkit(actor, toolkit, definition('one'))),
    )
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(await db.toolkit.count({ where: { title: 'At once' } })).toBe(1)
  })
})
