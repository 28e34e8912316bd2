import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DEFAULT_PAGE_SIZE, SCOPES, type Scope } from '../kernel/index.ts'
import {
  actorOf,
  assertTypedName,
  type FormPage,
  formText,
  idPageOf,
  parseForm,
  parseInput,
  showForm,
  shownTime,
  submitForm,
  toIdPage,
  uuidParam,
} from '../platform/http/index.ts'
import type { AccessToken } from './account.ts'
import { accountFrame } from './account-tabs.ts'
import { NewToken } from './accounts.schema.ts'
import type { AccountService } from './accounts.service.ts'

const config = { access: 'user' } as const
const PATH = '/account/tokens'

const SCOPE_CHOICES: readonly { scope: Scope; title: string; text: string }[] = [
  { scope: 'read', title: 'Read', text: 'See whatever you see: servers, tools, history.' },
  { scope: 'write', title: 'Change', text: 'Build and change whatever you may.' },
  { scope: 'mcp', title: 'Call MCP servers', text: 'Use the tools of servers that let you in.' },
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
/** One box that is ticked comes as a text, several as a list. */
const boxes = z.union([z.string().transform(text => [text]), z.array(z.string())]).catch([])
const TokenForm = { name: formText, scopes: boxes, expiresInDays: formText }
type Typed = z.infer<z.ZodObject<typeof TokenForm>>
const Wish = z.object({
  name: NewToken.shape.name,
  scopes: z.array(z.enum(SCOPES)).min(1, 'is missing: tick at least one'),
  expiresInDays: z.coerce.number().pipe(NewToken.shape.expiresInDays.unwrap()),
})

const toTokenRow = (token: AccessToken) => ({
  id: token.id,
  name: token.name,
  scopes: token.scopes.join(', '),
  lastUsed: token.lastUsedAt === undefined ? undefined : shownTime(token.lastUsedAt),
  expires: shownTime(token.expiresAt),
})

/** One's personal access tokens: listing them, making one, which is shown once, and revoking one. */
export const accessTokenPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    const tokensPage = async (request: FastifyRequest, typed: Typed = FIRST_CHOICE): Promise<FormPage> => {
      const { done, cursor } = Query.parse(request.query)
      const page = idPageOf({ limit: DEFAULT_PAGE_SIZE, cursor: cursor === '' ? undefined : cursor })
      const { items, nextCursor } = toIdPage(await accounts.listTokens(actorOf(request), page), page, toTokenRow)
      return {
        view: 'accounts/access-tokens',
        data: {
          ...accountFrame('tokens'),
          section: 'account',
          tokens: items,
          next: nextCursor === null ? undefined : `${PATH}?${new URLSearchParams({ cursor: nextCursor })}`,
          typed,
          scopes: SCOPE_CHOICES.map(choice => ({ ...choice, isChosen: typed.scopes.includes(choice.scope) })),
          expiries: EXPIRIES,
          done: done === 'revoked' ? 'Revoked: whatever used it is turned away from now on.' : undefined,
        },
        labels: { name: 'name', scopes: 'choice', expiresInDays: 'end' },
      }
    }

    const removalPage = async (request: FastifyRequest, typed = ''): Promise<FormPage & { name: string }> => {
      const { id } = Params.parse(request.params)
      const { name } = await accounts.getToken(actorOf(request), id)
      const data = { ...accountFrame('tokens'), section: 'account', id, name, typed } as const
      return { view: 'accounts/access-token-removal', data, labels: { sure: 'name' }, name }
    }

    app.get(PATH, { config }, async (request, reply) => showForm(reply, await tokensPage(request)))

    app.post(PATH, { config }, async (request, reply) => {
      const form = parseForm(TokenForm, request.body)
      return submitForm(reply, await tokensPage(request, form), async () => {
        const { name, token, expiresAt } = await accounts.createToken(actorOf(request), parseInput(Wish, form))
        // No redirect: it is shown in this answer and nowhere else.
        const made = { name, token, expires: shownTime(expiresAt) }
        return reply.page('accounts/access-token', { ...accountFrame('tokens'), section: 'account', made })
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
