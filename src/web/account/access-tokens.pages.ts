import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccessToken } from '../../identity/account.ts'
import { NewToken } from '../../identity/accounts.schema.ts'
import type { AccountService } from '../../identity/accounts.service.ts'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { assertTypedName } from '../../lib/http/pages/typed-name.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { SCOPES, type Scope } from '../../lib/kernel/actor.ts'
import { DEFAULT_PAGE_SIZE } from '../../lib/kernel/limits.ts'
import { accountFrame } from './account-tabs.ts'

const config = { access: 'user' } as const
const PATH = '/account/tokens'

const SCOPE_CHOICES: readonly { scope: Scope; title: string; text: string }[] = [
  { scope: 'read', title: 'Read', text: 'View everything you can view: servers, tools, history.' },
  { scope: 'write', title: 'Write', text: 'Create and change everything you can.' },
  { scope: 'mcp', title: 'Call MCP servers', text: 'Use the tools of servers you have access to.' },
]
const EXPIRIES = [
  { value: '7', text: 'In 7 days' },
  { value: '30', text: 'In 30 days' },
  { value: '90', text: 'In 90 days' },
  { value: '365', text: 'In a year' },
]
const FIRST_CHOICE = { name: '', scopes: ['read', 'mcp'], expiresInDays: '90' }

const Query = z.object({ done: formText, cursor: formText })
const Params = z.object({ id: uuidParam })
/** Checkbox values: a single checked box arrives as a string, several as a list. */
const boxes = z.union([z.string().transform(text => [text]), z.array(z.string())]).catch([])
const TokenForm = { name: formText, scopes: boxes, expiresInDays: formText }
type Typed = z.infer<z.ZodObject<typeof TokenForm>>
const TokenInput = z.object({
  name: NewToken.shape.name,
  scopes: z.array(z.enum(SCOPES)).min(1, 'are missing: select at least one'),
  expiresInDays: z.coerce.number().pipe(NewToken.shape.expiresInDays.unwrap()),
})

const toTokenRow = (token: AccessToken) => ({
  id: token.id,
  name: token.name,
  scopes: token.scopes.join(', '),
  lastUsed: token.lastUsedAt === undefined ? undefined : shownTime(token.lastUsedAt),
  expires: shownTime(token.expiresAt),
})

/** Registers the pages that list, create and revoke the user's personal access tokens. */
export const accessTokenPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    const tokensPage = async (request: FastifyRequest, typed: Typed = FIRST_CHOICE): Promise<FormPage> => {
      const { done, cursor } = Query.parse(request.query)
      const page = idPageOf({ limit: DEFAULT_PAGE_SIZE, cursor: cursor === '' ? undefined : cursor })
      const { items, nextCursor } = toIdPage(await accounts.listTokens(actorOf(request), page), page, toTokenRow)
      return {
        view: 'account/access-tokens',
        data: {
          ...accountFrame('tokens'),
          section: 'account',
          tokens: items,
          next: nextCursor === null ? undefined : `${PATH}?${new URLSearchParams({ cursor: nextCursor })}`,
          typed,
          scopes: SCOPE_CHOICES.map(choice => ({ ...choice, isChosen: typed.scopes.includes(choice.scope) })),
          expiries: EXPIRIES,
          done: done === 'revoked' ? 'Token revoked. It no longer works.' : undefined,
        },
        labels: { name: 'name', scopes: 'scopes', expiresInDays: 'expiry' },
      }
    }

    const removalPage = async (request: FastifyRequest, typed = ''): Promise<FormPage & { name: string }> => {
      const { id } = Params.parse(request.params)
      const { name } = await accounts.getToken(actorOf(request), id)
      const data = { ...accountFrame('tokens'), section: 'account', id, name, typed } as const
      return { view: 'account/access-token-removal', data, labels: { sure: 'name' }, name }
    }

    app.get(PATH, { config }, async (request, reply) => showForm(reply, await tokensPage(request)))

    app.post(PATH, { config }, async (request, reply) => {
      const form = parseForm(TokenForm, request.body)
      return submitForm(reply, await tokensPage(request, form), async () => {
        const { name, token, expiresAt } = await accounts.createToken(actorOf(request), parseInput(TokenInput, form))
        // No redirect: the token is shown only in this response.
        const made = { name, token, expires: shownTime(expiresAt) }
        return reply.page('account/access-token', { ...accountFrame('tokens'), section: 'account', made })
      })
    })

    app.get(`${PATH}/:id/removal`, { config, schema: { params: Params } }, async (request, reply) =>
      showForm(reply, await removalPage(request)),
    )

    app.post(`${PATH}/:id/removal`, { config, schema: { params: Params } }, async (request, reply) => {
      const { sure } = parseForm({ sure: formText }, request.body)
      const page = await removalPage(request, sure)
      return submitForm(reply, page, async () => {
        assertTypedName(sure, page.name)
        await accounts.removeToken(actorOf(request), Params.parse(request.params).id)
        return reply.redirect(`${PATH}?done=revoked`, 303)
      })
    })
  }
