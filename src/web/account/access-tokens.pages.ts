import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { AccessToken } from '../../identity/account.ts'
import { NewToken } from '../../identity/accounts.schema.ts'
import type { AccountService } from '../../identity/accounts.service.ts'
import { UNCONFIRMED_TOKEN_DAYS } from '../../identity/tokens/access-tokens.ts'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { formPage, formText, formValues } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { type Actor, SCOPES, type Scope } from '../../lib/kernel/actor.ts'
import { removalPage } from '../frame/removal-page.ts'
import { doneText, idOf, idRoute, ownForm, readList } from '../frame/user-page.ts'
import { accountFrame } from './account-tabs.ts'

const PATH = '/account/tokens'

const SCOPE_CHOICES: readonly { scope: Scope; title: string; text: string }[] = [
  { scope: 'read', title: 'Read', text: 'View everything you can view: servers, tools, history.' },
  { scope: 'write', title: 'Write', text: 'Create and change everything you can.' },
  { scope: 'mcp', title: 'Call MCP servers', text: 'Use the tools of servers you have access to.' },
]
const ONE_DAY = { value: String(UNCONFIRMED_TOKEN_DAYS), text: 'In a day' }
const EXPIRIES = [
  ONE_DAY,
  { value: '7', text: 'In 7 days' },
  { value: '30', text: 'In 30 days' },
  { value: '90', text: 'In 90 days' },
  { value: '365', text: 'In a year' },
]
const firstChoiceOf = ({ isUnconfirmed }: Actor) => ({
  name: '',
  scopes: ['read', 'mcp'],
  expiresInDays: isUnconfirmed ? ONE_DAY.value : '90',
})

const DONE = { revoked: 'Token revoked. It no longer works.' }

const TokenForm = { name: formText, scopes: formValues, expiresInDays: formText }
const TokenInput = z.object({
  name: NewToken.shape.name,
  scopes: z.array(z.enum(SCOPES)).min(1, 'are missing: select at least one'),
  expiresInDays: z.coerce.number().pipe(NewToken.shape.expiresInDays.unwrap()),
})

const toTokenRow = (token: AccessToken) => ({
  id: token.id,
  name: token.name,
  scopes: token.scopes.join(', '),
  lastUsed: token.lastUsedAt && shownTime(token.lastUsedAt),
  expires: shownTime(token.expiresAt),
})

/** Registers the pages that list, create and revoke the user's personal access tokens. */
export const accessTokenPages: FastifyPluginAsync<{ accounts: AccountService }> = async (app, { accounts }) => {
  formPage(app, PATH, {
    ...ownForm,
    fields: TokenForm,
    page: async (request, actor, typed = firstChoiceOf(actor)) => {
      const { cursor } = listQuery.parse(request.query)
      const { items, next } = await readList(
        { path: PATH, cursor },
        page => accounts.listTokens(actor, page),
        toTokenRow,
      )
      return {
        view: 'account/access-tokens',
        data: {
          ...accountFrame('tokens'),
          tokens: items,
          next,
          typed,
          scopes: SCOPE_CHOICES.map(choice => ({ ...choice, isChosen: typed.scopes.includes(choice.scope) })),
          expiries: actor.isUnconfirmed ? [ONE_DAY] : EXPIRIES,
          done: doneText(request, DONE),
        },
        labels: { name: 'name', scopes: 'scopes', expiresInDays: 'expiry' },
      }
    },
    save: async (_request, actor, typed, reply) => {
      const { name, token, expiresAt } = await accounts.createToken(actor, parseInput(TokenInput, typed))
      // No redirect: the token is shown only in this response.
      const made = { name, token, expires: shownTime(expiresAt) }
      return reply.page('account/access-token', { ...accountFrame('tokens'), made })
    },
  })

  removalPage(app, `${PATH}/:id/removal`, {
    ...idRoute,
    button: 'Revoke token',
    load: request => accounts.getToken(actorOf(request), idOf(request)),
    nameOf: ({ name }) => name,
    page: () => ({
      ...accountFrame('tokens'),
      text: 'Anything that uses this token stops working immediately. This cannot be undone, but you can create another token.',
      back: PATH,
    }),
    remove: async (request, { id }) => {
      await accounts.removeToken(actorOf(request), id)
      return `${PATH}?done=revoked`
    },
  })
}
